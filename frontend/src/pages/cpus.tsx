// CPUs: one case on all CPUs and pools: rates, costs relative to one of them, and the gain of the newest version.

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { CpuRow, Cpus, Filters } from "@/api/generated";
import { cpusOptions, filtersOptions } from "@/api/generated/@tanstack/react-query.gen";
import { cpusOf } from "@/api/libraries";
import { caveatsOf } from "@/charts/change-words";
import { MetricSelect } from "@/components/CellChoice";
import { byLibrary, maskText, rateShare, relativeText } from "@/components/cpus-model";
import { FirstRun } from "@/components/FirstRun";
import { HostName } from "@/components/HostName";
import { HostSelect, hostLabel } from "@/components/HostSelect";
import { libraryTitle } from "@/components/libraries";
import { MoveText } from "@/components/MoveText";
import { RunLink } from "@/components/RunLink";
import { RunsAside } from "@/components/RunsAside";
import { VerdictText } from "@/components/VerdictText";
import * as format from "@/format";
import { paths } from "@/paths";
import { site } from "@/published";
import type { CpusSearch } from "@/search";
import { endText, versionText } from "@/subjects";
import { Controls } from "@/ui/Controls";
import { Checks, Select } from "@/ui/Fields";
import { Frame } from "@/ui/Frame";
import { Empty, Failed, Loading } from "@/ui/Notes";
import { useTitle } from "@/ui/title";

const route = getRouteApi("/cpus");

export const firstAnswer = ({ case: case_id, metric, pool, cpu }: CpusSearch) =>
  cpusOptions({ query: { case_id, metric, pool, cpu_model: cpu } });

export function CpusPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change = (next: Partial<CpusSearch>) =>
    void navigate({ search: (now) => ({ ...now, ...next }), replace: true });
  const filters = useQuery(filtersOptions()).data;
  const cpus = useQuery({
    ...firstAnswer(search),
    select: (all) => cpusOf(all, search.library),
    placeholderData: keepPreviousData,
  });
  useTitle("CPUs");
  return (
    <>
      <h1>CPUs</h1>
      <RunsAside />
      {cpus.data && filters && (
        <PageControls search={search} filters={filters} cpus={cpus.data} change={change} />
      )}
      {cpus.data ? (
        <Results cpus={cpus.data} />
      ) : cpus.isError ? (
        <Failed error={cpus.error} retry={() => void cpus.refetch()} />
      ) : (
        <Loading what="the CPUs" lines={10} />
      )}
    </>
  );
}

interface PageControlsProps {
  search: CpusSearch;
  filters: Filters;
  cpus: Cpus;
  change: (next: Partial<CpusSearch>) => void;
}

function PageControls({ search, filters, cpus, change }: PageControlsProps) {
  if (!cpus.case) return null;
  return (
    <Controls label="Choices">
      <Select
        label="Case"
        value={cpus.case.id}
        choices={cpus.choices.map(({ id, title }) => ({ value: id, label: title }))}
        choose={(next) => change({ case: next })}
      />
      <HostSelect label="Reference" hostKinds={cpus.host_kinds} current={cpus.base} choose={change} />
      <MetricSelect
        metrics={filters.metrics}
        metric={search.metric}
        choose={(next) => change({ metric: next })}
      />
      <Checks
        label="Libraries"
        all={filters.libraries}
        chosen={search.library ?? []}
        choose={(library) => change({ library })}
      />
    </Controls>
  );
}

