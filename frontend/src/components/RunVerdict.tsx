// The verdict of a run that ended, in one sentence, with what has no result, and the functions that increases are in
// where they were counted.
import { useQuery } from "@tanstack/react-query";
import { verdictOptions } from "@/api/generated/@tanstack/react-query.gen";
import { Culprits } from "./Culprits";
import { isBad, missingText } from "./commit-words";

export function RunVerdict({ runId }: { runId: string }) {
  const verdict = useQuery(verdictOptions({ path: { run_id: runId } })).data;
  if (!verdict) return null;
  return (
    <>
      <p className={isBad(verdict) ? "said bad" : "said"}>{verdict.sentence}</p>
      {missingText(verdict) && <p>{missingText(verdict)}</p>}
      <Culprits culprits={verdict.culprits} />
    </>
  );
}
