// A cell's history as a small line: where its points are in a unit square, and the same in words. Pure.
import type { CellHistory, HistoryLine } from "@/api/generated";
import { count, time } from "@/format";

export interface SparkLine {
  /** polylines from the left, interrupted where nothing was measured; 0 to 1, upwards */
  parts: [x: number, y: number][][];
  base: [x: number, y: number] | undefined;
  other: [x: number, y: number] | undefined;
}

export function sparkLines(history: CellHistory[], lines: HistoryLine[]): SparkLine[] {
  const all = history.flatMap(({ values }) => values.filter((value) => value !== null));
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const y = (value: number) => (high > low ? (value - low) / (high - low) : 0.5);
  return history.flatMap(({ line, values }): SparkLine[] => {
    const own = lines[line];
    if (!own) return [];
    const at = (index: number | null): [number, number] | undefined => {
      const value = index === null ? null : values[index];
      if (index === null || value === null || value === undefined) return undefined;
      return [values.length > 1 ? index / (values.length - 1) : 0.5, y(value)];
    };
    const parts: SparkLine["parts"] = [[]];
    values.forEach((_, index) => {
      const point = at(index);
      if (point) parts.at(-1)?.push(point);
      else parts.push([]);
    });
    return [
      {
        parts: parts.filter((part) => part.length > 0),
        base: at(own.base),
        other: at(own.other),
      },
    ];
  });
}

/** "12 versions, 3.0.1 to 3.5.4: 1,020 µs to 1,105 µs" */
export function sparkText(history: CellHistory[], lines: HistoryLine[]): string {
  const texts = history.flatMap(({ line, values }) => {
    const measured = values.flatMap((value, index) =>
      value === null ? [] : [{ value, version: lines[line]?.versions[index] ?? "" }],
    );
    const [first, last] = [measured[0], measured.at(-1)];
    if (!first || !last || measured.length < 2) return [];
    return [
      `${count(measured.length, "version")}, ${first.version} to ${last.version}: ${time(first.value)} to ${time(last.value)}`,
    ];
  });
  return texts.join("; ") || "one version";
}
