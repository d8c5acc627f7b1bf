// Trends: any number of series in one chart or in small multiples, and a table with the numbers of each.
import { getRouteApi } from "@tanstack/react-router";
import { useMemo } from "react";
import type { Trends } from "@/api/generated";
import { TrendsChart } from "@/charts/TrendsChart";
import { changesOf, type TrendsModel, titleOf, trendsModel } from "@/charts/trends-model";
import { FEW } from "@/charts/trends-plot";
import { captionOfLines } from "@/components/chart-caption";
import { EmbedSnippet } from "@/components/EmbedSnippet";
import { FirstRun } from "@/components/FirstRun";
import { hostLabel } from "@/components/HostSelect";
import { RunsAside } from "@/components/RunsAside";
import { TrendsControls } from "@/components/TrendsControls";
import { TrendsTable } from "@/components/TrendsTable";
import { axisTitle } from "@/components/trends-words";
import { trendsOf, useTrends } from "@/components/use-trends";
import { count } from "@/format";
import { stringifySearch, type TrendsSearch } from "@/search";
import { ChartFrame } from "@/ui/ChartFrame";
import { Empty, Failed, Loading } from "@/ui/Notes";
import { useTitle } from "@/ui/title";

const route = getRouteApi("/trends");

export const firstAnswer = (search: TrendsSearch) => trendsOf(search);

export function TrendsPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change = (next: Partial<TrendsSearch>) =>
    void navigate({ search: (now) => ({ ...now, ...next }), replace: true });
  const { filters, trends } = useTrends(search);
  useTitle("Trends");
  return (
    <>
      <h1>Trends</h1>
      <RunsAside />
      {filters && trends.data && trends.data.choices.length > 0 && (
        <TrendsControls search={search} filters={filters} trends={trends.data} change={change} />
      )}
      {trends.data ? (
        <Results search={search} trends={trends.data} />
      ) : trends.isError ? (
        <Failed error={trends.error} retry={() => void trends.refetch()} />
      ) : (
        <Loading what="the trends" lines={10} />
      )}
    </>
  );
}

function Results({ search, trends }: { search: TrendsSearch; trends: Trends }) {
  const model = useMemo(() => trendsModel(trends, search), [trends, search]);
  if (trends.lines.length === 0) {
    return (
      <Empty title="No series">
        {trends.choices.length === 0 ? (
          <FirstRun />
        ) : (
          <p>Nothing was measured for this choice. Select other cases, machines or libraries.</p>
        )}
      </Empty>
    );
  }
  const yLabel = axisTitle(search);
  const choice = stringifySearch({ ...search });
  return (
    <>
      <h2>{model.title}</h2>
      <Reading search={search} trends={trends} model={model} />
      <div className={model.panels.length > 1 ? "panels" : undefined}>
        {model.panels.map((panel) => (
          <ChartFrame key={panel.title} caption={captionOfLines(panel.lines, titleOf(panel, model))}>
            <TrendsChart {...{ model, panel, yLabel, choice }} isLog={search.scale === "log"} />
          </ChartFrame>
        ))}
      </div>
      <EmbedSnippet search={search} title={model.title || "Trends"} charts={model.panels.length} />
      <TrendsTable lines={model.lines} />
    </>
  );
}

interface ReadingProps {
  search: TrendsSearch;
  trends: Trends;
  model: TrendsModel;
}

/** What the chart does not say by itself. */
function Reading({ search, trends, model }: ReadingProps) {
  const hosts = new Set(model.lines.map(({ place }) => hostLabel(place.host_kind)));
  const isCrowded = model.panels.some(({ lines }) => lines.length > FEW);
  const hasBands = model.lines.some(({ points }) => points.some(({ low }) => low !== null));
  return (
    <ul className="plain">
      {hasBands && (
        <li>
          {isCrowded
            ? `Bands are drawn for up to ${FEW} series in a chart. Point to a line to see its interval.`
            : "Bands and bars: 95% confidence intervals."}
        </li>
      )}
      {model.lines.some((line) => changesOf(line).length > 0) && (
        <li>
          Dotted vertical lines: change points, with the change between the two versions as the table has it.
        </li>
      )}
      <li>
        Drag over a chart to zoom, and double-click to see everything. Keys: <kbd>+</kbd> and <kbd>-</kbd>{" "}
        zoom, the arrow keys pan, <kbd>0</kbd> shows everything. Ctrl with the wheel zooms, Shift with it
        pans.
      </li>
      {search.show === "relative" && (
        <li>
          Costs are divided by that of {search.base ?? "the first version of each series"}, as measured. Only
          change points are judged.
        </li>
      )}
      {hosts.size > 1 && (
        <li>Series of different machines are not compared with each other: the machines cost differently.</li>
      )}
      {model.undrawn > 0 && (
        <li>
          {count(model.undrawn, "point")} not drawn:{" "}
          {search.x === "released" ? "no release date is known" : "the baseline is missing"}.
        </li>
      )}
      {trends.left_out > 0 && (
        <li>{count(trends.left_out, "series", "series")} not shown. Select fewer cases or machines.</li>
      )}
    </ul>
  );
}
