// The nodes of a fleet in one list, the ones with findings first, and what is said about each. Pure.
import type { Fleet, FleetNode } from "@/api/generated";
import { count, machineChange, percentInterval } from "@/format";

export const NODES_ON_A_PAGE = 50;

export interface PooledNode extends FleetNode {
  pool: string;
}

/** `node`: a part of its name */
export function nodesOf({ pools }: Fleet, pool: string | undefined, node: string | undefined): PooledNode[] {
  const all = pools.flatMap(({ pool, nodes }) => nodes.map((node) => ({ ...node, pool })));
  return all
    .filter((each) => (!pool || each.pool === pool) && (!node || each.node.includes(node)))
    .sort((a, b) => rank(a) - rank(b));
}

/** The order of the API within each pool, which ranks by as much. */
function rank({ differs, set_aside, findings }: FleetNode): number {
  if (differs) return 0;
  if (set_aside) return 1;
  return findings.some(({ verdict }) => verdict === "warning") ? 2 : 3;
}

/** "3.0% slower than its 3 peers [+2.1%, +3.9%], by 5 runs" */
export function differsText({ differs }: FleetNode): string | undefined {
  if (!differs) return undefined;
  const { ratio, runs, peers } = differs;
  const than = peers === 1 ? "its only peer, or the peer is at fault" : `its ${count(peers, "peer")}`;
  return `${machineChange(ratio)} than ${than} ${percentInterval(differs)}, by ${count(runs, "run")}`;
}

/** "40 jobs, 2 lost, 1 failed; 3 crashed" */
export function jobsText({ jobs, lost_jobs, failed_jobs, failures }: FleetNode): string {
  const troubles = [lost_jobs && `${lost_jobs} lost`, failed_jobs && `${failed_jobs} failed`].filter(Boolean);
  const kinds = Object.entries(failures).map(([kind, times]) => `${times} ${kind}`);
  return [[count(jobs, "job"), ...troubles].join(", "), ...kinds].join("; ");
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
