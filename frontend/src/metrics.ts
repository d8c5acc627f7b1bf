// Choices of metrics. The API lists them by group, in the order shown.
import type { Measure, Metric, MetricGroup, MetricView } from "@/api/generated";
import { INSTRUMENTS } from "@/api/generated/vocabulary.gen";
import type { Choice } from "@/ui/Fields";

/** The metric that the page of a run shows first, as the API does. */
export function defaultMetricOf({ instrument }: Pick<Measure, "instrument">): Metric {
  return INSTRUMENTS[instrument ?? "time"].decides;
}

interface Asked {
  isBy: (measure: Measure) => boolean;
  /** what a spec did that does not ask */
  lacking: string;
  /** what a spec needs */
  asks: string;
}

const counted = (instrument: Measure["instrument"], lacking: string): Asked => ({
  isBy: (measure) => measure.instrument === instrument,
  lacking,
  asks: `instrument: ${instrument}`,
});

/** Of groups, and of a metric that needs more than its group. */
const ASKED: Partial<Record<MetricGroup | Metric, Asked>> = {
  "Start of a process": {
    isBy: ({ starts }) => Boolean(starts),
    lacking: "measured no starts",
    asks: "starts: 20",
  },
  "Age of a context": {
    isBy: ({ age }) => Boolean(age),
    lacking: "aged no context",
    asks: "age: 100000",
  },
  "Counted by callgrind": counted("instructions", "counted no instructions"),
  start_counted_instructions: {
    isBy: ({ instrument, starts }) => instrument === "instructions" && Boolean(starts),
    lacking: "counted no starts",
    asks: "instrument: instructions, starts: 20",
  },
  "Counted allocations": counted("allocations", "counted no allocations"),
  "Counted atomic operations": counted("atomics", "counted no atomic operations"),
};

/** Why a run has no values of a metric, where its spec did not ask for them. */
export function unaskedText(
  { metric, group }: Pick<MetricView, "metric" | "group">,
  measure: Measure,
): string | undefined {
  const asked = ASKED[metric] ?? ASKED[group];
  if (!asked || asked.isBy(measure)) return undefined;
  return `The spec of this run ${asked.lacking}. One with measure: { ${asked.asks} } does.`;
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
