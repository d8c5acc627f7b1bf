// What a machine cannot tell apart is not shown as told apart: a qualified host kind's limits laid over changes. Pure.
import type { Cell, Metric, QualificationRow, SubjectView } from "@/api/generated";
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
    const claims = change?.verdict === "more" || change?.verdict === "less";
    if (!change || !claims || limit === undefined || Math.abs(change.ratio - 1) >= limit) return cell;
    const why = `below the ${format.share(limit)} that this machine resolves`;
    return { ...cell, change: { ...change, verdict: "unresolved", warnings: [...cautionsOf(change), why] } };
  });
}
