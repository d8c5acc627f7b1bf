// What kind of thing each metric is. The words for a single metric come from the API.
import type { Metric, MetricView } from "@/api/generated";
import type { Choice } from "@/ui/Fields";

export type MetricGroup = "Time" | "Bytes on the wire" | "Structure" | "Memory" | "Hardware counters";

/** Exhaustive, so that a metric that the API gains is missed by the type checker. */
const GROUP_OF: Record<Metric, MetricGroup> = {
  cpu_ns: "Time",
  client_cpu_ns: "Time",
  server_cpu_ns: "Time",
  wall_ns: "Time",
  elapsed_ns: "Time",
  first_ns: "Time",
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
};

export const METRICS = Object.keys(GROUP_OF) as Metric[];
const GROUPS = [...new Set(Object.values(GROUP_OF))];

/** Grouped by kind; one without any number can be seen and not chosen. */
export function metricChoices(metrics: MetricView[]): Choice<Metric>[] {
  return [...metrics]
    .sort((a, b) => GROUPS.indexOf(GROUP_OF[a.metric]) - GROUPS.indexOf(GROUP_OF[b.metric]))
    .map(({ metric, title, stored }) => ({
      value: metric,
      label: stored ? title : `${title} (not counted on this machine)`,
      group: GROUP_OF[metric],
      disabled: !stored,
    }));
}
