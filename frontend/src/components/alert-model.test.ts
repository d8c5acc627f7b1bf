import { describe, expect, it } from "vitest";
import type { AlertEvent } from "@/api/generated";
import { anAlert } from "@/testing/build";
import {
  changeOf,
  deedOf,
  endsOf,
  groupsOf,
  judgedText,
  mostOf,
  statusChoices,
  subjectOf,
  termsOf,
  wantedOf,
} from "./alert-model";

const TODAY = "2026-02-01";
const stale = anAlert({
  cause: { kind: "stale", library: null, before: "", after: "no node" },
  spec_names: ["nightly", "weekly"],
  most: null,
});

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

describe("alerts in words", () => {
  it("say what each is about", () => {
    expect(subjectOf(anAlert())).toBe("OpenSSL 3.0.19 → 3.5.4");
    expect(subjectOf(stale)).toBe("Nothing new is measured of nightly, weekly");
  });

  it("say how much it is at most", () => {
    expect(mostOf(anAlert())).toBe("+2.0% [+1.0%, +3.0%]");
    expect(mostOf(anAlert({ cells: 2 }))).toBe("up to +2.0% [+1.0%, +3.0%]");
    expect(mostOf(stale)).toBe("");
  });

  it("lead to an upgrade by its subjects, those of earlier releases by their versions", () => {
    const cause = { ...anAlert().cause, before: "3.0.19", after: "3.0.19 (debian/bookworm)" };
    const subjects: [string, string] = ["openssl@3.0.19~system~1f3c", "openssl@3.0.19~debian/bookworm~9a0b"];
    expect(endsOf({ cause, subjects })).toEqual(subjects);
    expect(endsOf({ cause, subjects: null })).toEqual([cause.before, cause.after]);
  });

  it("say who has it and by when, as long as somebody has to do something", () => {
    expect(termsOf(anAlert(), TODAY)).toEqual(["assigned to nobody"]);
    const taken = { assignee: "alice", due: "2026-02-01" };
    expect(termsOf(anAlert(taken), TODAY)).toEqual(["assigned to alice", "due 1 Feb 2026"]);
    expect(termsOf(anAlert(taken), "2026-02-02")).toEqual(["assigned to alice", "overdue since 1 Feb 2026"]);
    expect(termsOf(anAlert({ ...taken, status: "fixed", fixed_in: "3.5.5" }), "2026-02-02")).toEqual([
      "assigned to alice",
      "fixed in 3.5.5",
    ]);
    expect(termsOf(anAlert({ status: "ignored" }), TODAY)).toEqual(["for good"]);
  });

  it("say what somebody did", () => {
    expect(did({ action: "acknowledged" })).toBe("acknowledged it");
    expect(did({ action: "ignored" })).toBe("ignored it for good");
    expect(did({ action: "assigned", assignee: "bob" })).toBe("assigned it to bob");
    expect(did({ action: "assigned", assignee: "" })).toBe("assigned it to nobody");
    expect(did({ action: "due", due: "2026-02-01" })).toBe("set it due 1 Feb 2026");
    expect(did({ action: "due", due: null })).toBe("took its due date away");
    expect(did({ action: "fixed", fixed_in: "3.5.5" })).toBe("found it fixed in 3.5.5");
  });

  it("say what was judged", () => {
    const judged = { compared: 12, more: 2, less: 1, unresolved: 3 } as Parameters<typeof judgedText>[0];
    expect(judgedText(judged)).toBe("of 12 comparisons 2 looked slower, 1 faster, 3 can’t be resolved");
    expect(judgedText({ ...judged, more: 0, less: 0, unresolved: 0 })).toBe(
      "of 12 comparisons none looked slower",
    );
  });
});

describe("the list of alerts", () => {
  it("asks for what needs somebody, unless the address says otherwise", () => {
    expect(wantedOf(undefined)).toEqual(["open", "acknowledged", "confirmed"]);
    expect(wantedOf("fixed")).toEqual(["fixed"]);
    expect(wantedOf("all")).toBeUndefined();
  });

  it("counts what each choice shows", () => {
    const labels = statusChoices({ open: 2, confirmed: 1, wrong: 4 }).map(({ label }) => label);
    expect(labels[0]).toBe("needs somebody (3)");
    expect(labels).toContain("wrong (4)");
    expect(labels.at(-1)).toBe("all (7)");
  });

  it("has open ones first, what is stale last, and of a status the newest first", () => {
    const alerts = [
      stale,
      anAlert({ alert_id: "seen", status: "acknowledged", raised_at: "2026-01-09T00:00:00Z" }),
      anAlert({ alert_id: "older" }),
      anAlert({ alert_id: "newer", raised_at: "2026-01-02T00:00:00Z" }),
    ];
    const groups = groupsOf(alerts).map(({ title, alerts: own }) => [title, own.map((one) => one.alert_id)]);
    expect(groups).toEqual([
      ["OpenSSL", ["newer", "older", "seen"]],
      ["No longer measured", ["a"]],
    ]);
  });
});

describe("what a form asks for", () => {
  const form = (fields: Record<string, string>) => {
    const found = new FormData();
    for (const [name, value] of Object.entries(fields)) found.set(name, value);
    return found;
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
