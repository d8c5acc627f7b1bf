// Home: what got worse, what is measured now, and every case with every version.

import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useMemo } from "react";
import type { Filters, Matrix, Overview } from "@/api/generated";
import {
  filtersOptions,
  matrixOptions,
  overviewOptions,
  overviewQueryKey,
} from "@/api/generated/@tanstack/react-query.gen";
import { matrixOf } from "@/api/libraries";
import { wantNewest } from "@/api/outdated";
import { useStream } from "@/api/stream";
import { Heatmap } from "@/charts/Heatmap";
import { heatModel } from "@/charts/heatmap-model";
import { Legend } from "@/charts/Legend";
import { flipped, type MatrixView, matrixView } from "@/charts/matrix-view";
import { CellChoice } from "@/components/CellChoice";
import { CellTable } from "@/components/CellTable";
import { captionOf, subjectsText } from "@/components/chart-caption";
import { FirstRun } from "@/components/FirstRun";
import { HostSelect, hostLabel } from "@/components/HostSelect";
import { isUncounted, NoCase, NothingCounted, OnlyOtherRuns } from "@/components/NoCells";
import { AlertsAndRuns, NamedViews, NewestUpgrades } from "@/components/OverviewSections";
import { RunsAside } from "@/components/RunsAside";
import { count } from "@/format";
import { site } from "@/published";
import { type HomeSearch, NO_GROUP } from "@/search";
import { ChartFrame } from "@/ui/ChartFrame";
import { Controls } from "@/ui/Controls";
import { Checks, Select, TextFilter } from "@/ui/Fields";
import { Empty, Failed, Loading } from "@/ui/Notes";
import { useTitle } from "@/ui/title";

const route = getRouteApi("/");
const POLL_MS = 15_000;

type UnderWay = Pick<Overview, "under_way" | "waiting">;

export const firstAnswer = () => overviewOptions();

export function HomePage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change = (next: Partial<HomeSearch>) =>
    void navigate({ search: (now) => ({ ...now, ...next }), replace: true });
  const filters = useQuery(filtersOptions());
  useUnderWay();
  const overview = useQuery({ ...firstAnswer(), refetchInterval: !site && POLL_MS });
  const matrix = useQuery({
    ...matrixOptions({ query: matrixQuery(search) }),
    select: (all) => matrixOf(all, search.library),
    placeholderData: keepPreviousData,
  });
  useTitle("");
  return (
    <>
      <h1>Cost of TLS handshakes</h1>
      <RunsAside />
      {overview.data ? (
        <>
          <NewestUpgrades libraries={overview.data.libraries} />
          {!site && <AlertsAndRuns overview={overview.data} />}
          <NamedViews views={overview.data.views} />
        </>
      ) : overview.isError ? (
        <Failed error={overview.error} retry={() => void overview.refetch()} />
      ) : (
        <Loading what="the overview" />
      )}
      <h2>Matrix</h2>
      {filters.data && filters.data.host_kinds.length > 0 && (
        <PageControls
          search={search}
          filters={filters.data}
          overview={overview.data}
          matrix={matrix.data}
          change={change}
        />
      )}
      {matrix.data ? (
        <Results search={search} matrix={matrix.data} change={change} />
      ) : matrix.isError ? (
        <Failed error={matrix.error} retry={() => void matrix.refetch()} />
      ) : (
        <Loading what="the matrix" lines={10} />
      )}
    </>
  );
}

/** Keeps what is measured now up to date. When a run begins or ends, everything is asked again. */
function useUnderWay(): void {
  const queries = useQueryClient();
  useStream<UnderWay>(site ? null : "overview/stream", async (news) => {
    const queryKey = overviewQueryKey();
    await queries.cancelQueries({ queryKey }); // its answer would be older than the news
    const before = queries.getQueryData<Overview>(queryKey);
    if (before) queries.setQueryData(queryKey, { ...before, ...news });
    if (!before || idsOf(before) !== idsOf(news)) {
      wantNewest();
      await queries.invalidateQueries();
    }
  });
}

function idsOf({ under_way }: UnderWay): string {
  return under_way.map(({ run_id }) => run_id).join(" ");
}

function matrixQuery({ metric, pool, cpu, spec }: HomeSearch) {
  return { metric, pool, cpu_model: cpu, spec };
}

interface PageControlsProps {
  search: HomeSearch;
  filters: Filters;
  overview: Overview | undefined;
  matrix: Matrix | undefined;
  change: (next: Partial<HomeSearch>) => void;
}

