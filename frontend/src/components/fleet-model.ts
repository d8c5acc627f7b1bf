// The nodes of a fleet in one list, the most urgent ones first, and what is said about each. Pure.
import type { Fleet, FleetNode, NodeState } from "@/api/generated";
import { count, machineChange, percentInterval } from "@/format";
import { type FleetSort, NODE_STATES } from "@/search";

export const NODES_ON_A_PAGE = 50;

export interface PooledNode extends FleetNode {
  pool: string;
}

/** What is said of nodes in a state. */
const STATES: Record<NodeState, { label: string; one: string; several: string }> = {
  differs: {
    label: "Differs from its peers",
    one: "differs from its peers",
    several: "differ from their peers",
  },
  silent: { label: "Silent", one: "is silent", several: "are silent" },
  "jobs lost or failed": {
    label: "Jobs lost or failed",
    one: "had jobs lost or failed",
    several: "had jobs lost or failed",
  },
  warning: { label: "Other warnings", one: "has other warnings", several: "have other warnings" },
  "set aside": { label: "Set aside", one: "is set aside", several: "are set aside" },
  fine: { label: "Fine", one: "is fine", several: "are fine" },
};

export interface FleetChoice {
  pool?: string | undefined;
  state?: NodeState | undefined;
  /** a part of its name */
  node?: string | undefined;
}

export function nodesOf(
  { pools }: Fleet,
  { pool, state, node }: FleetChoice,
  sort?: FleetSort,
): PooledNode[] {
  const part = node?.toLowerCase();
  return pools
    .filter((each) => !pool || each.pool === pool)
    .flatMap(({ pool, nodes }) => nodes.map((node) => ({ ...node, pool })))
    .filter((each) => (!state || each.state === state) && (!part || each.node.toLowerCase().includes(part)))
    .sort(ORDERS[sort ?? "state"]);
}

type Order = (a: PooledNode, b: PooledNode) => number;
const newestCost = ({ sentinel }: FleetNode) => sentinel.at(-1)?.ratio ?? 0;
/** Nodes that are equal here keep the API’s order within their pool. */
const ORDERS: Record<FleetSort | "state", Order> = {
  state: (a, b) => NODE_STATES.indexOf(a.state) - NODE_STATES.indexOf(b.state),
  name: (a, b) => a.node.localeCompare(b.node, "en", { numeric: true }),
  cost: (a, b) => newestCost(b) - newestCost(a),
  seen: (a, b) => Date.parse(a.last_seen) - Date.parse(b.last_seen),
  jobs: (a, b) => b.failed_jobs + b.lost_jobs - a.failed_jobs - a.lost_jobs,
};

export function stateLabel(state: NodeState): string {
  return STATES[state].label;
}

/** "3 differ from their peers": the states that some of the nodes are in. */
export function stateCounts(nodes: PooledNode[]): { state: NodeState; amount: number; text: string }[] {
  return NODE_STATES.map((state) => {
    const amount = nodes.filter((node) => node.state === state).length;
    const says = amount === 1 ? STATES[state].one : STATES[state].several;
    return { state, amount, text: `${amount.toLocaleString("en-US")} ${says}` };
  }).filter(({ amount }) => amount > 0);
}

/** "Silent: no result for 21 days" */
export function silentText({ silent_days }: FleetNode): string | undefined {
  return silent_days === null ? undefined : `Silent: no result for ${count(silent_days, "day")}`;
}

/** "3.0% slower than its 3 peers [+2.1%, +3.9%], by 5 runs" */
export function differsText({ differs }: FleetNode): string | undefined {
  if (!differs) return undefined;
  const { ratio, runs, peers } = differs;
  const than = peers === 1 ? "its only peer, or the peer is at fault" : `its ${count(peers, "peer")}`;
  return `${machineChange(ratio)} than ${than} ${percentInterval(differs)}, by ${count(runs, "run")}`;
}

/** "2 lost, 1 failed; invocations: 3 crashed" */
export function troublesText({ lost_jobs, failed_jobs, failures }: FleetNode): string | undefined {
  const jobs = [lost_jobs && `${lost_jobs} lost`, failed_jobs && `${failed_jobs} failed`].filter(Boolean);
  const kinds = Object.entries(failures).map(([kind, times]) => `${times} ${kind}`);
  const parts = [jobs.join(", "), kinds.length > 0 && `invocations: ${kinds.join(", ")}`].filter(Boolean);
  return parts.join("; ") || undefined;
}

export function daysText({ days }: FleetNode): string {
  const all = days.reduce((sum, each) => sum + each, 0);
  return `${count(all, "invocation")} in ${count(days.length, "day")}, ${days.at(-1) ?? 0} on the last`;
}

/** "30 runs; the newest is 3.0% slower than the pool’s median" */
export function sentinelText({ sentinel }: FleetNode): string {
  const newest = sentinel.at(-1);
  if (!newest) return "not measured";
  const change = machineChange(newest.ratio);
  const where = change === "unchanged" ? "at the pool’s median" : `${change} than the pool’s median`;
  return `${count(sentinel.length, "run")}; the newest is ${where}`;
}

export interface Mark {
  run_id: string;
  x: number;
  /** 0 to 1, upwards */
  y: number;
  low: number;
  high: number;
}

/** Equal costs have the same height in all charts: a chart spans at least so much to each side of the median. */
const LEAST_SPAN = 0.02;

export function marksOf({ sentinel }: FleetNode): Mark[] {
  const ends = sentinel.flatMap(({ ratio, low, high }) => [low ?? ratio, high ?? ratio]);
  const span = Math.max(LEAST_SPAN, ...ends.map((end) => Math.abs(end - 1)));
  const y = (ratio: number) => (ratio - 1) / (2 * span) + 0.5;
  return sentinel.map(({ run_id, ratio, low, high }, index) => ({
    run_id,
    x: sentinel.length > 1 ? index / (sentinel.length - 1) : 0.5,
    y: y(ratio),
    low: y(low ?? ratio),
    high: y(high ?? ratio),
  }));
}
