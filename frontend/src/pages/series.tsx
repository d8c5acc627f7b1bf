// Series: the trend of a case over the versions of each library, in a chart each, and as a table.

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { Filters, Series } from "@/api/generated";
import { filtersOptions, matrixOptions, seriesOptions } from "@/api/generated/@tanstack/react-query.gen";
import { SplitBars } from "@/charts/SplitBars";
import { byLibrary } from "@/charts/series-model";
import { withoutSplit } from "@/charts/splits";
import { TrendChart } from "@/charts/TrendChart";
import { MetricSelect } from "@/components/CellChoice";
import { captionOf, subjectsText } from "@/components/chart-caption";
import { HostName } from "@/components/HostName";
import { HostSelect } from "@/components/HostSelect";
import { LatestChanges } from "@/components/LatestChanges";
import { libraryTitle } from "@/components/libraries";
import { RunsAside } from "@/components/RunsAside";
import { SampleLinks } from "@/components/SampleLinks";
import { SeriesTable } from "@/components/SeriesTable";
import { unitOf } from "@/format";
import { paths } from "@/paths";
import type { SeriesSearch } from "@/search";
import { ChartFrame } from "@/ui/ChartFrame";
import { Controls } from "@/ui/Controls";
import { Checks, Select, Toggle } from "@/ui/Fields";
import { Failed, Loading } from "@/ui/Notes";
import { useTitle } from "@/ui/title";

const route = getRouteApi("/series");

export const firstAnswer = (search: SeriesSearch) => ({
  ...seriesOptions({ query: seriesQuery(search) }),
  enabled: search.case !== "",
});

export function SeriesPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change = (next: Partial<SeriesSearch>) =>
    void navigate({ search: (now) => ({ ...now, ...next }), replace: true });
  const filters = useQuery(filtersOptions());
  const series = useQuery({
    ...firstAnswer(search),
    placeholderData: keepPreviousData,
  });
  const title = series.data?.case.title ?? (search.case || "Trend");
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
      {filters.data && (
        <PageControls search={search} filters={filters.data} series={series.data} change={change} />
      )}
      {search.case === "" ? (
        <p>Select a case.</p>
      ) : series.isError ? (
        <Failed error={series.error} retry={() => void series.refetch()} />
      ) : series.data ? (
        <Results search={search} series={series.data} />
      ) : (
        <Loading what="the series" lines={10} />
      )}
    </>
  );
}

function seriesQuery({ case: case_id, metric, pool, cpu, library }: SeriesSearch) {
  return { case_id, metric, pool, cpu_model: cpu, library };
}

interface PageControlsProps {
  search: SeriesSearch;
  filters: Filters;
  series: Series | undefined;
  change: (next: Partial<SeriesSearch>) => void;
}

function PageControls({ search, filters, series, change }: PageControlsProps) {
  const { metric, pool, cpu } = search;
  // The same question as that of the results, so that the large answer arrives once.
  const matrix = useQuery({
    ...matrixOptions({
      query: series ? { metric: series.metric, ...series.host_kind } : { metric, pool, cpu_model: cpu },
    }),
    enabled: series !== undefined || search.case === "",
  });
  const cases = (matrix.data?.cases ?? []).map((caseView) => ({ value: caseView.id, label: caseView.title }));
  return (
    <Controls>
      {cases.length > 0 && (
        <Select label="Case" value={search.case} choices={cases} choose={(next) => change({ case: next })} />
      )}
      <HostSelect hostKinds={filters.host_kinds} current={series?.host_kind} choose={change} />
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

function Results({ search, series }: { search: SeriesSearch; series: Series }) {
  const { pool, cpu_model } = series.host_kind;
  const matrix = useQuery(matrixOptions({ query: { metric: series.metric, pool, cpu_model } })).data;
  const show = search.show ?? "rate";
  return (
    <>
      <LatestChanges series={series} matrix={matrix} />
      {byLibrary(series).map(({ library, series: own }) => (
        <section key={library}>
          <h2>{libraryTitle(library)}</h2>
          <ChartFrame caption={captionOfSeries(own, `${series.case.title}, ${library}`)}>
            <TrendChart library={library} series={own} show={show} />
          </ChartFrame>
        </section>
      ))}
      <section>
        <h2>
          Results on <HostName kind={series.host_kind} />
        </h2>
        <SeriesTable series={series} matrix={matrix} />
        <SampleLinks query={{ case_id: series.case.id, metric: series.metric, pool, cpu_model }} />
      </section>
      {unitOf(series.metric) === "ns" && <ClientAndServer search={search} series={series} />}
    </>
  );
}

function captionOfSeries({ lines, host_kind }: Series, title: string) {
  const points = lines.flatMap(({ library, points }) => points.map((point) => ({ library, ...point })));
  return captionOf({
    title,
    subjects: subjectsText(points),
    hosts: [host_kind],
    measured: points.map(({ measured_at }) => measured_at),
  });
}

function ClientAndServer({ search, series }: { search: SeriesSearch; series: Series }) {
  const client = useQuery(seriesOptions({ query: seriesQuery({ ...search, metric: "client_cpu_ns" }) }));
  const server = useQuery(seriesOptions({ query: seriesQuery({ ...search, metric: "server_cpu_ns" }) }));
  const { pool, cpu_model } = series.host_kind;
  const matrix = useQuery(matrixOptions({ query: { metric: "client_cpu_ns", pool, cpu_model } }));
  const absent = withoutSplit(matrix.data, series.case.id);
  const both = client.data && server.data && { client: client.data, server: server.data };
  if (!both && absent.length === 0) return null;
  return (
    <section>
      <h2>Client and server</h2>
      {both && (
        <ChartFrame caption={captionOfSeries(series, `${series.case.title}: client and server`)}>
          <SplitBars {...both} />
        </ChartFrame>
      )}
      {absent.map((line) => (
        <p key={line}>{line}</p>
      ))}
    </section>
  );
}
