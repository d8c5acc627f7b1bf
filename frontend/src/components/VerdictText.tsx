// A verdict in a word, with its colour, and what to be careful about.
import type { Change, Metric } from "@/api/generated";
import { unitOf } from "@/format";

interface Props {
  verdict: Change["verdict"];
  metric: Metric;
  cautions: string[];
}

export function VerdictText({ verdict, metric, cautions }: Props) {
  return (
    <>
      <span className={`verdict ${verdict}`}>{verdictWord(verdict, metric)}</span>
      {cautions.length > 0 && <small> † {cautions.join("; ")}</small>}
    </>
  );
}

export function verdictWord(verdict: Change["verdict"], metric: Metric): string {
  const time = unitOf(metric) === "ns";
  switch (verdict) {
    case "more":
      return time ? "slower" : "more";
    case "less":
      return time ? "faster" : "less";
    case "same":
      return "no change";
    case "unresolved":
      return "can’t resolve";
  }
}
