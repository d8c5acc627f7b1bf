// An upgrade: the result in a sentence, the common factors of the changes, every cell, and the background.

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Candidate, MissingCell, UpgradeCell, UpgradeReport } from "@/api/generated";
import {
  alertsOptions,
  filtersOptions,
  upgradeReportOptions,
} from "@/api/generated/@tanstack/react-query.gen";
import { candidatesOf } from "@/api/problem";
import { MoveChart } from "@/charts/MoveChart";
import { AlertStatus } from "@/components/AlertStatus";
import { captionOf } from "@/components/chart-caption";
import { FindCommitOfRun } from "@/components/FindCommitOfRun";
import { HostSelect } from "@/components/HostSelect";
import { libraryOf } from "@/components/libraries";
import { RunLink } from "@/components/RunLink";
import { RunsAside } from "@/components/RunsAside";
import { UpgradeMoves } from "@/components/UpgradeMoves";
import { UpgradeTable } from "@/components/UpgradeTable";
import {
  alertOf,
  dependencyText,
  factorInk,
  factorText,
  factorTitle,
  gapsOf,
  resolutionText,
  runIdsOf,
  type Sorted,
  sorted,
  storyOf,
  tallyOf,
  titleOf,
} from "@/components/upgrade-model";
import { WhySection } from "@/components/WhySection";
import { whyCommand } from "@/components/why-model";
import { count, share } from "@/format";
import { paths } from "@/paths";
import { site } from "@/published";
import type { UpgradeSearch } from "@/search";
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

export const firstAnswer = ({ library, before, after, pool, cpu }: UpgradeSearch & Versions) => ({
  ...upgradeReportOptions({
    query: { library: libraryOf(library) ?? "fake", before, after, pool, cpu_model: cpu },
  }),
  enabled: libraryOf(library) !== undefined,
});

