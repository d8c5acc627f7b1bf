// If a run compared two commits of a library, a bisection can find the commit that changed the cost.
import { useQuery } from "@tanstack/react-query";
import type { RunDetail } from "@/api/generated";
import { compareOptions, runOptions } from "@/api/generated/@tanstack/react-query.gen";
import { type CommitPair, commitPairsOf, questionOf } from "./bisection-model";
import { FindCommit } from "./FindCommit";

export function FindCommitOfRun({ runId }: { runId: string | undefined }) {
  const run = useQuery({
    ...runOptions({ path: { run_id: runId ?? "" } }),
    enabled: runId !== undefined,
  }).data;
  return run ? <FindCommits run={run} /> : null;
}

export function FindCommits({ run }: { run: RunDetail }) {
  return commitPairsOf(run).map((pair) => (
    <FindCommitBetween key={`${pair.before} ${pair.after}`} pair={pair} run={run} />
  ));
}

function FindCommitBetween({ pair, run }: { pair: CommitPair; run: RunDetail }) {
  const { before, after } = pair;
  const comparison = useQuery(compareOptions({ query: { base: before, other: after } })).data;
  const question = comparison && questionOf(pair, comparison, run.cases);
  return question && <FindCommit question={question} specText={run.spec_text} pools={run.summary.pools} />;
}
