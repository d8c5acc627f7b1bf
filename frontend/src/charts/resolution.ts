// What a machine cannot tell apart is not shown as told apart: a qualified host kind's limits laid over changes. Pure.
import type { Cell, Change, Metric, QualificationRow, SideChange, SubjectView } from "@/api/generated";
import * as format from "@/format";
import { cautionsOf } from "./cautions";

type Limit = Pick<QualificationRow, "library" | "cannot_resolve_below"> & { case: { id: string } };

/** A/A runs are judged by the CPU time of both sides: they prove nothing about other metrics. */
export const QUALIFIED: Metric = "cpu_ns";

/**
 * The same cells, but where a change counts as more or less and is smaller than its library and case can be
 * resolved on this machine, it is unresolved and says why. "Same" stays: it claims no difference.
 */
export function withinResolution(
  cells: Cell[],
  subjects: SubjectView[],
  metric: Metric,
  limits: Limit[],
): Cell[] {
  if (metric !== QUALIFIED || limits.length === 0) return cells;
  const libraries = new Map(subjects.map(({ subject, library }) => [subject, library]));
  const byCell = new Map(limits.map((one) => [`${one.library} ${one.case.id}`, one.cannot_resolve_below]));
  return cells.map((cell) => {
    const limit = byCell.get(`${libraries.get(cell.subject)} ${cell.case_id}`);
    const { change } = cell;
    if (!change || limit === undefined) return cell;
    const sides = { client: sideWithin(change.client, limit), server: sideWithin(change.server, limit) };
    if (!isTooSmall(change, limit)) return { ...cell, change: { ...change, ...sides } };
    const why = `below the ${format.share(limit)} that this machine resolves`;
    const warnings = [...cautionsOf(change), why];
    return { ...cell, change: { ...change, ...sides, verdict: "unresolved", warnings } };
  });
}

/** Whether more or less is claimed of a change that the machine cannot resolve. */
function isTooSmall({ ratio, verdict }: Pick<Change, "ratio" | "verdict">, limit: number): boolean {
  return (verdict === "more" || verdict === "less") && Math.abs(ratio - 1) < limit;
}

/** What both sides together cannot resolve, one alone cannot either. */
function sideWithin(side: SideChange | null | undefined, limit: number): SideChange | null {
  if (!side) return null;
  return isTooSmall(side, limit) ? { ...side, verdict: "unresolved" } : side;
}
