// Alerts in words: what each is about, where it stands, what was done to it and what may be. Pure.
import type {
  Alert,
  AlertCell,
  AlertChange,
  AlertDetail,
  AlertEvent,
  AlertSummary,
  Cause,
  JudgedUpgrade,
  NotificationView,
} from "@/api/generated";
import { count, dateTime, day, percent, percentInterval } from "@/format";
import { type AlertsSearch, STATUSES } from "@/search";
import type { Choice } from "@/ui/Fields";
import { libraryTitle } from "./libraries";

export type Status = AlertSummary["status"];
export type Action = AlertDetail["actions"][number];

/** Of these somebody has to do something. */
const UNSETTLED: Status[] = ["open", "acknowledged", "confirmed"];

/** The colour of a status is that of the run's state that is most like it. */
export function chipOf(status: Status): string {
  switch (status) {
    case "open":
      return "failed";
    case "acknowledged":
    case "confirmed":
      return "running";
    case "fixed":
      return "finished";
    default:
      return "cancelled";
  }
}

/** "OpenSSL 3.0.19 → 3.5.4", "Nothing new is measured of nightly, weekly" */
export function subjectOf({ cause, spec_names }: { cause: Cause; spec_names: string[] }): string {
  if (cause.kind === "stale") return `Nothing new is measured of ${spec_names.join(", ")}`;
  return `${libraryTitle(cause.library ?? "")} ${cause.before} → ${cause.after}`;
}

/** What the page of an upgrade knows both ends by: their subjects, since others may have the same versions. */
export function endsOf({ cause, subjects }: Pick<Alert, "cause" | "subjects">): [string, string] {
  return subjects ?? [cause.before, cause.after];
}

/** Whose CPU time it is that moved; both sides' too where nothing tells them apart. */
export function sideText(side: AlertCell["side"]): string {
  return side === "both" ? "both sides together" : `on the ${side}’s side`;
}

/** What the API is asked for. */
export function wantedOf(status: AlertsSearch["status"]): Status[] | undefined {
  if (status === "all") return undefined;
  return status ? [status] : UNSETTLED;
}

type Counts = { [status in Status]?: number };

/** With how many there are of each. */
export function statusChoices(counts: Counts): Choice<Status | "all" | "">[] {
  const sum = (statuses: readonly Status[]) => statuses.reduce((all, one) => all + (counts[one] ?? 0), 0);
  return [
    { value: "", label: `needs somebody (${sum(UNSETTLED)})` },
    ...STATUSES.map((value) => ({ value, label: `${value} (${sum([value])})` })),
    { value: "all", label: `all (${sum(STATUSES)})` },
  ];
}

export interface Group {
  title: string;
  alerts: AlertSummary[];
}

/** By library, what is stale last; in each the open ones first, and of a status those that were raised last. */
export function groupsOf(alerts: readonly AlertSummary[]): Group[] {
  const titles = [...new Set(alerts.map(groupTitle))].sort(
    (a, b) => Number(a === STALE) - Number(b === STALE),
  );
  const rank = ({ status }: AlertSummary) => STATUSES.indexOf(status);
  return titles.map((title) => ({
    title,
    alerts: alerts
      .filter((one) => groupTitle(one) === title)
      .sort((a, b) => rank(a) - rank(b) || b.raised_at.localeCompare(a.raised_at)),
  }));
}

const STALE = "No longer measured";

function groupTitle({ cause }: AlertSummary): string {
  return cause.kind === "stale" ? STALE : libraryTitle(cause.library ?? "");
}

/** "up to +8.4% [+8.0%, +8.8%]" */
export function mostOf({ most, cells }: Pick<AlertSummary, "most" | "cells">): string {
  if (!most) return "";
  return `${cells > 1 ? "up to " : ""}${percent(most.ratio)} ${percentInterval(most.low, most.high)}`;
}

/** "due 1 Dec 2026", "overdue since 1 Dec 2026"; `today` as a date such as 2026-12-01. */
export function dueText(due: string | null, today: string): string {
  if (due === null) return "";
  return due < today ? `overdue since ${day(due)}` : `due ${day(due)}`;
}

