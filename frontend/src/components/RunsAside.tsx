// Runs with results that are not part of the history: shown because nothing else is there yet, or left out.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { RunsAside as Aside, RunChoice } from "@/api/generated";
import { filtersOptions } from "@/api/generated/@tanstack/react-query.gen";
import { count, dateTime } from "@/format";
import { paths } from "@/paths";

/** Every page with an overview has it, so that what was measured is never missing without a word. `shown`: the runs of the
 * answer, on a page that can rest on runs aside. */
export function RunsAside({ shown = [] }: { shown?: readonly string[] }) {
  const filters = useQuery(filtersOptions()).data;
  if (!filters) return null;
  const { aside, metrics } = filters;
  const hasSides = metrics.some(({ metric, stored }) => metric === "server_cpu_ns" && stored);
  if (aside.shows_first_looks) return <ShownFirstLooks aside={aside} hasSides={hasSides} />;
  const isShown = ({ run_id }: RunChoice) => shown.includes(run_id);
  const looks = aside.newest.filter(isShown);
  const newest = aside.newest.filter((look) => !isShown(look));
  return (
    <>
      {looks.length > 0 && (
        <p className="aside-runs">
          {new Set(shown).size > looks.length ? "Partly from" : "From"}{" "}
          {looks.length === 1 ? "a first look" : "first looks"} (<code>--quick</code>): a few short
          invocations of each case. <FirstLooks newest={looks} all={looks.length} />
        </p>
      )}
      <LeftOut aside={{ ...aside, first_looks: aside.first_looks - looks.length, newest }} />
    </>
  );
}

interface ShownProps {
  aside: Aside;
  /** whether any result has client and server apart */
  hasSides: boolean;
}

function ShownFirstLooks({ aside: { first_looks, newest }, hasSides }: ShownProps) {
  return (
    <p className="aside-runs">
      {first_looks === 1 ? "A first look" : "First looks"} (<code>--quick</code>): a few short invocations of
      each case. A run without <code>--quick</code> takes {first_looks === 1 ? "its" : "their"} place.{" "}
      {!hasSides &&
        "Other programs disturbed every invocation, so costs of client and server apart are missing. "}
      <FirstLooks newest={newest} all={first_looks} />
    </p>
  );
}

function LeftOut({ aside: { first_looks, newest, others } }: { aside: Aside }) {
  if (first_looks + others === 0) return null;
  return (
    <details className="aside-runs">
      <summary>
        Not shown here:{" "}
        {[
          first_looks > 0 && count(first_looks, "first look (--quick)", "first looks (--quick)"),
          others > 0 && count(others, "run for another question", "runs for other questions"),
        ]
          .filter(Boolean)
          .join(" and ")}
      </summary>
      {first_looks > 0 && (
        <p>
          First looks: <FirstLooks newest={newest} all={first_looks} />
        </p>
      )}
      {others > 0 && (
        <p>
          Bisections, backfills, searches for causes, interoperability and qualifications are under{" "}
          <Link {...paths.runs()}>Runs</Link>.
        </p>
      )}
    </details>
  );
}

/** More are counted. */
const NAMED = 5;

function FirstLooks({ newest, all }: { newest: RunChoice[]; all: number }) {
  const more = all - Math.min(newest.length, NAMED);
  return (
    <>
      {newest.slice(0, NAMED).map(({ run_id, spec_name, measured_at }, place) => (
        <span key={run_id}>
          {place > 0 && ", "}
          <Link {...paths.run(run_id)}>
            {spec_name}, {dateTime(measured_at)}
          </Link>
        </span>
      ))}
      {newest.length > 0 && more > 0 && (
        <>
          {" "}
          and <Link {...paths.runs()}>{count(more, "more", "more")}</Link>
        </>
      )}
      {newest.length > 0 && "."}
    </>
  );
}