function Results({ cpus }: { cpus: Cpus }) {
  const { base, rows } = cpus;
  if (!cpus.case || !base || rows.length === 0) {
    return (
      <Empty title="No results">
        {cpus.choices.length === 0 ? <FirstRun /> : <p>Nothing was measured for this choice.</p>}
      </Empty>
    );
  }
  const mask = maskText(cpus.case);
  return (
    <>
      <h2>{cpus.case.title}</h2>
      <p>
        The newest version of each library on each CPU.{" "}
        {cpus.host_kinds.length > 1 ? (
          <>
            Costs are relative to <HostName kind={base} />. The machines were not measured in turns, so these
            ratios have no verdict.
          </>
        ) : (
          "Only one CPU has measured this case."
        )}{" "}
        Changes were measured on each CPU itself: from the nearest lower version of the library that was
        measured beside it there, whatever its build.
      </p>
      {mask && <p>{mask}</p>}
      <p>
        <Link {...paths.trends({ case: [cpus.case.id], split: "cpu" })}>Trends on each CPU</Link>
      </p>
      {byLibrary(rows).map(([library, own]) => (
        <section key={library}>
          <h2>{libraryTitle(library)}</h2>
          <CpuTable library={library} rows={own} cpus={cpus} />
        </section>
      ))}
    </>
  );
}

function CpuTable({ library, rows, cpus }: { library: string; rows: CpuRow[]; cpus: Cpus }) {
  const isRate = format.isRate(cpus.metric);
  return (
    <Frame label={`${libraryTitle(library)} on each CPU`}>
      <table className="numbers history cpus">
        <thead>
          <tr>
            <th scope="col">Pool and CPU</th>
            <th scope="col">{isRate ? "Rate and cost" : format.costTitle(cpus.metric)}</th>
            <th scope="col">Change on this CPU</th>
            <th scope="col">Relative cost</th>
            <th scope="col">CPU features</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row key={hostLabel(row.host_kind)} {...{ row, cpus }} share={rateShare(rows, row)} />
          ))}
        </tbody>
      </table>
    </Frame>
  );
}

function Row({
  row,
  cpus: { case: shown, metric, base },
  share,
}: {
  row: CpuRow;
  cpus: Cpus;
  share: number;
}) {
  const { host_kind, subject, estimate, change } = row;
  const { pool, cpu_model: cpu } = host_kind;
  const isRate = format.isRate(metric);
  return (
    <tr>
      <th scope="row">
        <Link {...paths.series({ case: shown?.id ?? "", metric, pool, cpu })}>
          <HostName kind={host_kind} />
        </Link>
        <small className="below">
          {endText({ ...subject, version: versionText(subject) })},{" "}
          <RunLink runId={row.run_id}>{format.dateTime(row.measured_at)}</RunLink>
        </small>
      </th>
      <td className="cost">
        {isRate && format.headline(estimate.value, metric)}
        <span className="bar" style={{ width: `${share * 100}%` }} aria-hidden />
        <span className="below">
          {format.cost(estimate.value, metric)} <small>{format.interval(estimate, metric)}</small>
        </span>
        <small className="below">{format.invocations(estimate)}</small>
      </td>
      <td>
        {change ? (
          <>
            <MoveText move={change} />{" "}
            <VerdictText {...change} metric={metric} cautions={caveatsOf(change)} />
            <small className="below">from {endText(change.before)}</small>
          </>
        ) : (
          "not compared"
        )}
      </td>
      <td className={row.relative ? "whole" : undefined}>
        {relativeText(row)}
        {!site && row.relative && base && (
          <small className="below">
            <Link
              {...paths.compare(
                { subject: subject.name, pool: base.pool, cpu: base.cpu_model },
                { subject: subject.name, pool, cpu },
              )}
            >
              Compare all cases
            </Link>
          </small>
        )}
        {row.cautions.map((caution) => (
          <small key={caution} className="below">
            {caution}
          </small>
        ))}
      </td>
      <td className="profile">
        <Features row={row} />
      </td>
    </tr>
  );
}

/** The CPU's features are no proof that a library used them, so both are named. */
function Features({ row: { cpu_features: has, used_features: used } }: { row: CpuRow }) {
  return (
    <>
      The CPU has {has.length > 0 ? has.join(", ") : "none that is known"}.
      <span className="below">
        {used ? `The library used ${used.join(", ") || "none"}.` : "What the library used is not known."}
      </span>
    </>
  );
}
