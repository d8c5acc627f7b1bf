// Bisections: their commits, progress and answers.

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { BisectionSummary } from "@/api/generated";
import { bisectionsOptions } from "@/api/generated/@tanstack/react-query.gen";
import { BisectionState } from "@/components/BisectionState";
import { isSearching } from "@/components/bisection-model";
import { count, dateTime } from "@/format";
import { paths } from "@/paths";
import type { RunsSearch } from "@/search";
import { Code } from "@/ui/Code";
import { Empty, Failed, Loading } from "@/ui/Notes";
import { useTitle } from "@/ui/title";

const route = getRouteApi("/bisections");
const PAGE = 20;
const POLL_MS = 5000;

export const firstAnswer = ({ before }: RunsSearch) => bisectionsOptions({ query: { limit: PAGE, before } });

export function BisectionsPage() {
  const { before } = route.useSearch();
  const bisections = useQuery({
    ...firstAnswer({ before }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) =>
      state.data?.bisections.some((bisection) => isSearching(bisection.state)) && POLL_MS,
  });
  useTitle("Bisections");
  const next = bisections.data?.next_before;
  return (
    <>
      <h1>Bisections</h1>
      {bisections.data ? (
        <BisectionList bisections={bisections.data.bisections} />
      ) : bisections.isError ? (
        <Failed error={bisections.error} retry={() => void bisections.refetch()} />
      ) : (
        <Loading what="the bisections" />
      )}
      <nav className="pager" aria-label="Pages of bisections">
        {before && <Link {...paths.bisections()}>Newest</Link>}
        {next && <Link {...paths.bisections({ before: next })}>Older</Link>}
      </nav>
    </>
  );
}

function BisectionList({ bisections }: { bisections: BisectionSummary[] }) {
  if (bisections.length === 0) {
    return (
      <Empty title="No bisections yet">
        <p>
          A bisection finds the commit that changed a cost. Start it on the page of a run that compares two
          commits, or from the command line:
        </p>
        <Code className="command">kexbench bisect openssl openssl-3.5.0 openssl-3.5.4 --queued</Code>
      </Empty>
    );
  }
  return (
    <ul className="runs">
      {bisections.map((bisection) => (
        <li key={bisection.bisection_id} className="commit">
          <h2>
            <Link {...paths.bisection(bisection.bisection_id)}>
              {bisection.library}: {bisection.good} to {bisection.bad}
            </Link>{" "}
            <BisectionState state={bisection.state} />
          </h2>
          <p>
            <time dateTime={bisection.asked_at}>{dateTime(bisection.asked_at)}</time>, {bisection.asked_by},{" "}
            {count(bisection.runs, "run")}
          </p>
          {bisection.detail && <p className="said">{bisection.detail}</p>}
        </li>
      ))}
    </ul>
  );
}
