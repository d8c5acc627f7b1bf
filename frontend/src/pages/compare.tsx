// Compare: any two versions, libraries, host kinds or runs, case by case.
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { Comparison } from "@/api/generated";
import { compareOptions } from "@/api/generated/@tanstack/react-query.gen";
import { Changes, OnHosts } from "@/components/Changes";
import { CompareControls } from "@/components/CompareControls";
import { compareTitle, differenceText, storyOf } from "@/components/compared-ends";
import { FirstRun } from "@/components/FirstRun";
import { useCpuNames } from "@/components/HostName";
import { RunsAside } from "@/components/RunsAside";
import { WaitsLine } from "@/components/WaitsLine";
import { paths } from "@/paths";
import type { CompareSearch } from "@/search";
import { Empty, Failed, Loading } from "@/ui/Notes";
import { useTitle } from "@/ui/title";

const route = getRouteApi("/compare");

export const firstAnswer = (search: CompareSearch) => compareOptions({ query: queryOf(search) });

export function ComparePage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change = (next: CompareSearch) =>
    void navigate({ search: (now) => ({ ...now, ...next }), replace: true });
  const comparison = useQuery({
    ...firstAnswer(search),
    placeholderData: keepPreviousData,
  });
  const cpuNameOf = useCpuNames();
  const title = comparison.data ? compareTitle(comparison.data, cpuNameOf) : "Compare";
  const isChosen = comparison.data?.base && comparison.data.other;
  useTitle(isChosen ? `Compare ${title}` : title);
  return (
    <>
      <h1>Compare</h1>
      <RunsAside shown={comparison.data?.cells.flatMap(({ run_ids }) => run_ids)} />
      {comparison.data && comparison.data.subjects.length > 0 && (
        <CompareControls {...{ search, change }} comparison={comparison.data} />
      )}
      {comparison.isError ? (
        <Failed error={comparison.error} retry={() => void comparison.refetch()} />
      ) : comparison.data ? (
        <Results {...{ search, change, title }} comparison={comparison.data} />
      ) : (
        <Loading what="the comparison" lines={10} />
      )}
    </>
  );
}

function queryOf(search: CompareSearch) {
  return {
    base: search.base,
    base_pool: search.basePool,
    base_cpu_model: search.baseCpu,
    base_run_id: search.baseRun,
    base_case_id: search.baseCase,
    other: search.other,
    other_pool: search.otherPool,
    other_cpu_model: search.otherCpu,
    other_run_id: search.otherRun,
    other_case_id: search.otherCase,
  };
}

interface ResultsProps {
  title: string;
  search: CompareSearch;
  comparison: Comparison;
  change: (next: CompareSearch) => void;
}

function Results({ title, search, comparison, change }: ResultsProps) {
  const { base, other, cells } = comparison;
  if (!base || !other) {
    return (
      <Empty title="Nothing to compare yet">
        {comparison.subjects.length === 0 ? (
          <FirstRun />
        ) : (
          <FirstRun how="No other version shares a case with this one. Choose another one, or measure several versions in one run:" />
        )}
      </Empty>
    );
  }
  if (cells.length === 0) return <NothingShared comparison={comparison} />;
  const differences = differenceText(comparison);
  return (
    <>
      <h2>{title}</h2>
      {comparison.upgrade && <p className="answer">{storyOf(comparison.upgrade)}</p>}
      <WaitsLine comparison={comparison} />
      <OnHosts cells={cells} />
      {comparison.upgrade && (
        <p>
          <Link {...paths.upgrade(base.subject.library, base.subject.name, other.subject.name)}>
            What the changes have in common
          </Link>
        </p>
      )}
      {differences && <p>{differences}</p>}
      <Changes {...{ title, comparison, change }} view={search} />
    </>
  );
}

function NothingShared({ comparison: { base, other } }: { comparison: Comparison }) {
  const isSame = base?.subject.name === other?.subject.name && base?.case_id === other?.case_id;
  return (
    <Empty title={isSame ? "Both are the same" : "Nothing in common"}>
      <p>
        {isSame
          ? "Choose another version, or a pool and CPU, a run or a case for each."
          : "No case was measured for both of these choices."}
      </p>
    </Empty>
  );
}
