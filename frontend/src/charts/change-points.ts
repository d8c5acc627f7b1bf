// The words of a change point: the chart and the table below it take them from here, so that both say the same number.
import type { ChangePoint, Metric } from "@/api/generated";
import { changeInWords } from "@/format";

export function changePointText({ ratio, verdict }: ChangePoint, metric: Metric): string {
  if (ratio === null) return verdict === "unlike" ? "not comparable" : "not compared";
  const words = changeInWords(ratio, metric);
  return verdict === "unresolved" ? `${words}, unresolved` : words;
}
