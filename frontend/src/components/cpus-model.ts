// One case on all CPUs in words: why a cost has no ratio, and which features a library used. Pure.
import type { CaseView, CpuRow } from "@/api/generated";
import { factor, plainInterval } from "@/format";

/** "1.53× [1.52, 1.54]", or why there is no ratio. */
export function relativeText({ relation, relative }: Pick<CpuRow, "relation" | "relative">): string {
  if (relative) return `${factor(relative.ratio)} ${plainInterval(relative)}`;
  switch (relation) {
    case "base":
      return "reference";
    case "other version":
      return "not compared: this version was not measured on the reference";
    case "other work":
      return "not comparable";
    default:
      return "not compared: too few invocations";
  }
}

/** What the case takes away of the CPU's features, if anything. */
export function maskText({ cpu_features: mask }: Pick<CaseView, "cpu_features">): string | undefined {
  return mask && mask !== "native" ? `This case allows only the CPU features of ${mask}.` : undefined;
}

/** Libraries, each with its rows; the fastest CPU first. */
export function byLibrary(rows: CpuRow[]): [library: string, rows: CpuRow[]][] {
  const libraries = [...new Set(rows.map(({ subject }) => subject.library))];
  return libraries.map((library) => [
    library,
    rows
      .filter(({ subject }) => subject.library === library)
      .sort((a, b) => a.estimate.value - b.estimate.value),
  ]);
}

/** The width of a bar, relative to the greatest rate. */
export function rateShare(rows: CpuRow[], { estimate }: CpuRow): number {
  return Math.min(...rows.map((row) => row.estimate.value)) / estimate.value;
}
