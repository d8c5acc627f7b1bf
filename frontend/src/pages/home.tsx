// Home: every case with every version, and the changes from version to version.
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useMemo } from "react";
import type { Filters, Matrix } from "@/api/generated";
import { filtersOptions, matrixOptions } from "@/api/generated/@tanstack/react-query.gen";
import { Heatmap } from "@/charts/Heatmap";
import { heatModel } from "@/charts/heatmap-model";
import { Legend } from "@/charts/Legend";
import { CellChoice } from "@/components/CellChoice";
import { CellTable } from "@/components/CellTable";
import { HostSelect, hostLabel } from "@/components/HostSelect";
import { isUncounted, NoCase, NothingCounted, OnlyOtherRuns } from "@/components/NoCells";
import type { HomeSearch } from "@/search";
import { Checks, Select, TextFilter } from "@/ui/Fields";
import { Empty, Failed, Loading } from "@/ui/Notes";
import { useTitle } from "@/ui/title";

const route = getRouteApi("/");

export function HomePage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change = (next: Partial<HomeSearch>) =>
    void navigate({ search: (now) => ({ ...now, ...next }), replace: true });
  const filters = useQuery(filtersOptions());
  const matrix = useQuery({
    ...matrixOptions({ query: matrixQuery(search) }),
    placeholderData: keepPreviousData,
  });
  useTitle("");
  return (
    <>
      <h1>Cost of TLS handshakes</h1>
      {filters.data && filters.data.host_kinds.length > 0 && (
        <Controls search={search} filters={filters.data} matrix={matrix.data} change={change} />
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

function matrixQuery({ metric, pool, cpu, library }: HomeSearch) {
  return { metric, pool, cpu_model: cpu, library };
}

interface ControlsProps {
  search: HomeSearch;
  filters: Filters;
  matrix: Matrix | undefined;
  change: (next: Partial<HomeSearch>) => void;
}

function Controls({ search, filters, matrix, change }: ControlsProps) {
  const cases = matrix?.cases ?? [];
  return (
    <form className="controls" aria-label="Filters" onSubmit={(event) => event.preventDefault()}>
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
          { value: "", label: "previous version" },
          ...cases.map((caseView) => ({ value: caseView.id, label: caseView.title })),
        ]}
        choose={(versus) => change({ versus: versus || undefined })}
      />
      <Checks
        label="Libraries"
        all={filters.libraries}
        chosen={search.library ?? []}
        choose={(library) => change({ library: library.length > 0 ? library : undefined })}
      />
      <TextFilter
        label="Cases"
        value={search.q ?? ""}
        placeholder="e.g. ecdhe 3072"
        enter={(q) => change({ q: q || undefined })}
      />
    </form>
  );
}

interface ResultsProps {
  search: HomeSearch;
  matrix: Matrix;
  change: (next: Partial<HomeSearch>) => void;
}

function Results({ search, matrix, change }: ResultsProps) {
  const model = useMemo(() => heatModel(matrix, search), [matrix, search]);
  if (!matrix.host_kind) return <NothingYet />;
  const host = { pool: matrix.host_kind.pool, cpu: matrix.host_kind.cpu_model };
  const versus = matrix.cases.find((caseView) => caseView.id === search.versus);
  const label = `Results on ${hostLabel(matrix.host_kind)}`;
  if (matrix.cases.length === 0 && !search.library) return <OnlyOtherRuns />;
  if (isUncounted(matrix)) return <NothingCounted />;
  if (model.rows.length === 0) {
    return <NoCase q={search.q} showAll={() => change({ q: undefined, variation: undefined })} />;
  }
  if (search.view === "table") {
    return (
      <CellTable
        {...{ label, model, host, metric: matrix.metric }}
        choice={search}
        versus={versus}
        sortBy={change}
      />
    );
  }
  return (
    <>
      <Legend metric={matrix.metric} versus={versus} />
      <Heatmap {...{ label, model, host, metric: matrix.metric }} />
    </>
  );
}

function NothingYet() {
  return (
    <Empty title="No results yet">
      <p>Run a small spec. The first results appear here when half of it is measured:</p>
      <pre>kexbench run bench-specs/quickstart.yaml</pre>
    </Empty>
  );
}
