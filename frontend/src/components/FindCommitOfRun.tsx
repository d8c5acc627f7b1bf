// Between two commits of a library that a run compared, the one that did it can be searched for.
import { useQuery } from "@tanstack/react-query";
import { runOptions } from "@/api/generated/@tanstack/react-query.gen";
import { questionsOf } from "./bisection-model";
import { FindCommit } from "./FindCommit";

export function FindCommitOfRun({ runId }: { runId: string | undefined }) {
  const run = useQuery({
    ...runOptions({ path: { run_id: runId ?? "" } }),
    enabled: runId !== undefined,
  }).data;
  if (!run) return null;
  return questionsOf(run).map((question) => (
    <FindCommit
      key={`${question.repository} ${question.good} ${question.bad}`}
      question={question}
      specText={run.spec_text}
      pools={run.summary.pools}
    />
  ));
}
