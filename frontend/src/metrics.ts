// Choices of metrics. The API lists them by group, in the order shown.
import type { Measure, Metric, MetricView } from "@/api/generated";
import { INSTRUMENTS } from "@/api/generated/vocabulary.gen";
import type { Choice } from "@/ui/Fields";

/** The metric that the page of a run shows first, as the API does. */
export function defaultMetricOf({ instrument }: Pick<Measure, "instrument">): Metric {
  return INSTRUMENTS[instrument ?? "time"].decides;
}

/** Grouped by kind. A metric without values is listed but cannot be selected. */
export function metricChoices(metrics: MetricView[]): Choice<Metric>[] {
  return metrics.map(({ metric, group, title, stored }) => ({
    value: metric,
    label: stored ? title : `${title} (not recorded on this machine)`,
    group,
    disabled: !stored,
  }));
}
