// Fleet: all pools and nodes side by side, the most urgent ones first.

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Fragment } from "react";
import type { Fleet, FleetPool, NodeState } from "@/api/generated";
import { fleetOptions } from "@/api/generated/@tanstack/react-query.gen";
import { FirstRun } from "@/components/FirstRun";
import { FleetTable } from "@/components/FleetTable";
import {
  type FleetChoice,
  NODES_ON_A_PAGE,
  nodesOf,
  type PooledNode,
  stateCounts,
  stateLabel,
} from "@/components/fleet-model";
import { MixedPoolNotice } from "@/components/MixedPoolNotice";
import { count, dateTime } from "@/format";
import { paths } from "@/paths";
import { type FleetSearch, NODE_STATES } from "@/search";
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
  const { from = 0, sort, ...choice } = route.useSearch();
  const navigate = route.useNavigate();
  if (fleet.pools.length === 0 || !fleet.until) {
    return (
      <Empty title="No machine has measured anything yet">
        <FirstRun />
      </Empty>
    );
  }
  const { pool, node } = choice;
  const change = (next: FleetSearch) =>
    void navigate({ search: (now) => ({ ...now, from: undefined, ...next }), replace: true });
  const nodes = nodesOf(fleet, choice, sort);
  const shown = nodes.slice(from, from + NODES_ON_A_PAGE);
  return (
    <>
      <Summary nodes={nodesOf(fleet, { pool, node })} choice={choice} until={fleet.until} />
      <Choices fleet={fleet} choice={choice} change={change} />
      <MixedPools pools={fleet.pools} chosen={pool} />
      {shown.length > 0 ? (
        <FleetTable nodes={shown} sort={sort} sortBy={(sort) => change({ sort })} />
      ) : (
        <NoNode />
      )}
      {nodes.length > shown.length && (
        <nav className="pager" aria-label="Pages of nodes">
          {from > 0 && (
            <Link {...paths.fleet({ ...choice, sort, from: before(from) })}>Previous {NODES_ON_A_PAGE}</Link>
          )}{" "}
          {from + 1} to {from + shown.length} of {count(nodes.length, "node")}{" "}
          {nodes.length > from + shown.length && (
            <Link {...paths.fleet({ ...choice, sort, from: from + NODES_ON_A_PAGE })}>
              Next {NODES_ON_A_PAGE}
            </Link>
          )}
        </nav>
      )}
      <Terms fleet={fleet} />
    </>
  );
}

function Summary({ nodes, choice, until }: { nodes: PooledNode[]; choice: FleetChoice; until: string }) {
  return (
    <p className="answer">
      {count(nodes.length, "node")}
      {stateCounts(nodes).map(({ state, text }, index) => (
        <Fragment key={state}>
          {index === 0 ? ": " : ", "}
          <Link {...paths.fleet({ ...choice, state })}>{text}</Link>
        </Fragment>
      ))}
      . The newest result is from {dateTime(until)}.
    </p>
  );
}

/** One notice in full, or the names of several pools: a notice for each would push the nodes off the screen. */
function MixedPools({ pools, chosen }: { pools: FleetPool[]; chosen: string | undefined }) {
  const mixed = pools.flatMap(({ pool, mixed_pool }) =>
    mixed_pool && (!chosen || pool === chosen) ? [mixed_pool] : [],
  );
  const [only] = mixed;
  if (!only) return null;
  if (chosen || pools.length === 1) return <MixedPoolNotice mixed={only} />;
  return (
    <p>
      Pools whose nodes are not comparable:{" "}
      {mixed.map(({ pool }, index) => (
        <Fragment key={pool}>
          {index > 0 && ", "}
          <Link {...paths.fleet({ pool })}>{pool}</Link>
        </Fragment>
      ))}
    </p>
  );
}

function NoNode() {
  return (
    <Empty title="No node matches">
      <p>
        Nodes without a job in 90 days are not listed. <Link {...paths.fleet()}>Show all nodes</Link>
      </p>
    </Empty>
  );
}

/** Absent on the first page. */
function before(from: number): number | undefined {
  return Math.max(0, from - NODES_ON_A_PAGE) || undefined;
}

interface ChoicesProps {
  fleet: Fleet;
  choice: FleetChoice;
  change: (next: FleetSearch) => void;
}

function Choices({ fleet, choice: { pool = "", state, node = "" }, change }: ChoicesProps) {
  const pools = fleet.pools.map(({ pool, nodes }) => ({
    value: pool,
    label: `${pool} (${count(nodes.length, "node")})`,
  }));
  const states = NODE_STATES.map((value) => ({ value, label: stateLabel(value) }));
  return (
    <Controls>
      <Select<NodeState | "">
        label="State"
        value={state ?? ""}
        choices={[{ value: "", label: "all" }, ...states]}
        choose={(chosen) => change({ state: chosen || undefined })}
      />
      <Select
        label="Pool"
        value={pool}
        choices={[{ value: "", label: "all" }, ...pools]}
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

function Terms({ fleet: { until, days, not_stored } }: { fleet: Fleet }) {
  return (
    <details>
      <summary>Column definitions</summary>
      <dl className="terms">
        <dt>Findings</dt>
        <dd>
          What may affect the numbers of a node, and what it lacks. A silent node has no result in the seven
          days before the newest one. A node differs if the sentinel costs at least 0.5% more or less there
          than on comparable nodes of its pool, by its newest runs. At most 1 of 100 pools of equal nodes has
          such a finding by chance. The other findings are those of the node’s last job. Jobs do not record
          what <code>kexbench doctor</code> checks beyond that: {not_stored.join(", ")}.
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
        <dt>Last seen</dt>
        <dd>The last result, and the invocations on each of {days.length} days.</dd>
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
