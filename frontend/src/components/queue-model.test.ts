import { it } from "vitest";
import type { QueueEntry } from "@/api/generated";
import { dateTime } from "@/format";
import { expectGolden } from "@/testing/golden";
import { positionReason, timingOf, triggerText } from "./queue-model";

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
    invocations_measured: 0,
    left_s: 240,
    wait_s: 0,
    superseded_by: null,
    ...changes,
  };
}

const TRIGGERS = [
  "pull-request",
  "commit",
  "library",
  "api",
  "bisection",
  "confirmation",
  "explanation",
  "schedule",
  "backfill",
] as const;

it("the queue in words", async () => {
  const begun = "2026-01-01T10:00:00Z";
  await expectGolden("queue-model", {
    triggers: TRIGGERS.map(triggerText),
    "timing: next": timingOf(anEntry()),
    "timing: starts in seconds": timingOf(anEntry({ wait_s: 45 })),
    "timing: starts in hours": timingOf(anEntry({ wait_s: 7260, left_s: 10_800 })),
    "timing: queued on a cluster, where runs may be measured side by side": timingOf(
      anEntry({ wait_s: null }),
    ),
    "timing: running": timingOf(anEntry({ state: "running", wait_s: null })),
    "timing: building": timingOf(anEntry({ state: "building", wait_s: null })),
    "timing: cancelling": timingOf(anEntry({ state: "cancelling", wait_s: null })),
    "reason: new spec": positionReason(anEntry()),
    "reason: known spec": positionReason(anEntry({ trigger: "commit", spec_begun_at: begun })).replace(
      dateTime(begun),
      "DATE",
    ),
    "reason: running": positionReason(anEntry({ trigger: "schedule", state: "running" })),
  });
});
