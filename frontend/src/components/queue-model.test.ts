import { expect, it } from "vitest";
import type { QueueEntry } from "@/api/generated";
import { dateTime } from "@/format";
import { turnOf, whyOf } from "./queue-model";

function anEntry(changes: Partial<QueueEntry> = {}): QueueEntry {
  return {
    run_id: "run",
    spec_name: "nightly",
    trigger: "api",
    priority: 3,
    state: "queued",
    detail: "",
    queued_at: "2026-01-01T00:00:00Z",
    spec_begun_at: null,
    pools: ["local"],
    invocations_planned: 12,
    invocations_stored: 0,
    left_s: 240,
    wait_s: 0,
    superseded_by: null,
    ...changes,
  };
}

it("says when a run that waits has its turn and how long it takes", () => {
  expect(turnOf(anEntry())).toBe("next, takes about 4 min");
  expect(turnOf(anEntry({ wait_s: 45 }))).toBe("begins in about 45 s, takes about 4 min");
  expect(turnOf(anEntry({ wait_s: 7260, left_s: 10_800 }))).toBe("begins in about 2 h, takes about 3 h");
});

it("promises no time on a cluster, where runs may be measured side by side", () => {
  expect(turnOf(anEntry({ wait_s: null }))).toBe("takes about 4 min");
});

it("says what is done about a run that was begun", () => {
  expect(turnOf(anEntry({ state: "running", wait_s: null }))).toBe("about 4 min left");
  expect(turnOf(anEntry({ state: "building", wait_s: null }))).toBe("being prepared, takes about 4 min");
  expect(turnOf(anEntry({ state: "cancelling", wait_s: null }))).toBe("ending");
});

it("says who asked, and of a run that waits when its spec had its last turn", () => {
  const begun = "2026-01-01T10:00:00Z";
  expect(whyOf(anEntry())).toBe("Somebody asked for it; its spec was never measured");
  expect(whyOf(anEntry({ trigger: "commit", spec_begun_at: begun }))).toBe(
    `A commit; its spec was measured last ${dateTime(begun)}`,
  );
  expect(whyOf(anEntry({ trigger: "schedule", state: "running" }))).toBe("A schedule");
});
