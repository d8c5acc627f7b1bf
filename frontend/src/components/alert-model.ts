// Alerts in words: subject, status, history and possible actions. Pure.
import type {
  Alert,
  AlertCell,
  AlertChange,
  AlertDetail,
  AlertEvent,
  AlertSummary,
  Cause,
  Metric,
  NotificationView,
  ScreenedUpgrade,
} from "@/api/generated";
import { costs, count, dateTime, day, metricWords, moveText } from "@/format";
import { type AlertsSearch, STATUSES } from "@/search";
import type { Choice } from "@/ui/Fields";
import { libraryTitle } from "./libraries";

export type Status = AlertSummary["status"];
export type Action = AlertDetail["actions"][number];

/** Alerts with these statuses need attention. */
const ACTIVE: Status[] = ["open", "acknowledged", "confirmed"];

export function statusText(status: Status): string {
  return status === "wrong" ? "false positive" : status;
}

/** A status has the colour of the run state that is closest to it. */
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

/** "OpenSSL 3.0.19 → 3.5.4", the same with "more server bytes" where it is not CPU time, "No new results for nightly" */
export function subjectOf({ cause, spec_names }: { cause: Cause; spec_names: string[] }): string {
  if (cause.kind === "stale") return `No new results for ${spec_names.join(", ")}`;
  const metric = metricOf(cause);
  const versions = `${libraryTitle(cause.library ?? "")} ${cause.before} → ${cause.after}`;
  return metric === CPU_TIME ? versions : `${versions}: more ${metricWords(metric)}`;
}

export const CPU_TIME: Metric = "cpu_ns";

/** What became more; CPU time in alerts of earlier releases. */
export function metricOf({ metric }: Cause): Metric {
  return metric ?? CPU_TIME;
}

/** Both ends of an upgrade in its page's address: subjects, because several subjects may have the same version. */
export function endsOf({ cause, subjects }: Pick<Alert, "cause" | "subjects">): [string, string] {
  return subjects ?? [cause.before, cause.after];
}

/** The side whose CPU time changed; "both" also if the sides cannot be separated. */
export function sideText(side: AlertCell["side"]): string {
  return side === "both" ? "client and server together" : `${side} side`;
}

/** The statuses to request from the API. */
export function statusesOf(status: AlertsSearch["status"]): Status[] | undefined {
  if (status === "all") return undefined;
  return status ? [status] : ACTIVE;
}

type Counts = { [status in Status]?: number };

/** Each choice with its number of alerts. */
export function statusChoices(counts: Counts): Choice<Status | "all" | "">[] {
  const sum = (statuses: readonly Status[]) =>
    statuses.reduce((total, status) => total + (counts[status] ?? 0), 0);
  return [
    { value: "", label: `active (${sum(ACTIVE)})` },
    ...STATUSES.map((value) => ({ value, label: `${statusText(value)} (${sum([value])})` })),
    { value: "all", label: `all (${sum(STATUSES)})` },
  ];
}

export interface Group {
  title: string;
  alerts: AlertSummary[];
}

/** By library, stale specs last. In a group, open alerts first; within a status, the newest first. */
export function groupsOf(alerts: readonly AlertSummary[]): Group[] {
  const titles = [...new Set(alerts.map(groupTitle))].sort(
    (a, b) => Number(a === STALE) - Number(b === STALE),
  );
  const rank = ({ status }: AlertSummary) => STATUSES.indexOf(status);
  return titles.map((title) => ({
    title,
    alerts: alerts
      .filter((alert) => groupTitle(alert) === title)
      .sort((a, b) => rank(a) - rank(b) || b.raised_at.localeCompare(a.raised_at)),
  }));
}

const STALE = "Stale specs";

function groupTitle({ cause }: AlertSummary): string {
  return cause.kind === "stale" ? STALE : libraryTitle(cause.library ?? "");
}

type Largest = Pick<AlertSummary, "cause" | "most" | "before" | "after" | "cells">;

/** "up to +8.4% [+8.0%, +8.8%]" of CPU time, "1,482 → 2,663 B (+79.7%)" of other metrics */
export function mostOf({ cause, most, before, after, cells }: Largest): string {
  const size = sizeOf(metricOf(cause), { move: most, before, after });
  return size && cells > 1 ? `up to ${size}` : size;
}

/** A change, with both values where it is not CPU time, of which people read the share. */
export function sizeOf(
  metric: Metric,
  { move, before, after }: Pick<AlertCell, "move" | "before" | "after">,
): string {
  const change = move ? moveText(move) : "";
  if (metric === CPU_TIME || typeof before !== "number" || typeof after !== "number") return change;
  return `${costs(before, after, metric)}${change && ` (${change})`}`;
}

/** "due 1 Dec 2026", "overdue since 1 Dec 2026"; `today` as a date such as 2026-12-01. */
export function dueText(due: string | null, today: string): string {
  if (due === null) return "";
  return due < today ? `overdue since ${day(due)}` : `due ${day(due)}`;
}

