// What a host kind's qualification says in words, and its rows in reading order. Pure.
import type { QualificationRow } from "@/api/generated";
import { count, share } from "@/format";

/** By library; the case that can be told apart worst comes first. */
export function inOrder(rows: QualificationRow[]): QualificationRow[] {
  return [...rows].sort(
    (a, b) => compare(a.library, b.library) || b.cannot_resolve_below - a.cannot_resolve_below,
  );
}

/** "With 10 invocations this machine tells changes of 0.40% or more for most cases." The median over all rows. */
export function abilityInWords(rows: QualificationRow[]): string {
  const [first] = rows;
  if (!first) return "";
  const limit = share(median(rows.map((row) => row.cannot_resolve_below)));
  const whom = rows.length > 1 ? "for most cases" : "in the one case that was tried";
  return `With ${count(first.group, "invocation")} this machine tells changes of ${limit} or more ${whom}.`;
}

/** Which of the two decides what cannot be resolved. */
export function decidedBy({
  layout_floor,
  smallest_detectable_change,
}: QualificationRow): "layout" | "noise" {
  return (layout_floor ?? 0) > smallest_detectable_change ? "layout" : "noise";
}

/** Of an even number the upper one, so that it holds for at least half of them. */
function median(values: number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
