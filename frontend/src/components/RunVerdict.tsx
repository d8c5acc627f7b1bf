// The verdict of a run that ended: one sentence, the largest change with its two ends, what has no result, and the
// functions that increases are in where they were counted.
import { useQuery } from "@tanstack/react-query";
import { verdictOptions } from "@/api/generated/@tanstack/react-query.gen";
import { moveText } from "@/format";
import { Culprits } from "./Culprits";
import { isBad, missingText } from "./commit-words";

export function RunVerdict({ runId }: { runId: string }) {
  const verdict = useQuery(verdictOptions({ path: { run_id: runId } })).data;
  if (!verdict) return null;
  const [largest] = verdict.largest;
  return (
    <>
      <p className={isBad(verdict) ? "said bad" : "said"}>{verdict.sentence}</p>
      {largest && (
        <p>
          <small>
            Largest change: {largest.before} → {largest.after}, {largest.case}: {moveText(largest)}
          </small>
        </p>
      )}
      {(verdict.exact ?? []).length > 0 && (
        <ul>
          {verdict.exact?.map(({ metric, before, after, text }) => (
            <li key={`${metric} ${before} ${after}`}>
              {before} → {after}: {text}
            </li>
          ))}
        </ul>
      )}
      {missingText(verdict) && <p>{missingText(verdict)}</p>}
      <Culprits culprits={verdict.culprits} />
    </>
  );
}
