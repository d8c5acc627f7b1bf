// What a run that has ended says, in one sentence.
import { useQuery } from "@tanstack/react-query";
import { verdictOptions } from "@/api/generated/@tanstack/react-query.gen";

export function RunVerdict({ runId }: { runId: string }) {
  const verdict = useQuery(verdictOptions({ path: { run_id: runId } })).data;
  if (!verdict) return null;
  return <p className={verdict.more > 0 ? "said bad" : "said"}>{verdict.sentence}</p>;
}
