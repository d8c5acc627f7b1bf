import { describe, expect, it } from "vitest";
import type { AlertEvent } from "@/api/generated";
import { anAlert } from "@/testing/build";
import { expectGolden } from "@/testing/golden";
import {
  actionMeaning,
  actionTitle,
  changeOf,
  deedOf,
  deliveryText,
  endsOf,
  groupsOf,
  looksText,
  mostOf,
  outcomeLabel,
  outcomeText,
  screenedText,
  sideText,
  statusChoices,
  statusesOf,
  subjectOf,
  termsOf,
} from "./alert-model";

const TODAY = "2026-02-01";
const stale = anAlert({
  cause: { kind: "stale", library: null, before: "", after: "no node" },
  spec_names: ["nightly", "weekly"],
  most: null,
});

const bytes = anAlert({
  cause: { ...anAlert().cause, metric: "server_bytes" },
  most: { ratio: 1.797, low: 1.797, high: 1.797 },
  before: 1482,
  after: 2663,
});
const roundTrips = anAlert({ cause: { ...anAlert().cause, metric: "round_trips" } });

function did(event: Partial<AlertEvent>): string {
  return deedOf({
    alert_id: "a",
    number: 1,
    at: "2026-01-01T00:00:00Z",
    author: "alice",
    action: "noted",
    ...event,
  });
}

const ACTIONS = [
  "acknowledged",
  "confirmed",
  "ignored",
  "wrong",
  "reopened",
  "assigned",
  "noted",
  "due",
] as const;
const OUTCOMES = ["quiet", "confirming", "confirmed", "not confirmed", "cannot confirm"] as const;
const assigned = { assignee: "alice", due: "2026-02-01" };
const screened = { compared: 12, more: 2, less: 1, unresolved: 3 } as Parameters<typeof screenedText>[0];

it("alerts in words", async () => {
  await expectGolden("alert-model", {
    "subject: an upgrade": subjectOf(anAlert()),
    "subject: stale specs": subjectOf(stale),
    "size: one comparison": mostOf(anAlert()),
    "size: several comparisons": mostOf(anAlert({ cells: 2 })),
    "subject: server bytes": subjectOf(bytes),
    "size: server bytes": mostOf(bytes),
    "size: round trips where there were none": mostOf({ ...roundTrips, most: null, before: 0, after: 1 }),
    looks: [looksText(["cpu_ns"]), looksText(["cpu_ns", "handshake_p99_ns"])],
    statuses: statusChoices({ open: 2, confirmed: 1, wrong: 4 }).map(({ label }) => label),
    sides: (["both", "client", "server"] as const).map(sideText),
    "terms: new": termsOf(anAlert(), TODAY),
    "terms: assigned, due today": termsOf(anAlert(assigned), TODAY),
    "terms: overdue": termsOf(anAlert(assigned), "2026-02-02"),
    "terms: fixed": termsOf(anAlert({ ...assigned, status: "fixed", fixed_in: "3.5.5" }), "2026-02-02"),
    "terms: ignored permanently": termsOf(anAlert({ status: "ignored" }), TODAY),
    "terms: ignored for a time": termsOf(
      anAlert({ status: "ignored", ignored_until: "2026-03-01T00:00:00" }),
      TODAY,
    ),
    "events (after the author’s name)": [
      did({ action: "raised" }),
      did({ action: "grew" }),
      did({ action: "acknowledged" }),
      did({ action: "confirmed" }),
      did({ action: "ignored" }),
      did({ action: "ignored", until: "2026-03-01T00:00:00" }),
      did({ action: "wrong" }),
      did({ action: "reopened" }),
      did({ action: "noted" }),
      did({ action: "assigned", assignee: "bob" }),
      did({ action: "assigned", assignee: "" }),
      did({ action: "due", due: "2026-02-01" }),
      did({ action: "due", due: null }),
      did({ action: "fixed" }),
      did({ action: "fixed", fixed_in: "3.5.5" }),
    ],
    "buttons and dialogs": ACTIONS.map((action) => `${actionTitle(action)}: ${actionMeaning(action)}`),
    "screening: suspicions": screenedText(screened),
    "screening: server bytes": screenedText({ ...screened, metric: "server_bytes" }),
    "screening: one of each": screenedText({ ...screened, more: 1, less: 1, unresolved: 1 }),
    "screening: several of each": screenedText({ ...screened, more: 3, less: 2 }),
    "screening: no suspicion": screenedText({ ...screened, more: 0, less: 0, unresolved: 0 }),
    "screening: outcomes": OUTCOMES.map((outcome) => `${outcomeLabel(outcome)}: ${outcomeText(outcome)}`),
    "notification states": (["waiting", "sent", "given up"] as const).map(deliveryText),
    groups: groupsOf([stale, anAlert()]).map(({ title }) => title),
  });
});

describe("alerts", () => {
  it("have no size if nothing was measured", () => {
    expect(mostOf(stale)).toBe("");
  });

  it("lead to an upgrade by its subjects, those of earlier releases by their versions", () => {
    const cause = { ...anAlert().cause, before: "3.0.19", after: "3.0.19 (debian/bookworm)" };
    const subjects: [string, string] = ["openssl@3.0.19~system~1f3c", "openssl@3.0.19~debian/bookworm~9a0b"];
    expect(endsOf({ cause, subjects })).toEqual(subjects);
    expect(endsOf({ cause, subjects: null })).toEqual([cause.before, cause.after]);
  });
});

describe("the list of alerts", () => {
  it("requests active alerts unless the address says otherwise", () => {
    expect(statusesOf(undefined)).toEqual(["open", "acknowledged", "confirmed"]);
    expect(statusesOf("fixed")).toEqual(["fixed"]);
    expect(statusesOf("all")).toBeUndefined();
  });

  it("has open ones first, what is stale last, and of a status the newest first", () => {
    const alerts = [
      stale,
      anAlert({ alert_id: "seen", status: "acknowledged", raised_at: "2026-01-09T00:00:00Z" }),
      anAlert({ alert_id: "older" }),
      anAlert({ alert_id: "newer", raised_at: "2026-01-02T00:00:00Z" }),
    ];
    const ids = groupsOf(alerts).map((group) => group.alerts.map((alert) => alert.alert_id));
    expect(ids).toEqual([["newer", "older", "seen"], ["a"]]);
  });
});

describe("what a form asks for", () => {
  const form = (fields: Record<string, string>) => {
    const data = new FormData();
    for (const [name, value] of Object.entries(fields)) data.set(name, value);
    return data;
  };

  it("has what was seen, and the fields of its action alone", () => {
    expect(changeOf("acknowledged", form({ note: " looking ", token: "secret" }), 3)).toEqual({
      action: "acknowledged",
      saw: 3,
      note: "looking",
    });
    expect(changeOf("ignored", form({ note: "n", until: "2026-02-01" }), 0).until).toBe(
      "2026-02-01T00:00:00Z",
    );
    expect(changeOf("ignored", form({ note: "n", until: "" }), 0).until).toBeNull();
    expect(changeOf("assigned", form({ assignee: " bob " }), 0)).toMatchObject({ assignee: "bob" });
    expect(changeOf("due", form({ due: "" }), 0)).toMatchObject({ due: null });
  });
});
