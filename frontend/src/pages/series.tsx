// Series: the trends of one case on one machine, with every invocation, a chart for each library, and as a table.

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useMemo } from "react";
import type { Filters, HostKind, Trend, Trends } from "@/api/generated";
import { filtersOptions, matrixOptions, trendsOptions } from "@/api/generated/@tanstack/react-query.gen";
import { eachTrendOptions, joinedTrends } from "@/api/trends";
import { SplitBars } from "@/charts/SplitBars";
import { splitsOf, withoutSplit } from "@/charts/splits";
import { TrendsChart } from "@/charts/TrendsChart";
import { type TrendsModel, trendsModel } from "@/charts/trends-model";
import { MetricSelect } from "@/components/CellChoice";
import { captionOfLines } from "@/components/chart-caption";
import { FirstRun } from "@/components/FirstRun";
import { HostName } from "@/components/HostName";
import { HostSelect } from "@/components/HostSelect";
import { LatestChanges } from "@/components/LatestChanges";
import { libraryTitle } from "@/components/libraries";
import { RunsAside } from "@/components/RunsAside";
import { SampleLinks } from "@/components/SampleLinks";
import { SeriesTable } from "@/components/SeriesTable";
import { axisTitle } from "@/components/trends-words";
import { unitOf } from "@/format";
import { paths } from "@/paths";
import { DEFAULT_METRIC, type SeriesSearch, stringifySearch } from "@/search";
import { ChartFrame } from "@/ui/ChartFrame";
import { Controls } from "@/ui/Controls";
import { Checks, Select, Toggle } from "@/ui/Fields";
import { Empty, Failed, Loading } from "@/ui/Notes";
import { useTitle } from "@/ui/title";

const route = getRouteApi("/series");

/** Of all libraries: a published site has one file for them. */
export const firstAnswer = ({ case: caseId, metric, pool, cpu }: SeriesSearch) => ({
  ...trendsOptions({
    query: {
      case_id: [caseId],
      metric: metric && [metric],
      pool: pool === undefined ? undefined : [pool],
      cpu_model: cpu === undefined ? undefined : [cpu],
      levels: true,
    },
  }),
  enabled: caseId !== "",
});

export function SeriesPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change = (next: Partial<SeriesSearch>) =>
    void navigate({ search: (now) => ({ ...now, ...next }), replace: true });
  const filters = useQuery(filtersOptions());
  const trends = useQuery({
    ...firstAnswer(search),
    placeholderData: keepPreviousData,
  });
  const kind = trends.data?.lines[0]?.host_kind;
  const hasResults = filters.data?.host_kinds.length !== 0;
  const title = trends.data?.cases[0]?.title ?? (search.case || "Trend");
  useTitle(title);
  return (
    <>
      <p className="crumbs">
        <Link {...paths.home({ metric: search.metric, pool: search.pool, cpu: search.cpu })}>All cases</Link>
        {search.case !== "" && (
          <>
            {" · "}
            <Link {...paths.trends({ case: [search.case], metric: search.metric, library: search.library })}>
              With other series
            </Link>
            {" · "}
            <Link {...paths.cpus({ case: search.case, metric: search.metric })}>On all CPUs</Link>
          </>
        )}
      </p>
      <h1>{title}</h1>
      <RunsAside />
      {filters.data && hasResults && <PageControls {...{ search, kind, change }} filters={filters.data} />}
      {!hasResults ? (
        <Empty title="No results yet">
          <FirstRun />
        </Empty>
      ) : search.case === "" ? (
        <p>Select a case.</p>
      ) : trends.isError ? (
        <Failed error={trends.error} retry={() => void trends.refetch()} />
      ) : trends.data && kind ? (
        <Results {...{ search, title, kind }} trends={trends.data} />
      ) : trends.data ? (
        <NoSeries />
      ) : (
        <Loading what="the series" lines={10} />
      )}
    </>
  );
}

function NoSeries() {
  return (
    <Empty title="No series">
      <p>Nothing was measured for this choice. Select another case, machine or library.</p>
    </Empty>
  );
}

/** The matrix of the page's metric on a machine: has the changes and the cases. */
function useMatrix(kind: HostKind | undefined, metric: SeriesSearch["metric"], enabled = true) {
  const query = { metric: metric ?? DEFAULT_METRIC, ...kind };
  return useQuery({ ...matrixOptions({ query }), enabled }).data;
}