function PageControls({ search, filters, overview, matrix, change }: PageControlsProps) {
  const cases = matrix?.cases ?? [];
  const specs = Object.keys(overview?.specs ?? {});
  return (
    <Controls>
      <Select
        label="Rows"
        value={search.spec ?? ""}
        choices={[
          { value: "", label: "All, by key exchange" },
          ...specs.map((name) => ({ value: name, label: name, group: "Cases of a spec" })),
        ]}
        choose={(spec) => change({ spec: spec || undefined })}
      />
      <HostSelect hostKinds={filters.host_kinds} current={matrix?.host_kind} choose={change} />
      <CellChoice
        metrics={filters.metrics}
        cases={cases}
        metric={search.metric}
        choice={search}
        change={change}
      />
      <Select
        label="Compare with"
        value={search.versus ?? ""}
        choices={[
          { value: "", label: "the nearest lower version" },
          ...cases.map((caseView) => ({ value: caseView.id, label: caseView.title })),
        ]}
        choose={(versus) => change({ versus: versus || undefined })}
      />
      <Checks
        label="Libraries"
        all={filters.libraries}
        chosen={search.library ?? []}
        choose={(library) => change({ library })}
      />
      <TextFilter
        label="Cases"
        value={search.q ?? ""}
        placeholder="e.g. ecdhe 3072"
        enter={(q) => change({ q: q || undefined })}
      />
    </Controls>
  );
}

interface ResultsProps {
  search: HomeSearch;
  matrix: Matrix;
  change: (next: Partial<HomeSearch>) => void;
}

function Results({ search, matrix, change }: ResultsProps) {
  const all = useMemo(() => heatModel(matrix, search), [matrix, search]);
  const view = useMemo(() => matrixView(all, search, matrix.metric), [all, search, matrix.metric]);
  const { model, lines, groups, isDense } = view;
  if (!matrix.host_kind) return <NothingYet />;
  const host = { pool: matrix.host_kind.pool, cpu: matrix.host_kind.cpu_model };
  const versus = matrix.cases.find((caseView) => caseView.id === search.versus);
  const label = `Results on ${hostLabel(matrix.host_kind)}`;
  if (matrix.cases.length === 0 && !search.library) return <OnlyOtherRuns />;
  if (isUncounted(matrix)) {
    return <NothingCounted why="No result shown here has one. Select another metric." />;
  }
  if (all.rows.length === 0) {
    return <NoCase q={search.q} showAll={() => change({ q: undefined, variation: undefined })} />;
  }
  if (search.view === "table") {
    return (
      <CellTable
        {...{ label, host, metric: matrix.metric }}
        model={all}
        choice={search}
        versus={versus}
        sortBy={change}
      />
    );
  }
  return (
    <>
      <Hidden view={view} search={search} change={change} />
      {lines && (
        <p className="actions">
          <button type="button" onClick={() => change({ open: groups })}>
            Show all cases
          </button>
          <button type="button" onClick={() => change({ open: [NO_GROUP] })}>
            Show groups only
          </button>
        </p>
      )}
      <ChartFrame
        caption={captionOf({
          title: "Cost of TLS handshakes",
          subjects: subjectsText(model.subjects),
          hosts: [matrix.host_kind],
          measured: matrix.cells.map(({ measured_at }) => measured_at),
        })}
      >
        <Legend metric={matrix.metric} model={model} isDense={isDense} />
        <Heatmap
          {...{ label, model, host, lines, isDense, metric: matrix.metric }}
          flip={(group) => change({ open: flipped(groups, model.rows.length, search.open, group) })}
        />
      </ChartFrame>
    </>
  );
}

interface HiddenProps {
  view: MatrixView;
  search: HomeSearch;
  change: (next: Partial<HomeSearch>) => void;
}

/** What the matrix leaves out, and how to see it. */
function Hidden({ view: { hidden }, search, change }: HiddenProps) {
  const without = [
    hidden.cases > 0 && count(hidden.cases, "case"),
    hidden.versions > 0 && count(hidden.versions, "version"),
  ].filter(Boolean);
  return (
    <>
      {(hidden.older > 0 || search.versions) && (
        <p>
          {hidden.older > 0
            ? `${count(hidden.older, "older version")} not shown. `
            : "All versions are shown. "}
          <button type="button" onClick={() => change({ versions: search.versions ? undefined : "all" })}>
            {search.versions ? "Show the newest only" : "Show all versions"}
          </button>
        </p>
      )}
      {(without.length > 0 || search.empty) && (
        <p>
          {without.length > 0 && `${without.join(" and ")} without numbers here not shown. `}
          <button type="button" onClick={() => change({ empty: search.empty ? undefined : "shown" })}>
            {search.empty ? "Hide what has no numbers" : "Show them"}
          </button>
        </p>
      )}
    </>
  );
}

function NothingYet() {
  return (
    <Empty title="No results yet">
      <FirstRun />
      <p>The first results appear here when half of it is measured.</p>
    </Empty>
  );
}
