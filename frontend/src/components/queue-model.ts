// The queue in words: when a run will start, and why.
import type { QueueEntry } from "@/api/generated";
import { dateTime, duration } from "@/format";

const TRIGGERS: Record<QueueEntry["trigger"], string> = {
  "pull-request": "Triggered by a pull request",
  commit: "Triggered by a commit",
  library: "Triggered by a new library version",
  api: "Requested by a command or the API",
  bisection: "Part of a bisection",
  confirmation: "Confirmation run",
  explanation: "Explanation of an alert",
  schedule: "Scheduled",
  backfill: "Part of a backfill",
};

export function triggerText(trigger: QueueEntry["trigger"]): string {
  return TRIGGERS[trigger];
}

/** "about 3 min left", "next", "starts in about 12 min"; on a cluster without a start time. */
export function timingOf({ state, left_s, wait_s }: QueueEntry): string {
  if (state === "building") return `building kits, takes about ${duration(left_s)}`;
  if (state === "cancelling") return "stopping";
  if (state !== "queued") return `about ${duration(left_s)} left`;
  const takes = `takes about ${duration(left_s)}`;
  if (wait_s === null) return `waiting, ${takes}`;
  return wait_s > 0 ? `starts in about ${duration(wait_s)}, ${takes}` : `next, ${takes}`;
}

/** Why a run is at its position: its trigger, and when its spec was last measured. */
export function positionReason({ trigger, state, spec_begun_at }: QueueEntry): string {
  if (state !== "queued") return triggerText(trigger);
  return spec_begun_at === null
    ? `${triggerText(trigger)}; this spec was not measured before`
    : `${triggerText(trigger)}; this spec was last measured ${dateTime(spec_begun_at)}`;
}
