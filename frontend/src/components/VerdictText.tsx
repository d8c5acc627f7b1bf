// A verdict in a word, with its colour and caveats.
import type { Change, Metric } from "@/api/generated";
import { isMoved, verdictText } from "@/charts/change-words";
import { unitOf } from "@/format";

interface Props {
  verdict: Change["verdict"];
  /** the resolution */
  resolves?: number | null;
  metric: Metric;
  cautions?: string[];
}

export function VerdictText({ verdict, resolves = null, metric, cautions = [] }: Props) {
  const counts = unitOf(metric) !== "ns" && isMoved(verdict);
  return (
    <>
      <span className={`verdict ${verdict}`}>{counts ? verdict : verdictText({ verdict, resolves })}</span>
      {cautions.length > 0 && <small> † {cautions.join("; ")}</small>}
    </>
  );
}
