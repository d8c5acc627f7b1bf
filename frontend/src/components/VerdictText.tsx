// A verdict in a word, with its colour and caveats.
import type { Change, Metric } from "@/api/generated";
import { unitOf } from "@/format";
import { verdictText } from "./upgrade-model";

interface Props {
  verdict: Change["verdict"];
  /** the resolution */
  resolves?: number | null;
  metric: Metric;
  cautions: string[];
}

export function VerdictText({ verdict, resolves = null, metric, cautions }: Props) {
  const counts = unitOf(metric) !== "ns" && (verdict === "more" || verdict === "less");
  return (
    <>
      <span className={`verdict ${verdict}`}>{counts ? verdict : verdictText({ verdict, resolves })}</span>
      {cautions.length > 0 && <small> † {cautions.join("; ")}</small>}
    </>
  );
}
