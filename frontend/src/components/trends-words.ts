// Which metrics a choice of trends means, and the title of its axis. Pure.
import type { Metric } from "@/api/generated";
import { nounOf, unitOf } from "@/format";
import { DEFAULT_METRIC, type TrendsSearch } from "@/search";

const METRIC_OF = { both: "cpu_ns", client: "client_cpu_ns", server: "server_cpu_ns" } as const;

/** The sides of the CPU time; any other metric stands for itself. */
export function metricsOf({ metric = DEFAULT_METRIC, side }: TrendsSearch): Metric[] {
  return metric === DEFAULT_METRIC && side ? side.map((one) => METRIC_OF[one]) : [metric];
}

export function axisTitle({
  metric = DEFAULT_METRIC,
  show,
  base,
}: Pick<TrendsSearch, "metric" | "show" | "base">): string {
  if (show === "relative") return `cost relative to ${base ?? "the first version"} (lower is better)`;
  if (unitOf(metric) !== "ns") return `${nounOf(metric)} (lower is better)`;
  if (show === "cost") return "µs per handshake (lower is better)";
  return `handshakes per ${metric.endsWith("cpu_ns") ? "CPU-second" : "second"} (higher is better)`;
}
