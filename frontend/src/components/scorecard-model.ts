// The figures of a table of the scorecard, column by column. Pure.
import type { ScorecardCell, ScorecardRow } from "@/api/generated";

/** 0 to 1, from the left of the column. */
export type ColumnScale = (value: number) => number;

/** Of each column, from none to the largest of its figures; none where there are not two figures to compare. */
export function columnScales(rows: readonly ScorecardRow[]): (ColumnScale | undefined)[] {
  const width = Math.max(0, ...rows.map((row) => row.cells.length));
  return Array.from({ length: width }, (_, column) =>
    scaleOf(rows.flatMap((row) => row.cells[column] ?? [])),
  );
}

function scaleOf(cells: ScorecardCell[]): ColumnScale | undefined {
  const figures = cells.filter((cell) => cell.value != null);
  const ends = figures.flatMap(({ value, low, high }) => [value, low, high].filter((bound) => bound != null));
  const [least, most] = [Math.min(0, ...ends), Math.max(...ends)];
  if (figures.length < 2 || most === least) return undefined;
  return (value) => Math.min(1, Math.max(0, (value - least) / (most - least)));
}