interface PageControlsProps {
  search: SeriesSearch;
  filters: Filters;
  kind: HostKind | undefined;
  change: (next: Partial<SeriesSearch>) => void;
}

function PageControls({ search, filters, kind, change }: PageControlsProps) {
  const { metric } = search;
  const matrix = useMatrix(kind, metric, kind !== undefined || search.case === "");
  const cases = (matrix?.cases ?? []).map((caseView) => ({ value: caseView.id, label: caseView.title }));
  return (
    <Controls>
      {cases.length > 0 && (
        <Select label="Case" value={search.case} choices={cases} choose={(next) => change({ case: next })} />
      )}
      <HostSelect hostKinds={filters.host_kinds} current={kind} choose={change} />
      <MetricSelect metrics={filters.metrics} metric={metric} choose={(next) => change({ metric: next })} />
      {(!metric || unitOf(metric) === "ns") && (
        <Toggle
          label="Axis"
          value={search.show ?? "rate"}
          choices={[
            { value: "rate", label: "Rate" },
            { value: "cost", label: "Time" },
          ]}
          choose={(next) => change({ show: next === "cost" ? next : undefined })}
        />
      )}
      <Checks
        label="Libraries"
        all={filters.libraries}
        chosen={search.library ?? []}
        choose={(library) => change({ library })}
      />
    </Controls>
  );
}

interface ResultsProps {
  search: SeriesSearch;
  title: string;
  kind: HostKind;
  trends: Trends;
}

function Results({ search, title, kind, trends }: ResultsProps) {
  const { pool, cpu_model } = kind;
  const { case: case_id, metric = DEFAULT_METRIC, show, library } = search;
  const matrix = useMatrix(kind, metric);
  const model = useMemo(
    () => trendsModel(joinedTrends([trends], isShown(kind, library)), { show }),
    [trends, kind, library, show],
  );
  const yLabel = axisTitle(search);
  if (model.lines.length === 0) return <NoSeries />;
  return (
    <>
      <LatestChanges
        caseId={case_id}
        matrix={matrix}
        libraries={[...new Set(model.lines.map(({ place }) => place.library))]}
      />
      {model.panels.map((panel) => (
        <ChartFrame key={panel.title} caption={captionOfLines(panel.lines, `${title}, ${libraryOf(panel)}`)}>
          <TrendsChart
            {...{ model, panel, yLabel }}
            isLog={false}
            choice={stringifySearch({ ...search })}
            heading={<h2>{libraryTitle(libraryOf(panel))}</h2>}
          />
        </ChartFrame>
      ))}
      <section>
        <h2>
          Results on <HostName kind={kind} />
        </h2>
        <SeriesTable title={`Results of ${title}`} lines={model.lines} matrix={matrix} />
        <SampleLinks query={{ case_id, metric, pool, cpu_model }} />
      </section>
      {unitOf(metric) === "ns" && <ClientAndServer {...{ search, title, kind }} lines={model.lines} />}
    </>
  );
}

function isShown({ pool, cpu_model }: HostKind, libraries: string[] | undefined) {
  return ({ host_kind: kind, library }: Trend) =>
    kind.pool === pool && kind.cpu_model === cpu_model && (!libraries || libraries.includes(library));
}

/** Versions of two libraries have no common axis. */
function libraryOf({ lines }: Pick<TrendsModel, "lines">): string {
  return lines[0]?.place.library ?? "";
}

interface SidesProps extends Omit<ResultsProps, "trends"> {
  lines: TrendsModel["lines"];
}

function ClientAndServer({ search, title, kind, lines }: SidesProps) {
  const { case: case_id, library } = search;
  const answers = useQuery(eachTrendOptions([case_id], ["client_cpu_ns", "server_cpu_ns"])).data;
  const sides = answers && joinedTrends(answers, isShown(kind, library));
  const absent = withoutSplit(useMatrix(kind, "client_cpu_ns"), case_id);
  const splits = sides && splitsOf(sides);
  if (!splits?.length && absent.length === 0) return null;
  return (
    <section>
      <h2>Client and server</h2>
      {splits && splits.length > 0 && (
        <ChartFrame caption={captionOfLines(lines, `${title}: client and server`)}>
          <SplitBars splits={splits} />
        </ChartFrame>
      )}
      {absent.map((line) => (
        <p key={line}>{line}</p>
      ))}
    </section>
  );
}
