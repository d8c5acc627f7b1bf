// The words of a change point: the chart and the table below it take them from here, so that both say the same number.
import type { ChangePoint, Metric } from "@/api/generated";
import { changeInWords } from "@/format";

/** "5.1% more time than 3.0.18": the other end is of the same build profile, as the whole line. */
export function changePointText({ before, ratio, verdict }: ChangePoint, metric: Metric): string {
  if (ratio === null) {
    return `${verdict === "unlike" ? "not comparable" : "not compared"} with ${before.version}`;
  }
  const words = `${changeInWords(ratio, metric)} than ${before.version}`;
  return verdict === "unresolved" ? `${words}, unresolved` : words;
}
