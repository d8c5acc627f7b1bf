// The controls of every view of cells: metric, heatmap or table, and variation.
import type { CaseView, MetricView } from "@/api/generated";
import { metricChoices } from "@/metrics";
import { type CellView, DEFAULT_METRIC } from "@/search";
import { Select, Toggle } from "@/ui/Fields";
import { variationChoices } from "@/variation";

interface Props {
  metrics: MetricView[];
  cases: CaseView[];
  metric: MetricView["metric"] | undefined;
  choice: CellView;
  change: (next: { metric?: MetricView["metric"] } & Pick<CellView, "view" | "variation">) => void;
}

export function CellChoice({ metrics, cases, metric = DEFAULT_METRIC, choice, change }: Props) {
  const { view, variation } = choice;
  const variations = variationChoices(cases, variation);
  return (
    <>
      <MetricSelect metrics={metrics} metric={metric} choose={(next) => change({ metric: next })} />
      <Toggle
        label="View"
        value={view ?? "heatmap"}
        choices={[
          { value: "heatmap", label: "Heatmap" },
          { value: "table", label: "Table" },
        ]}
        choose={(next) => change({ view: next === "table" ? next : undefined })}
      />
      {variations.length > 0 && (
        <Select
          label="Variation"
          value={variation ?? ""}
          choices={variations}
          choose={(next) => change({ variation: next || undefined })}
        />
      )}
    </>
  );
}

interface MetricSelectProps {
  metrics: MetricView[];
  metric: MetricView["metric"] | undefined;
  choose: (metric: MetricView["metric"]) => void;
}

export function MetricSelect({ metrics, metric = DEFAULT_METRIC, choose }: MetricSelectProps) {
  return <Select label="Metric" value={metric} choices={metricChoices(metrics)} choose={choose} />;
}
