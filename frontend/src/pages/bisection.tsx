// Bisection: the answer first, then the tested commits and the runs.
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { BisectionCommit, BisectionDetail, CaseStep } from "@/api/generated";
import { bisectionOptions } from "@/api/generated/@tanstack/react-query.gen";
import { BisectionControls } from "@/components/BisectionControls";
import { BisectionState } from "@/components/BisectionState";
import {
  chance,
  commitStatus,
  isSearching,
  rowsOf,
  runsOf,
  sentenceOf,
  shortHash,
} from "@/components/bisection-model";
import { RunState } from "@/components/RunState";
import { count, dateTime, percent, percentInterval } from "@/format";
import { paths } from "@/paths";
import { Facts, Lines } from "@/ui/Fields";
import { Frame } from "@/ui/Frame";
import { Failed, Loading } from "@/ui/Notes";
import { useTitle } from "@/ui/title";

const route = getRouteApi("/bisections/$bisectionId");
const POLL_MS = 5000;

export function BisectionPage() {
  const { bisectionId } = route.useParams();
  const bisection = useQuery({
    ...bisectionOptions({ path: { bisection_id: bisectionId } }),
    refetchInterval: ({ state }) => state.data && isSearching(state.data.summary.state) && POLL_MS,
  });
  useTitle(`Bisection ${bisectionId}`);
  return (
    <>
      <p className="crumbs">
        <Link {...paths.bisections()}>All bisections</Link>
      </p>
      {bisection.data ? (
        <Findings bisection={bisection.data} />
      ) : bisection.isError ? (
        <>
          <h1>Bisection {bisectionId}</h1>
          <Failed error={bisection.error} retry={() => void bisection.refetch()} />
        </>
      ) : (
        <Loading what="the bisection" lines={10} />
      )}
    </>
  );
}

function Findings({ bisection }: { bisection: BisectionDetail }) {
  const { summary, steps, runs } = bisection;
  const isBad = summary.state === "waiting" || summary.state === "not measured";
  return (
    <>
      <h1>
        {summary.library}: {summary.good} to {summary.bad} <BisectionState state={summary.state} />
      </h1>
      <p role="status" className={isBad ? "said bad" : "said"}>
        <b>{sentenceOf(bisection)}</b>
      </p>
      <BisectionControls key={summary.bisection_id} bisection={bisection} />
      {steps.length > 0 && <Steps steps={steps} />}
      {bisection.commits.length > 0 && <Commits bisection={bisection} />}
      {runs.length > 0 && <Runs bisection={bisection} />}
      <section>
        <h2>Details</h2>
        <Facts
          facts={[
            ["Requested", `${dateTime(summary.asked_at)}, ${summary.asked_by}`],
            ["Repository", summary.repository],
            ["Commits", bisection.searched > 0 ? String(bisection.searched) : "unknown"],
            ["Builds", bisection.most_builds === null ? "unknown" : `at most ${bisection.most_builds}`],
            [
              "Invocations",
              `${bisection.invocations} per commit, ${2 * bisection.invocations} for a run of both ends`,
            ],
            ["Cases", <Lines key="cases" lines={summary.cases.map((caseView) => caseView.title)} />],
            ["Pool", summary.pool],
            ["Id", <code key="id">{summary.bisection_id}</code>],
          ]}
        />
      </section>
    </>
  );
}

function Steps({ steps }: { steps: CaseStep[] }) {
  return (
    <section>
      <h2>Cost of the bad commit relative to the good commit</h2>
      <ul>
        {steps.map((step) => (
          <li key={step.case_id}>
            {step.title}: <b>{percent(step.ratio)}</b> {percentInterval(step)}
            {!step.changed && ", not used in the search"}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Commits({ bisection }: { bisection: BisectionDetail }) {
  return (
    <section>
      <h2>Commits</h2>
      <p>Each row shows the probability that the commit introduced the change.</p>
      <Frame label="Commits in order">
        <table className="numbers chances">
          <thead>
            <tr>
              <th scope="col">Commit</th>
              <th scope="col">Probability</th>
              <th scope="col">Status</th>
            </tr>
          </thead>
          <tbody>
            {rowsOf(bisection.commits).map((row) =>
              row.kind === "gap" ? (
                <tr key={`gap ${row.after}`}>
                  <td colSpan={3} className="absent">
                    {count(row.commits, "untested commit")}
                  </td>
                </tr>
              ) : (
                <CommitRow key={row.commit.number} commit={row.commit} bisection={bisection} />
              ),
            )}
          </tbody>
        </table>
      </Frame>
    </section>
  );
}

function CommitRow({ commit, bisection }: { commit: BisectionCommit; bisection: BisectionDetail }) {
  const runs = runsOf(bisection.runs, commit.number);
  return (
    <tr>
      <th scope="row">
        <code title={commit.hash}>{shortHash(commit.hash)}</code> {commit.subject}
        <small className="below">
          {commit.number}, {commit.author}
        </small>
      </th>
      <td>
        {commit.probability !== null && commit.number > 0 && (
          <span className="chance">
            <span className="chance-bar" style={{ width: `${100 * commit.probability}%` }} />
            <span>{chance(commit.probability)}</span>
          </span>
        )}
      </td>
      <td>
        {commitStatus(commit, bisection.searched - 1)}
        {runs.map((run) => (
          <Link key={run.run_id} {...paths.run(run.run_id)} className="below">
            run {run.number}
          </Link>
        ))}
      </td>
    </tr>
  );
}

function Runs({ bisection }: { bisection: BisectionDetail }) {
  return (
    <section>
      <h2>Runs</h2>
      <ol className="runs" start={0}>
        {bisection.runs.map((run) => (
          <li key={run.run_id} className="commit">
            <p>
              <Link {...paths.run(run.run_id)}>
                Run {run.number}: {run.commit === null ? "both ends" : `commit ${run.commit}`}
              </Link>{" "}
              <RunState state={run.state} /> {run.invocations_stored} of {run.invocations_planned} invocations
            </p>
            {run.state === "failed" && run.detail && <p className="said">{run.detail}</p>}
          </li>
        ))}
      </ol>
    </section>
  );
}
