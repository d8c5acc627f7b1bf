// The queue in words: when a run has its turn, and why then.
import type { QueueEntry } from "@/api/generated";
import { dateTime, duration } from "@/format";

const ASKED_BY: Record<QueueEntry["trigger"], string> = {
  "pull-request": "A pull request",
  commit: "A commit",
  library: "A commit that brought a new version",
  api: "Somebody asked for it",
  "command-line": "A command measures it",
  bisection: "A bisection",
  confirmation: "A suspicion is to be confirmed",
  schedule: "A schedule",
  backfill: "A backfill",
};

/** "about 3 min left", "next", "in about 12 min"; on a cluster only that it waits. */
export function turnOf({ state, left_s, wait_s }: QueueEntry): string {
  if (state === "building") return `being prepared, takes about ${duration(left_s)}`;
  if (state === "cancelling") return "ending";
  if (state !== "queued") return `about ${duration(left_s)} left`;
  const takes = `takes about ${duration(left_s)}`;
  if (wait_s === null) return takes;
  return wait_s > 0 ? `begins in about ${duration(wait_s)}, ${takes}` : `next, ${takes}`;
}

/** Why a run stands where it does: who asked, and of those that wait when its spec had its last turn. */
export function whyOf({ trigger, state, spec_begun_at }: QueueEntry): string {
  const asked = ASKED_BY[trigger];
  if (state !== "queued") return asked;
  return spec_begun_at === null
    ? `${asked}; its spec was never measured`
    : `${asked}; its spec was measured last ${dateTime(spec_begun_at)}`;
}
