// What kind of thing each metric is. The words for a single metric come from the API.
import type { Measure, Metric, MetricView } from "@/api/generated";
import type { Choice } from "@/ui/Fields";

export type MetricGroup =
  | "Time"
  | "Whole connection"
  | "Web server"
  | "Bytes on the wire"
  | "Structure"
  | "Memory"
  | "Hardware counters"
  | "Counted by callgrind";

/** Exhaustive, so that a metric that the API gains is missed by the type checker. */
const GROUP_OF: Record<Metric, MetricGroup> = {
  cpu_ns: "Time",
  client_cpu_ns: "Time",
  server_cpu_ns: "Time",
  wall_ns: "Time",
  elapsed_ns: "Time",
  alone_ns: "Time",
  first_ns: "Time",
  connection_cpu_ns: "Whole connection",
  client_connection_cpu_ns: "Whole connection",
  server_connection_cpu_ns: "Whole connection",
  client_objects_cpu_ns: "Whole connection",
  server_objects_cpu_ns: "Whole connection",
  client_transfer_cpu_ns: "Whole connection",
  server_transfer_cpu_ns: "Whole connection",
  handshake_p50_ns: "Web server",
  handshake_p99_ns: "Web server",
  response_p50_ns: "Web server",
  response_p99_ns: "Web server",
  client_bytes: "Bytes on the wire",
  server_bytes: "Bytes on the wire",
  client_records: "Structure",
  server_records: "Structure",
  round_trips: "Structure",
  client_allocations: "Memory",
  server_allocations: "Memory",
  heap_peak_bytes: "Memory",
  client_held_bytes: "Memory",
  server_held_bytes: "Memory",
  client_instructions: "Hardware counters",
  server_instructions: "Hardware counters",
  client_cycles: "Hardware counters",
  server_cycles: "Hardware counters",
  client_branch_misses: "Hardware counters",
  server_branch_misses: "Hardware counters",
  client_cache_misses: "Hardware counters",
  server_cache_misses: "Hardware counters",
  counted_instructions: "Counted by callgrind",
  client_counted_instructions: "Counted by callgrind",
  server_counted_instructions: "Counted by callgrind",
  objects_counted_instructions: "Counted by callgrind",
};

export const METRICS = Object.keys(GROUP_OF) as Metric[];
const GROUPS = [...new Set(Object.values(GROUP_OF))];

/** The metric that the page of a run shows first, as the API does. */
export function defaultMetricOf({ instrument }: Pick<Measure, "instrument">): Metric {
  return instrument === "instructions" ? "counted_instructions" : "cpu_ns";
}

/** Grouped by kind. A metric without values is listed but cannot be selected. */
export function metricChoices(metrics: MetricView[]): Choice<Metric>[] {
  return [...metrics]
    .sort((a, b) => GROUPS.indexOf(GROUP_OF[a.metric]) - GROUPS.indexOf(GROUP_OF[b.metric]))
    .map(({ metric, title, stored }) => ({
      value: metric,
      label: stored ? title : `${title} (not recorded on this machine)`,
      group: GROUP_OF[metric],
      disabled: !stored,
    }));
}
