// An upgrade: the result in a sentence, the common factors of the changes, every cell, and the background.

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Candidate, ComparedEnd, Comparison, Factor, Upgrade } from "@/api/generated";
import { alertsOptions, compareOptions, filtersOptions } from "@/api/generated/@tanstack/react-query.gen";
import { candidatesOf } from "@/api/problem";
import { MoveChart } from "@/charts/MoveChart";
import { AlertStatus } from "@/components/AlertStatus";
import { ChangeFilters, Changes, OnHosts } from "@/components/Changes";
import { factorInk, factorText, factorTitle, gapsOf, movedOf } from "@/components/change-model";
import { captionOf } from "@/components/chart-caption";
import { alertOf, compareTitle, endName, storyOf } from "@/components/compared-ends";
import { FindCommitOfRun } from "@/components/FindCommitOfRun";
import { useCpuNames } from "@/components/HostName";
import { HostSelect } from "@/components/HostSelect";
import { type Library, libraryOf } from "@/components/libraries";
import { RunLink } from "@/components/RunLink";
import { RunsAside } from "@/components/RunsAside";
import { WaitsLine } from "@/components/WaitsLine";
import { WhySection } from "@/components/WhySection";
import { whyCommand } from "@/components/why-model";
import { share } from "@/format";
import { paths } from "@/paths";
import { site } from "@/published";
import type { UpgradeSearch } from "@/search";
import { versionText } from "@/subjects";
import { ChartFrame } from "@/ui/ChartFrame";
import { Controls } from "@/ui/Controls";
import { Facts, Lines } from "@/ui/Fields";
import { Failed, Loading } from "@/ui/Notes";
import { Reasons } from "@/ui/Reasons";
import { useTitle } from "@/ui/title";

const route = getRouteApi("/upgrades/$library/$before/$after");

interface Versions {
  library: string;
  before: string;
  after: string;
}

export const firstAnswer = ({ library, before, after, pool, cpu }: UpgradeSearch & Versions) => {
  const [base, other] = [before, after].map((end) =>
    end.startsWith(`${library}@`) ? end : `${library}@${end}`,
  );
  const ends = { base, base_pool: pool, base_cpu_model: cpu, other, other_pool: pool, other_cpu_model: cpu };
  return { ...compareOptions({ query: ends }), enabled: libraryOf(library) !== undefined };
};

export function UpgradePage() {
  const { library: name, before, after } = route.useParams();
  const search = route.useSearch();
  const library = libraryOf(name);
  const comparison = useQuery({
    ...firstAnswer({ ...search, library: name, before, after }),
    placeholderData: keepPreviousData,
  });
  const { base, other, upgrade } = comparison.data ?? {};
  const cpuNameOf = useCpuNames();
  const title = comparison.data ? compareTitle(comparison.data, cpuNameOf) : `${name} ${before} → ${after}`;
  useTitle(title);
  return (
    <>
      <p className="crumbs">
        <Link {...paths.upgrades()}>All upgrades</Link>
      </p>
      <h1>{title}</h1>
      <RunsAside shown={comparison.data?.cells.flatMap(({ run_ids }) => run_ids)} />
      {library === undefined ? (
        <p>There is no library {name}.</p>
      ) : comparison.data && base && other && upgrade ? (
        <Report {...{ library, title, base, other, upgrade }} comparison={comparison.data} />
      ) : comparison.data ? (
        <p>Both are the same.</p>
      ) : comparison.isError ? (
        <>
          <Failed error={comparison.error} retry={() => void comparison.refetch()} />
          <Candidates candidates={candidatesOf(comparison.error)} />
        </>
      ) : (
        <Loading what="the upgrade" lines={10} />
      )}
    </>
  );
}

/** The possible meanings of an ambiguous version, as links to the same upgrade with the full name. */
function Candidates({ candidates }: { candidates: Candidate[] }) {
  const { library, before, after } = route.useParams();
  const search = route.useSearch();
  if (candidates.length === 0) return null;
  const end = (name: string, candidate: Candidate) => (name === candidate.asked ? candidate.subject : name);
  return (
    <ul className="plain">
      {candidates.map((candidate) => (
        <li key={candidate.subject}>
          <Link {...paths.upgrade(library, end(before, candidate), end(after, candidate), search)}>
            {candidate.version}, {candidate.source}, {candidate.build_profile_label}
          </Link>
        </li>
      ))}
    </ul>
  );
}

interface ReportProps {
  library: Library;
  title: string;
  base: ComparedEnd;
  other: ComparedEnd;
  upgrade: Upgrade;
  comparison: Comparison;
}

