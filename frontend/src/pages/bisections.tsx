// Bisections: what was asked, how far each is, and the answers.
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { BisectionSummary } from "@/api/generated";
import { bisectionsOptions } from "@/api/generated/@tanstack/react-query.gen";
import { BisectionState } from "@/components/BisectionState";
import { isSearching } from "@/components/bisection-model";
import { count, dateTime } from "@/format";
import { paths } from "@/paths";
import { Empty, Failed, Loading } from "@/ui/Notes";
import { useTitle } from "@/ui/title";

const route = getRouteApi("/bisections");
const PAGE = 20;
const POLL_MS = 5000;

export function BisectionsPage() {
  const { before } = route.useSearch();
  const found = useQuery({
    ...bisectionsOptions({ query: { limit: PAGE, before } }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => state.data?.bisections.some((one) => isSearching(one.state)) && POLL_MS,
  });
  useTitle("Bisections");
  const next = found.data?.next_before;
  return (
    <>
      <h1>Bisections</h1>
      {found.data ? (
        <BisectionList bisections={found.data.bisections} />
      ) : found.isError ? (
        <Failed error={found.error} retry={() => void found.refetch()} />
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
        <p>Where two commits of a library differ, the page of their run finds the one between them. Or:</p>
        <pre>kexbench bisect openssl openssl-3.5.0 openssl-3.5.4 --queued</pre>
      </Empty>
    );
  }
  return (
    <ul className="runs">
      {bisections.map((one) => (
        <li key={one.bisection_id} className="commit">
          <h2>
            <Link {...paths.bisection(one.bisection_id)}>
              {one.library}: {one.good} to {one.bad}
            </Link>{" "}
            <BisectionState state={one.state} />
          </h2>
          <p>
            <time dateTime={one.asked_at}>{dateTime(one.asked_at)}</time>, {one.asked_by},{" "}
            {count(one.runs, "run")}
          </p>
          {one.detail && <p className="said">{one.detail}</p>}
        </li>
      ))}
    </ul>
  );
}
