// Bisection: the answer first, then every commit that something is known of, and the runs that it rests on.
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { BisectionCommit, BisectionDetail, CaseStep } from "@/api/generated";
import { bisectionOptions } from "@/api/generated/@tanstack/react-query.gen";
import { BisectionControls } from "@/components/BisectionControls";
import { BisectionState } from "@/components/BisectionState";
import {
  chance,
  isSearching,
  knownOf,
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
  const found = useQuery({
    ...bisectionOptions({ path: { bisection_id: bisectionId } }),
    refetchInterval: ({ state }) => state.data && isSearching(state.data.summary.state) && POLL_MS,
  });
  useTitle(`Bisection ${bisectionId}`);
  return (
    <>
      <p className="crumbs">
        <Link {...paths.bisections()}>All bisections</Link>
      </p>
      {found.data ? (
        <Findings found={found.data} />
      ) : found.isError ? (
        <>
          <h1>Bisection {bisectionId}</h1>
          <Failed error={found.error} retry={() => void found.refetch()} />
        </>
      ) : (
        <Loading what="the bisection" lines={10} />
      )}
    </>
  );
}

function Findings({ found }: { found: BisectionDetail }) {
  const { summary, steps, runs } = found;
  const isBad = summary.state === "waiting" || summary.state === "not measured";
  return (
    <>
      <h1>
        {summary.library}: {summary.good} to {summary.bad} <BisectionState state={summary.state} />
      </h1>
      <p role="status" className={isBad ? "said bad" : "said"}>
        <b>{sentenceOf(found)}</b>
      </p>
      <BisectionControls key={summary.bisection_id} found={found} />
      {steps.length > 0 && <Steps steps={steps} />}
      {found.commits.length > 0 && <Commits found={found} />}
      {runs.length > 0 && <Runs found={found} />}
      <section>
        <h2>Bisection</h2>
        <Facts
          facts={[
            ["Asked for", `${dateTime(summary.asked_at)}, ${summary.asked_by}`],
            ["Repository", summary.repository],
            ["Commits", found.searched > 0 ? String(found.searched) : "not known yet"],
            ["Builds", found.most_builds === null ? "not known yet" : `at most ${found.most_builds}`],
            ["A measurement", `${count(found.invocations, "invocation")}, of the ends alone twice as many`],
            ["Cases", <Lines key="cases" lines={summary.cases.map((one) => one.title)} />],
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
      <h2>What the bad end costs against the good one</h2>
      <ul>
        {steps.map((step) => (
          <li key={step.case_id}>
            {step.title}: <b>{percent(step.ratio)}</b> {percentInterval(step.low, step.high)}
            {!step.changed && ", no change that the search could follow"}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Commits({ found }: { found: BisectionDetail }) {
  return (
    <section>
      <h2>Commits</h2>
      <p>How likely each one is the first that costs what the bad end does.</p>
      <Frame label="Commits in their order">
        <table className="numbers chances">
          <thead>
            <tr>
              <th scope="col">Commit</th>
              <th scope="col">Likely</th>
              <th scope="col">What is known</th>
            </tr>
          </thead>
          <tbody>
            {rowsOf(found.commits).map((row) =>
              row.kind === "gap" ? (
                <tr key={`gap ${row.after}`}>
                  <td colSpan={3} className="absent">
                    {count(row.commits, "commit")} that nothing is known of
                  </td>
                </tr>
              ) : (
                <CommitRow key={row.commit.number} commit={row.commit} found={found} />
              ),
            )}
          </tbody>
        </table>
      </Frame>
    </section>
  );
}

function CommitRow({ commit, found }: { commit: BisectionCommit; found: BisectionDetail }) {
  const runs = runsOf(found.runs, commit.number);
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
        {knownOf(commit, found.searched - 1)}
        {runs.map((run) => (
          <Link key={run.run_id} {...paths.run(run.run_id)} className="below">
            run {run.number}
          </Link>
        ))}
      </td>
    </tr>
  );
}

function Runs({ found }: { found: BisectionDetail }) {
  return (
    <section>
      <h2>Runs</h2>
      <ol className="runs" start={0}>
        {found.runs.map((run) => (
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
