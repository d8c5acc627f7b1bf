// Heatmap or table, of which metric: the controls that every view of cells has.
import type { MetricView } from "@/api/generated";
import { type CellView, DEFAULT_METRIC } from "@/search";
import { Select, Toggle } from "@/ui/Fields";

interface Props {
  metrics: MetricView[];
  metric: MetricView["metric"] | undefined;
  view: CellView["view"];
  change: (next: { metric?: MetricView["metric"]; view?: CellView["view"] }) => void;
}

export function CellChoice({ metrics, metric = DEFAULT_METRIC, view, change }: Props) {
  return (
    <>
      <MetricSelect metrics={metrics} metric={metric} choose={(next) => change({ metric: next, view })} />
      <Toggle
        label="Show as"
        value={view ?? "heatmap"}
        choices={[
          { value: "heatmap", label: "Heatmap" },
          { value: "table", label: "Table" },
        ]}
        choose={(next) => change({ metric, view: next === "table" ? next : undefined })}
      />
    </>
  );
}

interface MetricSelectProps {
  metrics: MetricView[];
  metric: MetricView["metric"] | undefined;
  choose: (metric: MetricView["metric"]) => void;
}

export function MetricSelect({ metrics, metric = DEFAULT_METRIC, choose }: MetricSelectProps) {
  const choices = metrics.map((one) => ({ value: one.metric, label: one.title }));
  return <Select label="Metric" value={metric} choices={choices} choose={choose} />;
}
