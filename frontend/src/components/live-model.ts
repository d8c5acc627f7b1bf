// How far a run is, in words and as a share. Pure.
import type { JobState, RunProgressView, RunUnderWay } from "@/api/generated";
import { count, duration } from "@/format";

type Timed = Pick<
  RunProgressView | RunUnderWay,
  "state" | "state_at" | "expected_end_at" | "invocations_planned" | "invocations_stored"
>;

const JOB_STATES: JobState[] = ["measuring", "waiting", "incomplete", "done"];

/** By what is stored. A single machine stores a job only when it is done; until then by the time, as far as it was
 * estimated. */
export function shareOf(run: Timed, now: number): number {
  const stored = run.invocations_stored / run.invocations_planned;
  if (!run.expected_end_at) return stored;
  const began = Date.parse(run.state_at);
  const elapsed = (now - began) / (Date.parse(run.expected_end_at) - began);
  return elapsed < 1 ? Math.max(stored, elapsed, 0) : stored;
}

/** "25 of 50 invocations measured", or stored where it is not known what is measured. */
export function doneText(run: RunProgressView | RunUnderWay): string {
  const planned = count(run.invocations_planned, "invocation");
  if ("invocations_measured" in run) return `${run.invocations_measured} of ${planned} measured`;
  return `${run.invocations_stored} of ${planned} stored`;
}

/** "about 3 min left", or nothing while there is no estimate. */
export function leftText({ expected_end_at }: Timed, now: number): string {
  if (!expected_end_at) return "";
  const left = (Date.parse(expected_end_at) - now) / 1000;
  return left >= 1 ? `about ${duration(left)} left` : "takes longer than estimated";
}

/** "1 job measuring, 3 waiting, 2 done" */
export function jobsText(states: RunProgressView["job_states"]): string {
  return JOB_STATES.filter((state) => states[state])
    .map((state, place) => `${place === 0 ? count(states[state] ?? 0, "job") : states[state]} ${state}`)
    .join(", ");
}