export function UpgradePage() {
  const { library, before, after } = route.useParams();
  const search = route.useSearch();
  const report = useQuery({
    ...firstAnswer({ ...search, library, before, after }),
    placeholderData: keepPreviousData,
  });
  const title = report.data ? titleOf(report.data) : `${library} ${before} → ${after}`;
  useTitle(title);
  return (
    <>
      <p className="crumbs">
        <Link {...paths.upgrades()}>All upgrades</Link>
      </p>
      <h1>{title}</h1>
      <RunsAside />
      {libraryOf(library) === undefined ? (
        <p>Unknown library: {library}</p>
      ) : report.data ? (
        <Report report={report.data} />
      ) : report.isError ? (
        <>
          <Failed error={report.error} retry={() => void report.refetch()} />
          <Candidates candidates={candidatesOf(report.error)} />
        </>
      ) : (
        <Loading what="the report" lines={10} />
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

function Report({ report }: { report: UpgradeReport }) {
  const { pool, cpu } = route.useSearch();
  const cells = sorted(report.cells);
  const [before, after] = [report.before, report.after].map(({ subject }) => ({ subject, pool, cpu }));
  return (
    <>
      <p className="answer">{storyOf(report)}</p>
      <p>
        <Link {...paths.compare(before, after)}>Compare case by case</Link>
      </p>
      <ChangedDependencies cells={report.cells} />
      <Tally report={report} />
      {!site && <UpgradeAlert report={report} />}
      <Machines />
      {report.factors.length > 0 && <CommonFactors report={report} />}
      <ChangedCases report={report} cells={cells} />
      <Why report={report} />
      <Rest cells={cells} />
      {!site && <FindCommitOfRun runId={cells.moved[0]?.run_ids[0]} />}
      <Changes title="Changed defaults" changes={report.defaults} />
      <Changes title="Security fixes" changes={report.security} />
      {report.missing.length > 0 && <Missing missing={report.missing} />}
      <Ends report={report} />
    </>
  );
}

function Why({ report }: { report: UpgradeReport }) {
  const { library, before, after } = report;
  const search = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <WhySection
      library={library}
      ends={[before.subject, after.subject]}
      title={titleOf(report)}
      caseId={search.case}
      choose={(next) => void navigate({ search: (now) => ({ ...now, case: next }), replace: true })}
      uncounted={
        <>
          No instructions have been counted yet. To count them, run{" "}
          <code>{whyCommand(library, before.source, after.source)}</code>.
        </>
      }
    />
  );
}

/** Dependencies may have caused part of a change. */
function ChangedDependencies({ cells }: { cells: UpgradeCell[] }) {
  const dependencies = dependencyText(cells);
  if (!dependencies) return null;
  return (
    <p>
      Dependencies changed as well (<b>{dependencies}</b>) and may cause part of the difference.
    </p>
  );
}

function Tally({ report }: { report: UpgradeReport }) {
  return (
    <ul className="tally">
      {tallyOf(report).map(([kind, words]) => (
        <li key={kind} className={kind}>
          {words}
        </li>
      ))}
    </ul>
  );
}

function UpgradeAlert({ report }: { report: UpgradeReport }) {
  const { data } = useQuery(
    alertsOptions({ query: { library: [report.library], kind: "upgrade", limit: 200 } }),
  );
  const alert = alertOf(report, data?.alerts ?? []);
  if (!alert) return null;
  return (
    <p>
      <Link {...paths.alert(alert.alert_id)}>Alert for this upgrade</Link>{" "}
      <AlertStatus status={alert.status} />
    </p>
  );
}

function Machines() {
  const { pool, cpu } = route.useSearch();
  const navigate = route.useNavigate();
  const hostKinds = useQuery(filtersOptions()).data?.host_kinds ?? [];
  if (hostKinds.length < 2) return null;
  return (
    <Controls>
      <HostSelect
        hostKinds={hostKinds}
        current={hostKinds.find((kind) => kind.pool === pool && kind.cpu_model === cpu)}
        choose={(next) => void navigate({ search: (now) => ({ ...now, ...next }), replace: true })}
        all
      />
    </Controls>
  );
}

function CommonFactors({ report }: { report: UpgradeReport }) {
  const subjects = titleOf(report);
  return (
    <section>
      <h2>Common factors</h2>
      <ChartFrame caption={captionOf({ title: "Common factors", subjects, hosts: report.cells })}>
        <MoveChart
          label="Common factors"
          lines={report.factors.map((factor) => ({
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

function ChangedCases({ report, cells: { moved } }: { report: UpgradeReport; cells: Sorted }) {
  if (moved.length === 0) return null;
  return (
    <section>
      <h2>Changed cases</h2>
      <UpgradeMoves cells={moved} subjects={titleOf(report)} />
      <Numbers label="Table of changed cases" cells={moved} />
    </section>
  );
}

function Rest({ cells: { unresolved, same, unlike, apart } }: { cells: Sorted }) {
  return (
    <>
      {unlike.length > 0 && (
        <section>
          <h2>Not comparable</h2>
          <p>The two versions negotiated different handshakes, so their costs get no verdict.</p>
          <UpgradeTable label="Cases that are not comparable" cells={unlike} />
        </section>
      )}
      {apart.length > 0 && (
        <section>
          <h2>Not compared</h2>
          <p>
            The versions were measured in different runs that share no subject, so a change of the machine
            cannot be ruled out. Measure both versions in one run to compare them.
          </p>
          <UpgradeTable label="Cases that are not compared" cells={apart} />
        </section>
      )}
      {unresolved.length > 0 && (
        <section>
          <h2>Unresolved</h2>
          <p>
            In {count(unresolved.length, "comparison")}, the change is not significant, or smaller than the
            resolution. {resolutionText(unresolved)} More invocations lower it.
          </p>
          <Numbers label="Table of unresolved cases" cells={unresolved} />
        </section>
      )}
      {same.length > 0 && (
        <section>
          <h2>Unchanged</h2>
          <p>{count(same.length, "comparison")} without a change.</p>
          <Numbers label="Table of unchanged cases" cells={same} />
        </section>
      )}
    </>
  );
}

function Numbers({ label, cells }: { label: string; cells: UpgradeCell[] }) {
  return (
    <details>
      <summary>{label}</summary>
      <UpgradeTable label={label} cells={cells} />
    </details>
  );
}

function Changes({ title, changes }: { title: string; changes: string[] }) {
  if (changes.length === 0) return null;
  return (
    <section>
      <h2>{title}</h2>
      <ul className="plain">
        {changes.map((change) => (
          <li key={change}>{change}</li>
        ))}
      </ul>
    </section>
  );
}

function Missing({ missing }: { missing: MissingCell[] }) {
  return (
    <section>
      <h2>Missing results</h2>
      <Reasons
        reasons={gapsOf(missing).map(({ version, reason, titles }) => ({
          words: `${version}, ${count(titles.length, "case")}: ${reason}`,
          cells: titles,
        }))}
      />
    </section>
  );
}

function Ends({ report }: { report: UpgradeReport }) {
  const { before, after, relevant, cells } = report;
  const runs = runIdsOf(cells).map(
    (runId): ReactNode => (
      <span key={runId} className="below">
        <RunLink runId={runId} />
      </span>
    ),
  );
  return (
    <section>
      <h2>Details</h2>
      <Facts
        facts={[
          [
            "Before",
            <Lines key="before" lines={[before.label, before.source, before.build_profile_label]} />,
          ],
          ["After", <Lines key="after" lines={[after.label, after.source, after.build_profile_label]} />],
          ["Runs", runs.length > 0 ? runs : "none"],
          ["Relevant change", `${share(relevant)} or more, with a controlled false discovery rate`],
          [
            "Command",
            <code key="command">
              kexbench upgrade {report.library} {before.version} {after.version}
            </code>,
          ],
        ]}
      />
    </section>
  );
}