/** Who has it, until when, and how it ended. */
export function termsOf(
  alert: Pick<AlertSummary, "assignee" | "due" | "ignored_until" | "status" | "fixed_in">,
  today: string,
): string[] {
  const { assignee, due, ignored_until, status, fixed_in } = alert;
  const isSettled = !UNSETTLED.includes(status);
  return [
    assignee ? `assigned to ${assignee}` : isSettled ? "" : "assigned to nobody",
    isSettled ? "" : dueText(due, today),
    status === "ignored" ? (ignored_until ? `until ${dateTime(ignored_until)}` : "for good") : "",
    fixed_in ? `fixed in ${fixed_in}` : "",
  ].filter(Boolean);
}

/** What an event did, without who and when: "ignored until 1 Dec 2026, 00:00". */
export function deedOf({ action, fixed_in, until, assignee, due }: AlertEvent): string {
  switch (action) {
    case "grew":
      return "found more of it";
    case "fixed":
      return fixed_in ? `found it fixed in ${fixed_in}` : "found it fixed";
    case "ignored":
      return until ? `ignored it until ${dateTime(until)}` : "ignored it for good";
    case "wrong":
      return "called it wrong";
    case "assigned":
      return assignee ? `assigned it to ${assignee}` : "assigned it to nobody";
    case "noted":
      return "noted";
    case "due":
      return due ? `set it due ${day(due)}` : "took its due date away";
    default:
      return `${action} it`;
  }
}

/** On the button, and the dialog's title. */
export function actionTitle(action: Action): string {
  switch (action) {
    case "acknowledged":
      return "Acknowledge";
    case "confirmed":
      return "Confirm";
    case "ignored":
      return "Ignore";
    case "wrong":
      return "Call it wrong";
    case "reopened":
      return "Reopen";
    case "assigned":
      return "Assign";
    case "noted":
      return "Add a note";
    case "due":
      return "Set a due date";
  }
}

/** What it means, for somebody who does it for the first time. */
export function actionMeaning(action: Action): string {
  switch (action) {
    case "acknowledged":
      return "Somebody has seen it and looks into it.";
    case "confirmed":
      return "It is a regression, and is to be mended.";
    case "ignored":
      return "Nobody has to do anything, until the day that is given, or for good.";
    case "wrong":
      return "It is no regression: kexbench was mistaken. The reason helps to find out why.";
    case "reopened":
      return "Somebody has to do something after all.";
    case "assigned":
      return "Who is to look after it. Empty for nobody.";
    case "noted":
      return "For whoever reads this after you.";
    case "due":
      return "By when it is to be settled. Empty for no day.";
  }
}

export function needsNote(action: Action): boolean {
  return action === "ignored" || action === "wrong" || action === "noted";
}

/** What a filled-in form asks for. */
export function changeOf(action: Action, form: FormData, saw: number): AlertChange {
  const text = (name: string) => {
    const found = form.get(name);
    return typeof found === "string" ? found.trim() : "";
  };
  const until = text("until");
  return {
    action,
    saw,
    note: text("note"),
    ...(action === "ignored" ? { until: until ? `${until}T00:00:00Z` : null } : {}),
    ...(action === "assigned" ? { assignee: text("assignee") } : {}),
    ...(action === "due" ? { due: text("due") || null } : {}),
  };
}

type Outcome = JudgedUpgrade["outcome"];

/** Its colour is that of the run's state that is most like it. */
export function outcomeChip(outcome: Outcome): string {
  switch (outcome) {
    case "confirmed":
      return "failed";
    case "confirming":
      return "running";
    case "cannot confirm":
      return "building";
    default:
      return "cancelled";
  }
}

/** "of 12 comparisons none looked slower", "of 12 comparisons 2 looked slower, 1 faster, 3 can’t be resolved" */
export function judgedText({ compared, more, less, unresolved }: JudgedUpgrade): string {
  const parts = [
    `${more === 0 ? "none" : more} looked slower`,
    less > 0 ? `${less} faster` : "",
    unresolved > 0 ? `${unresolved} can’t be resolved` : "",
  ];
  return `of ${count(compared, "comparison")} ${parts.filter(Boolean).join(", ")}`;
}

export function outcomeText(outcome: Outcome): string {
  switch (outcome) {
    case "quiet":
      return "nothing to confirm";
    case "confirming":
      return "measured again, with more invocations";
    case "confirmed":
      return "a run of its own confirmed it";
    case "not confirmed":
      return "a run of its own did not find it again";
    case "cannot confirm":
      return "no run could confirm it";
  }
}

export function toldChip(state: NotificationView["state"]): string {
  switch (state) {
    case "sent":
      return "finished";
    case "waiting":
      return "queued";
    case "given up":
      return "failed";
  }
}
