// Commits and what became of their specs, in words.
import type { CheckView, Commit, DryRun, RunVerdict } from "@/api/generated";
import { count, duration, share } from "@/format";

const SHORT_HASH = 7;
const SHOWN_SPECS = 12;
const S_PER_MIN = 60;

export function shortHash(commit: Commit): string {
  return commit.commit.slice(0, SHORT_HASH);
}

/** Stands for a watched branch that does not exist. */
export function isNoCommit({ commit }: Commit): boolean {
  return /^0+$/.test(commit);
}

/** "on main of benchmarks by Ada Example" */
export function originInWords({ branch, repository, author }: Commit): string {
  return `on ${branch} of ${repository}${author && ` by ${author}`}`;
}

/** Some commits have no message. */
export function titleOf(commit: Commit): string {
  return commit.title || "(no title)";
}

export function reasonInWords(reason: CheckView["reason"]): string {
  return reason === "spec" ? "the spec changed" : "a tracked library has a new version";
}

/** The state of a spec's run. A run that was just requested has no state yet; a planned or faulty spec has no run. */
export function stateOf(check: CheckView): NonNullable<CheckView["state"]> | "planned" | "not run" {
  if (check.run_id !== null) return check.state ?? "queued";
  return check.dry_run ? "planned" : "not run";
}

/** "18 cases in 4 jobs, about 12 min; 2 runs ahead in the queue, about 25 min; resolution 0.50%" */
export function dryRunInWords(dry: DryRun): string {
  const { cases, jobs, minutes, runs_ahead, minutes_ahead, detects, mixed_pools = [] } = dry;
  const total = Object.values(minutes).reduce((sum, poolMinutes) => sum + poolMinutes, 0);
  const parts = [`${count(cases, "case")} in ${count(jobs, "job")}, about ${inMinutes(total)}`];
  if (runs_ahead > 0) {
    parts.push(`${count(runs_ahead, "run")} ahead in the queue, about ${inMinutes(minutes_ahead)}`);
  }
  if (detects !== null) parts.push(`resolution ${share(detects)}`);
  if (mixed_pools.length > 0) parts.push(`nodes differ in ${mixed_pools.join(", ")}`);
  return parts.join("; ");
}

function inMinutes(minutes: number): string {
  return duration(minutes * S_PER_MIN);
}

/** Splits a commit's specs into shown and folded ones. With many specs, only those with problems are shown. */
export function folding(checks: CheckView[]): { shown: CheckView[]; folded: CheckView[] } {
  if (checks.length <= SHOWN_SPECS) return { shown: checks, folded: [] };
  const troubled = checks.filter((check) => ["not run", "failed", "incomplete"].includes(stateOf(check)));
  const shown = troubled.slice(0, SHOWN_SPECS);
  return { shown, folded: checks.filter((check) => !shown.includes(check)) };
}

/** "1,000 specs: 997 finished, 2 queued, 1 not run", the most frequent first. */
export function tally(checks: CheckView[]): string {
  const times = new Map<string, number>();
  for (const state of checks.map(stateOf)) times.set(state, (times.get(state) ?? 0) + 1);
  const parts = [...times].sort(([, amount], [, otherAmount]) => otherAmount - amount);
  return `${count(checks.length, "spec")}: ${parts.map(([state, n]) => `${n} ${state}`).join(", ")}`;
}

/** Whether something became slower, or nothing was compared. */
export function isBad({ more, compared }: RunVerdict): boolean {
  return more > 0 || compared === 0;
}

/** "Without a result: 8 unsupported, 2 crashed. In 2 comparisons, only the newer version failed." Empty if all have one. */
export function missingText({ missing = {}, lost = 0 }: RunVerdict): string {
  const parts = Object.entries(missing).map(
    ([reason, comparisons]) => `${comparisons.toLocaleString("en-US")} ${reason}`,
  );
  if (parts.length === 0) return "";
  const onlyNewer = lost > 0 ? ` In ${count(lost, "comparison")}, only the newer version failed.` : "";
  return `Without a result: ${parts.join(", ")}.${onlyNewer}`;
}
