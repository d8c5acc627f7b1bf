// The qualification of a host kind in words, and its rows in reading order. Pure.
import type { QualificationRow } from "@/api/generated";
import { count, share } from "@/format";

/** By library; the case with the worst resolution comes first. */
export function inOrder(rows: QualificationRow[]): QualificationRow[] {
  return [...rows].sort(
    (a, b) => compare(a.library, b.library) || b.cannot_resolve_below - a.cannot_resolve_below,
  );
}

/** "With 10 invocations, this machine detects changes of 0.40% or more in most cases." The median over all rows. */
export function resolutionInWords(rows: QualificationRow[]): string {
  const [first] = rows;
  if (!first) return "";
  const limit = share(median(rows.map((row) => row.cannot_resolve_below)));
  const cases = rows.length > 1 ? "in most cases" : "in the only case measured";
  return `With ${count(first.group, "invocation")}, this machine detects changes of ${limit} or more ${cases}.`;
}

/** Which of the two limits the resolution. */
export function limitedBy({
  layout_floor,
  smallest_detectable_change,
}: QualificationRow): "layout" | "noise" {
  return (layout_floor ?? 0) > smallest_detectable_change ? "layout" : "noise";
}

/** With an even number of values, the upper median, so that it holds for at least half of them. */
function median(values: number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
