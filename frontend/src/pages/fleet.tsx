// Fleet: all pools and nodes side by side, those with findings first.

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { Fleet } from "@/api/generated";
import { fleetOptions } from "@/api/generated/@tanstack/react-query.gen";
import { FirstRun } from "@/components/FirstRun";
import { FleetTable } from "@/components/FleetTable";
import { NODES_ON_A_PAGE, nodesOf } from "@/components/fleet-model";
import { MixedPoolNotice } from "@/components/MixedPoolNotice";
import { count, dateTime } from "@/format";
import { paths } from "@/paths";
import type { FleetSearch } from "@/search";
import { Controls } from "@/ui/Controls";
import { Select, TextFilter } from "@/ui/Fields";
import { Empty, Failed, Loading } from "@/ui/Notes";
import { useTitle } from "@/ui/title";

const route = getRouteApi("/fleet");
const POLL_MS = 60_000;

export const firstAnswer = () => fleetOptions();

export function FleetPage() {
  const fleet = useQuery({ ...firstAnswer(), placeholderData: keepPreviousData, refetchInterval: POLL_MS });
  useTitle("Fleet");
  return (
    <>
      <h1>Fleet</h1>
      {fleet.data ? (
        <Results fleet={fleet.data} />
      ) : fleet.isError ? (
        <Failed error={fleet.error} retry={() => void fleet.refetch()} />
      ) : (
        <Loading what="the machines" lines={10} />
      )}
    </>
  );
}

function Results({ fleet }: { fleet: Fleet }) {
  const { pool, node, from = 0 } = route.useSearch();
  if (fleet.pools.length === 0 || !fleet.until) {
    return (
      <Empty title="No machine has measured anything yet">
        <FirstRun />
      </Empty>
    );
  }
  const nodes = nodesOf(fleet, pool, node);
  const shown = nodes.slice(from, from + NODES_ON_A_PAGE);
  return (
    <>
      <Choices fleet={fleet} />
      <p className="answer">{sentenceOf(nodes)}</p>
      {fleet.pools.map(
        (each) =>
          each.mixed_pool &&
          (!pool || each.pool === pool) && <MixedPoolNotice key={each.pool} mixed={each.mixed_pool} />,
      )}
      {shown.length > 0 ? <FleetTable nodes={shown} /> : <NoNode />}
      <nav className="pager" aria-label="Pages of nodes">
        {from > 0 && (
          <Link {...paths.fleet({ pool, node, from: before(from) })}>Previous {NODES_ON_A_PAGE}</Link>
        )}
        {nodes.length > from + shown.length && (
          <Link {...paths.fleet({ pool, node, from: from + NODES_ON_A_PAGE })}>
            Next of {count(nodes.length, "node")}
          </Link>
        )}
      </nav>
      <Terms fleet={fleet} />
    </>
  );
}

function NoNode() {
  return (
    <Empty title="No such node">
      <p>
        It had no job in 90 days. <Link {...paths.fleet()}>Show all nodes</Link>
      </p>
    </Empty>
  );
}

/** Absent on the first page. */
function before(from: number): number | undefined {
  return Math.max(0, from - NODES_ON_A_PAGE) || undefined;
}

function sentenceOf(nodes: ReturnType<typeof nodesOf>): string {
  const off = nodes.filter(({ differs }) => differs).length;
  const aside = nodes.filter(({ set_aside }) => set_aside).length;
  const differ =
    off === 0 ? "none differs from its peers" : `${off} differ${off === 1 ? "s" : ""} from the peers`;
  return `${count(nodes.length, "node")}: ${differ}, ${aside === 0 ? "none is" : aside === 1 ? "1 is" : `${aside} are`} set aside.`;
}

function Choices({ fleet }: { fleet: Fleet }) {
  const { pool = "", node = "" } = route.useSearch();
  const navigate = route.useNavigate();
  const change = (next: FleetSearch) =>
    void navigate({ search: (now) => ({ ...now, from: undefined, ...next }), replace: true });
  const all = fleet.pools.map(({ pool, nodes }) => ({
    value: pool,
    label: `${pool} (${count(nodes.length, "node")})`,
  }));
  return (
    <Controls>
      <Select
        label="Pool"
        value={pool}
        choices={[{ value: "", label: "all" }, ...all]}
        choose={(chosen) => change({ pool: chosen || undefined })}
      />
      <TextFilter
        label="Node"
        value={node}
        placeholder="part of its name"
        enter={(entered) => change({ node: entered || undefined })}
      />
    </Controls>
  );
}

function Terms({ fleet: { until, not_stored } }: { fleet: Fleet }) {
  return (
    <details>
      <summary>Column definitions</summary>
      <dl className="terms">
        <dt>Findings</dt>
        <dd>
          What may affect the numbers of a node. A node differs if the sentinel costs at least 0.5% more or
          less there than on comparable nodes of its pool, by its newest runs. At most 1 of 100 pools of equal
          nodes has such a finding by chance. The other findings are those of the node’s last job. Jobs do not
          record what <code>kexbench doctor</code> checks beyond that: {not_stored.join(", ")}.
        </dd>
        <dt>Sentinel</dt>
        <dd>
          The cost of the frozen subject in each of the last 30 runs, with its 95% confidence interval. The
          line is the median of comparable nodes of the pool. Upwards is slower.
        </dd>
        <dt>Detectable change</dt>
        <dd>
          The smallest change of the sentinel that ten invocations would show there, by the noise within these
          runs. The page Machine has the resolution of comparisons.
        </dd>
        <dt>Jobs</dt>
        <dd>
          Those that began in the days shown, up to {until && dateTime(until)}. A lost job was followed by
          another attempt. A failed one has no result, and its run failed. The reason is in the events of the
          run.
        </dd>
      </dl>
    </details>
  );
}
