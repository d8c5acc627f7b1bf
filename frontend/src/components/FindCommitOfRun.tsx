// If a run compared two commits of a library, a bisection can find the commit that changed the cost.
import { useQuery } from "@tanstack/react-query";
import type { RunDetail } from "@/api/generated";
import { runOptions, upgradeReportOptions } from "@/api/generated/@tanstack/react-query.gen";
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
  const { library, before, after } = pair;
  const report = useQuery(upgradeReportOptions({ query: { library, before, after } })).data;
  const question = report && questionOf(pair, report, run.cases);
  return question && <FindCommit question={question} specText={run.spec_text} pools={run.summary.pools} />;
}
