// How far a run is, in words and as a share. Pure.
import type { JobState, RunProgressView, RunUnderWay } from "@/api/generated";
import { count, duration } from "@/format";

type UnderWay = RunProgressView | RunUnderWay;

const JOB_STATES: JobState[] = ["measuring", "waiting", "incomplete", "done"];

/** "25 of 50 invocations measured" */
export function doneText(run: Pick<UnderWay, "invocations_measured" | "invocations_planned">): string {
  return `${run.invocations_measured} of ${count(run.invocations_planned, "invocation")} measured`;
}

/** "about 3 min left", or nothing while there is no estimate. */
export function leftText({ expected_end_at }: Pick<UnderWay, "expected_end_at">, now: number): string {
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