/** Assignee, due date and outcome. */
export function termsOf(
  alert: Pick<AlertSummary, "assignee" | "due" | "ignored_until" | "status" | "fixed_in">,
  today: string,
): string[] {
  const { assignee, due, ignored_until, status, fixed_in } = alert;
  const isSettled = !ACTIVE.includes(status);
  return [
    assignee ? `assigned to ${assignee}` : isSettled ? "" : "unassigned",
    isSettled ? "" : dueText(due, today),
    status === "ignored"
      ? ignored_until
        ? `ignored until ${dateTime(ignored_until)}`
        : "ignored permanently"
      : "",
    fixed_in ? `fixed in ${fixed_in}` : "",
  ].filter(Boolean);
}

/** What an event did, after the author's name: "ignored it until 1 Dec 2026, 00:00". */
export function deedOf({ action, fixed_in, until, assignee, due }: AlertEvent): string {
  switch (action) {
    case "grew":
      return "added new findings";
    case "explained":
      return "counted it function by function";
    case "fixed":
      return fixed_in ? `reported it fixed in ${fixed_in}` : "reported it fixed";
    case "ignored":
      return until ? `ignored it until ${dateTime(until)}` : "ignored it permanently";
    case "wrong":
      return "marked it as a false positive";
    case "assigned":
      return assignee ? `assigned it to ${assignee}` : "unassigned it";
    case "noted":
      return "added a note";
    case "due":
      return due ? `set the due date to ${day(due)}` : "removed the due date";
    default:
      return `${action} it`;
  }
}

/** The text of the button and the title of its dialog. */
export function actionTitle(action: Action): string {
  switch (action) {
    case "acknowledged":
      return "Acknowledge";
    case "confirmed":
      return "Confirm";
    case "ignored":
      return "Ignore";
    case "wrong":
      return "Mark as false positive";
    case "reopened":
      return "Reopen";
    case "assigned":
      return "Assign";
    case "noted":
      return "Add note";
    case "due":
      return "Set due date";
  }
}

/** The explanation in an action's dialog. */
export function actionMeaning(action: Action): string {
  switch (action) {
    case "acknowledged":
      return "Somebody has seen the alert and is looking into it.";
    case "confirmed":
      return "This is a regression, and it should be fixed.";
    case "ignored":
      return "Nothing will be done about this alert, permanently or until a date.";
    case "wrong":
      return "This is not a regression. Your reason helps to find the cause of the false alarm.";
    case "reopened":
      return "The alert needs attention again.";
    case "assigned":
      return "Who takes care of this alert. Leave empty to unassign it.";
    case "noted":
      return "Everybody who reads this alert sees the note.";
    case "due":
      return "When this alert should be settled. Leave empty to remove the date.";
  }
}

export function needsNote(action: Action): boolean {
  return action === "ignored" || action === "wrong" || action === "noted";
}

/** The request that a filled-in form makes. */
export function changeOf(action: Action, form: FormData, saw: number): AlertChange {
  const text = (name: string) => {
    const value = form.get(name);
    return typeof value === "string" ? value.trim() : "";
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

/** "looks slower", "looks like more server CPU time" */
export function looksText(metrics: readonly Metric[]): string {
  if (metrics.every((metric) => metric === CPU_TIME)) return "looks slower";
  return `looks like more ${metrics.map(metricWords).join(" and ")}`;
}

type Outcome = ScreenedUpgrade["outcome"];

/** An outcome has the colour of the run state that is closest to it. */
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

/** "2 of 12 comparisons look slower, 1 looks faster, 3 are unresolved" */
export function screenedText({ metric, compared, more, less, unresolved }: ScreenedUpgrade): string {
  const isTime = metric === undefined || metric === CPU_TIME;
  const verb = (amount: number) =>
    isTime ? (amount === 1 ? "looks" : "look") : amount === 1 ? "has" : "have";
  const [up, down] = isTime ? ["slower", "faster"] : [`more ${metricWords(metric)}`, "less"];
  const total = count(compared, "comparison");
  const parts = [
    more === 0 ? `none of ${total} ${verb(1)} ${up}` : `${more} of ${total} ${verb(more)} ${up}`,
    less > 0 ? `${less} ${verb(less)} ${down}` : "",
    unresolved > 0 ? `${unresolved} ${unresolved === 1 ? "is" : "are"} unresolved` : "",
  ];
  return parts.filter(Boolean).join(", ");
}

/** The label of a screening's outcome. */
export function outcomeLabel(outcome: Outcome): string {
  return outcome === "quiet" ? "no suspicion" : outcome;
}

export function outcomeText(outcome: Outcome): string {
  switch (outcome) {
    case "quiet":
      return "nothing to confirm";
    case "confirming":
      return "a confirmation run measures it with more invocations";
    case "confirmed":
      return "the regression is confirmed";
    case "not confirmed":
      return "the confirmation run did not find the regression";
    case "cannot confirm":
      return "the regression could not be confirmed or rejected";
  }
}

export function deliveryText(state: NotificationView["state"]): string {
  return state === "given up" ? "not delivered" : state;
}

export function deliveryChip(state: NotificationView["state"]): string {
  switch (state) {
    case "sent":
      return "finished";
    case "waiting":
      return "queued";
    case "given up":
      return "failed";
  }
}
