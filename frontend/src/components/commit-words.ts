// Commits and what became of their specs, in words.
import type { CheckView, Commit, DryRun } from "@/api/generated";
import { count, duration, share } from "@/format";

const SHORT_HASH = 7;
const SHOWN_SPECS = 12;
const S_PER_MIN = 60;

export function shortHash(commit: Commit): string {
  return commit.commit.slice(0, SHORT_HASH);
}

/** "on main of benchmarks by Ada Example" */
export function originInWords({ branch, repository, author }: Commit): string {
  return `on ${branch} of ${repository}${author && ` by ${author}`}`;
}

/** Some commits have no message. */
export function titleOf(commit: Commit): string {
  return commit.title || "(without a title)";
}

export function reasonInWords(reason: CheckView["reason"]): string {
  return reason === "spec" ? "the spec changed" : "new version of a library it tracks";
}

/** State of a spec's run; one that was only just asked for has none yet, one that is planned or at fault has no run. */
export function stateOf(check: CheckView): NonNullable<CheckView["state"]> | "planned" | "not run" {
  if (check.run_id !== null) return check.state ?? "queued";
  return check.dry_run ? "planned" : "not run";
}

/** "would be 18 cases in 4 jobs, about 12 min; before it 2 runs, about 25 min; detects 0.50%" */
export function dryRunInWords(dry: DryRun): string {
  const { cases, jobs, minutes, runs_ahead, minutes_ahead, detects, mixed_pools = [] } = dry;
  const inAll = Object.values(minutes).reduce((sum, one) => sum + one, 0);
  const parts = [`would be ${count(cases, "case")} in ${count(jobs, "job")}, about ${inMinutes(inAll)}`];
  if (runs_ahead > 0) parts.push(`before it ${count(runs_ahead, "run")}, about ${inMinutes(minutes_ahead)}`);
  if (detects !== null) parts.push(`detects ${share(detects)}`);
  if (mixed_pools.length > 0) parts.push(`unlike nodes in ${mixed_pools.join(", ")}`);
  return parts.join("; ");
}

function inMinutes(minutes: number): string {
  return duration(minutes * S_PER_MIN);
}

/** What is shown of a commit's specs, and what is folded up where there are many: of those the troubled ones are shown. */
export function folding(checks: CheckView[]): { shown: CheckView[]; folded: CheckView[] } {
  if (checks.length <= SHOWN_SPECS) return { shown: checks, folded: [] };
  const troubled = checks.filter((check) => ["not run", "failed"].includes(stateOf(check)));
  const shown = troubled.slice(0, SHOWN_SPECS);
  return { shown, folded: checks.filter((check) => !shown.includes(check)) };
}

/** "1,000 specs: 997 finished, 2 queued, 1 not run", the most frequent first. */
export function tally(checks: CheckView[]): string {
  const times = new Map<string, number>();
  for (const state of checks.map(stateOf)) times.set(state, (times.get(state) ?? 0) + 1);
  const parts = [...times].sort(([, one], [, other]) => other - one);
  return `${count(checks.length, "spec")}: ${parts.map(([state, n]) => `${n} ${state}`).join(", ")}`;
}
