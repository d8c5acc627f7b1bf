// Runs: spec, time, machine and progress of each.

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { RunSummary } from "@/api/generated";
import { runsOptions } from "@/api/generated/@tanstack/react-query.gen";
import { CommitHash } from "@/components/CommitLine";
import { titleOf } from "@/components/commit-words";
import { FirstRun } from "@/components/FirstRun";
import { triggerText } from "@/components/queue-model";
import { FirstLookMark, isOpen, RunNote, RunProgress, RunState } from "@/components/RunState";
import { cpuName } from "@/cpu-name";
import { byLibrary, count, dateTime } from "@/format";
import { paths } from "@/paths";
import type { RunsSearch } from "@/search";
import { Empty, Failed, Loading } from "@/ui/Notes";
import { useTitle } from "@/ui/title";

const route = getRouteApi("/runs");
const PAGE = 20;
const POLL_MS = 3000;

export const firstAnswer = ({ before }: RunsSearch) => runsOptions({ query: { limit: PAGE, before } });

export function RunsPage() {
  const { before } = route.useSearch();
  const runs = useQuery({
    ...firstAnswer({ before }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => state.data?.runs.some((run) => isOpen(run.state)) && POLL_MS,
  });
  useTitle("Runs");
  return (
    <>
      <h1>Runs</h1>
      {runs.data ? (
        <RunList runs={runs.data.runs} />
      ) : runs.isError ? (
        <Failed error={runs.error} retry={() => void runs.refetch()} />
      ) : (
        <Loading what="the runs" />
      )}
      <nav className="pager" aria-label="Pages of runs">
        {before && <Link {...paths.runs()}>Newest</Link>}
        {runs.data?.next_before && <Link {...paths.runs({ before: runs.data.next_before })}>Older</Link>}
      </nav>
    </>
  );
}

function RunList({ runs }: { runs: RunSummary[] }) {
  if (runs.length === 0) {
    return (
      <Empty title="No runs yet">
        <FirstRun />
      </Empty>
    );
  }
  return (
    <ul className="runs">
      {runs.map((run) => (
        <li key={run.run_id}>
          <h2>
            <Link {...paths.run(run.run_id)}>{run.spec_name}</Link> <RunState state={run.state} />{" "}
            <FirstLookMark run={run} />
          </h2>
          <p className="when">
            <time dateTime={run.created_at}>{dateTime(run.created_at)}</time>,{" "}
            {run.commit ? (
              <>
                commit <CommitHash commit={run.commit} /> {titleOf(run.commit)}
              </>
            ) : (
              triggerText(run.trigger)
            )}
          </p>
          <p title={run.cpu_model ?? undefined}>
            {[run.pools.join(", "), run.cpu_model && cpuName(run.cpu_model)].filter(Boolean).join(": ")}
          </p>
          <p>
            {count(run.cases, "case")}, {byLibrary(run.subjects)}
          </p>
          <p>
            <RunProgress summary={run} />
          </p>
          <RunNote summary={run} />
        </li>
      ))}
    </ul>
  );
}