function Report(report: ReportProps) {
  const { library, title, base, other, upgrade, comparison } = report;
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change = (next: UpgradeSearch) =>
    void navigate({ search: (now) => ({ ...now, ...next }), replace: true });
  const { pool, cpu } = search;
  const ends: [string, string] = [base.subject.name, other.subject.name];
  const gaps = gapsOf(upgrade.missing);
  return (
    <>
      <p className="answer">{storyOf(upgrade)}</p>
      <WaitsLine comparison={comparison} />
      <OnHosts cells={comparison.cells} />
      {!site && <UpgradeAlert comparison={comparison} />}
      <ChangeControls search={search} change={change} />
      <Changes {...{ title, comparison, change }} view={search}>
        <CommonFactors subjects={title} factors={upgrade.factors} cells={comparison.cells} />
      </Changes>
      <p>
        <Link {...paths.compare({ subject: ends[0], pool, cpu }, { subject: ends[1], pool, cpu })}>
          Compare other versions
        </Link>
      </p>
      <WhySection
        {...{ library, ends, title }}
        caseId={search.case}
        choose={(next) => change({ case: next })}
        uncounted={
          <>
            No instructions have been counted yet. To count them, run{" "}
            <code>{whyCommand(library, base.subject.source, other.subject.source)}</code>.
          </>
        }
      />
      {!site && <FindCommitOfRun runId={movedOf(comparison.cells)[0]?.run_ids[0]} />}
      <Remarks title="Changed defaults" remarks={upgrade.defaults} />
      <Remarks title="Security fixes" remarks={upgrade.security} />
      {gaps.length > 0 && (
        <section>
          <h2>Missing results</h2>
          <Reasons reasons={gaps} />
        </section>
      )}
      <Details {...report} />
    </>
  );
}

function UpgradeAlert({ comparison }: { comparison: Comparison }) {
  const { library = "" } = comparison.base?.subject ?? {};
  const { data } = useQuery(alertsOptions({ query: { library: [library], kind: "upgrade", limit: 200 } }));
  const alert = alertOf(comparison, data?.alerts ?? []);
  if (!alert) return null;
  return (
    <p>
      <Link {...paths.alert(alert.alert_id)}>Alert for this upgrade</Link>{" "}
      <AlertStatus status={alert.status} />
    </p>
  );
}

interface ControlsProps {
  search: UpgradeSearch;
  change: (next: UpgradeSearch) => void;
}

function ChangeControls({ search, change }: ControlsProps) {
  const hostKinds = useQuery(filtersOptions()).data?.host_kinds ?? [];
  const { pool, cpu } = search;
  return (
    <Controls>
      {hostKinds.length > 1 && (
        <HostSelect
          hostKinds={hostKinds}
          current={hostKinds.find((kind) => kind.pool === pool && kind.cpu_model === cpu)}
          choose={change}
          all
        />
      )}
      <ChangeFilters view={search} change={change} />
    </Controls>
  );
}

interface FactorsProps {
  /** the versions in words */
  subjects: string;
  factors: Factor[];
  cells: Comparison["cells"];
}

function CommonFactors({ subjects, factors, cells }: FactorsProps) {
  if (factors.length === 0) return null;
  return (
    <section>
      <h2>Common factors</h2>
      <ChartFrame
        caption={captionOf({
          title: "Common factors",
          subjects,
          hosts: cells.map(({ host_kind }) => host_kind),
        })}
      >
        <MoveChart
          label="Common factors"
          lines={factors.map((factor) => ({
            key: `${factor.dimension} ${factor.value} ${factor.side}`,
            name: <b>{factorTitle(factor)}</b>,
            marks: [{ ink: factorInk(factor), move: factor }],
            words: factorText(factor),
          }))}
        />
      </ChartFrame>
    </section>
  );
}

function Remarks({ title, remarks }: { title: string; remarks: string[] }) {
  if (remarks.length === 0) return null;
  return (
    <section>
      <h2>{title}</h2>
      <ul className="plain">
        {remarks.map((remark) => (
          <li key={remark}>{remark}</li>
        ))}
      </ul>
    </section>
  );
}

function Details({ base, other, comparison: { cells, relevant } }: ReportProps) {
  const runs = [...new Set(cells.flatMap(({ run_ids }) => run_ids))].map((runId) => (
    <RunLink key={runId} runId={runId} className="below" />
  ));
  const end = (shown: ComparedEnd): ReactNode => (
    <Lines lines={[endName(shown), shown.subject.source, shown.subject.build_profile_label]} />
  );
  return (
    <section>
      <h2>Details</h2>
      <Facts
        facts={[
          ["Before", end(base)],
          ["After", end(other)],
          ["Runs", runs.length > 0 ? runs : "none"],
          ["Relevant change", `${share(relevant)} or more, with a controlled false discovery rate`],
          [
            "Command",
            <code key="command">
              kexbench upgrade {base.subject.library} {versionText(base.subject)} {versionText(other.subject)}
            </code>,
          ],
        ]}
      />
    </section>
  );
}
