// An upgrade: what became of the costs in a sentence, what the moves share, every cell, and what it all rests on.
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Candidate, Factor, MissingCell, UpgradeCell, UpgradeReport } from "@/api/generated";
import {
  alertsOptions,
  filtersOptions,
  upgradeReportOptions,
} from "@/api/generated/@tanstack/react-query.gen";
import { candidatesOf } from "@/api/problem";
import { MoveChart } from "@/charts/MoveChart";
import { AlertStatus } from "@/components/AlertStatus";
import { FindCommitOfRun } from "@/components/FindCommitOfRun";
import { HostSelect } from "@/components/HostSelect";
import { libraryOf } from "@/components/libraries";
import { UpgradeMoves } from "@/components/UpgradeMoves";
import { UpgradeTable } from "@/components/UpgradeTable";
import {
  alertOf,
  alongText,
  blindText,
  factorInk,
  factorText,
  factorTitle,
  gapsOf,
  runIdsOf,
  type Sorted,
  sorted,
  storyOf,
  tallyOf,
  titleOf,
} from "@/components/upgrade-model";
import { count, share } from "@/format";
import { paths } from "@/paths";
import type { UpgradeSearch } from "@/search";
import { Facts, Lines } from "@/ui/Fields";
import { Failed, Loading } from "@/ui/Notes";
import { useTitle } from "@/ui/title";

const route = getRouteApi("/upgrades/$library/$before/$after");

export function UpgradePage() {
  const { library, before, after } = route.useParams();
  const { pool, cpu } = route.useSearch();
  const report = useQuery({
    ...upgradeReportOptions({
      query: { library: libraryOf(library) ?? "fake", before, after, pool, cpu_model: cpu },
    }),
    enabled: libraryOf(library) !== undefined,
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
      {libraryOf(library) === undefined ? (
        <p>There is no library {library}.</p>
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

/** What an ambiguous version may mean, as links to the same upgrade with that end named in full. */
function Candidates({ candidates }: { candidates: Candidate[] }) {
  const { library, before, after } = route.useParams();
  const search = route.useSearch();
  if (candidates.length === 0) return null;
  const end = (asked: string, candidate: Candidate) =>
    asked === candidate.asked ? candidate.subject : asked;
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
  const cells = sorted(report.cells);
  return (
    <>
      <p className="answer">{storyOf(report)}</p>
      <Along cells={report.cells} />
      <Tally report={report} />
      <TheAlert report={report} />
      <Machines />
      {report.factors.length > 0 && <Shared factors={report.factors} />}
      <Moved cells={cells} />
      <Rest cells={cells} />
      <FindCommitOfRun runId={cells.moved[0]?.run_ids[0]} />
      <Changed title="What those get who configure nothing" changes={report.defaults} />
      <Changed title="What the upgrade mends" changes={report.security} />
      {report.missing.length > 0 && <Missing missing={report.missing} />}
      <Ends report={report} />
    </>
  );
}

/** Whose gain it may be. */
function Along({ cells }: { cells: UpgradeCell[] }) {
  const along = alongText(cells);
  if (!along) return null;
  return (
    <p>
      With <b>{along}</b>: part of a change may be theirs, not the library’s.
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

function TheAlert({ report }: { report: UpgradeReport }) {
  const { data } = useQuery(
    alertsOptions({ query: { library: [report.library], kind: "upgrade", limit: 200 } }),
  );
  const alert = alertOf(report, data?.alerts ?? []);
  if (!alert) return null;
  return (
    <p>
      <Link {...paths.alert(alert.alert_id)}>Its alert</Link> <AlertStatus status={alert.status} />
    </p>
  );
}

function Machines() {
  const { pool, cpu } = route.useSearch();
  const navigate = route.useNavigate();
  const hostKinds = useQuery(filtersOptions()).data?.host_kinds ?? [];
  if (hostKinds.length < 2) return null;
  return (
    <form className="controls" aria-label="What to show" onSubmit={(event) => event.preventDefault()}>
      <HostSelect
        hostKinds={hostKinds}
        current={hostKinds.find((kind) => kind.pool === pool && kind.cpu_model === cpu)}
        choose={(next: UpgradeSearch) => void navigate({ search: next, replace: true })}
        all
      />
    </form>
  );
}

function Shared({ factors }: { factors: Factor[] }) {
  return (
    <section>
      <h2>What the moves share</h2>
      <MoveChart
        label="What the moves share"
        lines={factors.map((factor) => ({
          key: `${factor.dimension} ${factor.value} ${factor.side}`,
          name: <b>{factorTitle(factor)}</b>,
          marks: [{ ink: factorInk(factor), move: factor }],
          words: factorText(factor),
        }))}
      />
    </section>
  );
}

function Moved({ cells: { moved } }: { cells: Sorted }) {
  if (moved.length === 0) return null;
  return (
    <section>
      <h2>What moved</h2>
      <UpgradeMoves cells={moved} />
      <Numbers label="The same in numbers" cells={moved} />
    </section>
  );
}

function Rest({ cells: { unresolved, same, unlike, apart } }: { cells: Sorted }) {
  return (
    <>
      {unlike.length > 0 && (
        <section>
          <h2>Not the same in both versions</h2>
          <p>Both were measured, but the handshakes are not alike: nothing is said of their costs.</p>
          <UpgradeTable label="Cases that are not alike" cells={unlike} />
        </section>
      )}
      {apart.length > 0 && (
        <section>
          <h2>Measured apart</h2>
          <p>
            No run has both, and the runs share no other subject that tells what their machines did: nothing
            is said of their costs. A run that has both compares them.
          </p>
          <UpgradeTable label="Cases that were measured apart" cells={apart} />
        </section>
      )}
      {unresolved.length > 0 && (
        <section>
          <h2>What can’t be told from no change</h2>
          <p>
            In {count(unresolved.length, "comparison")} {blindText(unresolved)}. More invocations see more.
          </p>
          <Numbers label="Those that can’t be resolved" cells={unresolved} />
        </section>
      )}
      {same.length > 0 && (
        <section>
          <h2>What did not move</h2>
          <p>{count(same.length, "comparison")} without a change.</p>
          <Numbers label="Those without a change" cells={same} />
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

function Changed({ title, changes }: { title: string; changes: string[] }) {
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
      <h2>Without a number</h2>
      <ul className="specs">
        {gapsOf(missing).map(({ version, reason, titles }) => (
          <li key={`${version} ${reason}`}>
            <p>
              <b>{version}</b>: {reason}
            </p>
            <p>
              <Lines lines={titles} />
            </p>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Ends({ report }: { report: UpgradeReport }) {
  const { before, after, relevant, cells } = report;
  const runs = runIdsOf(cells).map(
    (runId): ReactNode => (
      <span key={runId} className="below">
        <Link {...paths.run(runId)}>{runId}</Link>
      </span>
    ),
  );
  return (
    <section>
      <h2>What it rests on</h2>
      <Facts
        facts={[
          [
            "Before",
            <Lines key="before" lines={[before.label, before.source, before.build_profile_label]} />,
          ],
          ["After", <Lines key="after" lines={[after.label, after.source, after.build_profile_label]} />],
          ["Runs", runs.length > 0 ? runs : "none"],
          ["Called moved", `from ${share(relevant)}, with the false discoveries of all cells in check`],
          [
            "In a terminal",
            <code key="command">
              kexbench upgrade {report.library} {before.version} {after.version}
            </code>,
          ],
        ]}
      />
    </section>
  );
}
