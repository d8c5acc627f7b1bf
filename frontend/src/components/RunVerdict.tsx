// The verdict of a finished run, in one sentence, and the functions that increases are in where they were counted.
import { useQuery } from "@tanstack/react-query";
import { verdictOptions } from "@/api/generated/@tanstack/react-query.gen";
import { Culprits } from "./Culprits";

export function RunVerdict({ runId }: { runId: string }) {
  const verdict = useQuery(verdictOptions({ path: { run_id: runId } })).data;
  if (!verdict) return null;
  return (
    <>
      <p className={verdict.more > 0 ? "said bad" : "said"}>{verdict.sentence}</p>
      <Culprits culprits={verdict.culprits} />
    </>
  );
}
