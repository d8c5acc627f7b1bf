// Stacks in words: where a cost stands, and why one has no rank or no number. Pure.
import type { StackCell, StackColumn, Stacks, WorkloadCost } from "@/api/generated";
import { dateTime } from "@/format";

type Ranked = Pick<StackCell, "standing" | "ratio" | "reason"> & { outcome?: StackCell["outcome"] };

/** Columns that stand below one heading. */
export interface Heading {
  heading: string;
  columns: number;
}

export function headingsOf(columns: readonly Pick<StackColumn, "heading">[]): Heading[] {
  const headings: Heading[] = [];
  for (const { heading } of columns) {
    const last = headings.at(-1);
    if (last?.heading === heading) last.columns += 1;
    else headings.push({ heading, columns: 1 });
  }
  return headings;
}

/** "cheapest", "not told apart", "other work", "unsupported"; undefined where the relative cost says it. */
export function standingText({ standing, outcome }: Ranked): string | undefined {
  switch (standing) {
    case "cheapest":
      return "cheapest";
    case "equal":
      return "not told apart";
    case "more":
      return undefined;
    case "missing":
      return outcome ?? "not measured";
    case "alone":
      return "nothing to compare";
    default:
      return standing;
  }
}

/** Why cells have no rank or no number, each reason once with its cells. */
export function reasonsOf({ stacks, columns }: Pick<Stacks, "stacks" | "columns">) {
  const reasons = new Map<string, string[]>();
  for (const { heading, title, cells } of columns) {
    cells.forEach((cell, place) => {
      if (!cell.reason) return;
      const words =
        cell.standing === "missing" && cell.outcome ? `${cell.outcome}: ${cell.reason}` : cell.reason;
      const known = reasons.get(words) ?? [];
      reasons.set(words, [...known, `${stacks[place]?.end.label}: ${heading}, ${title}`]);
    });
  }
  return [...reasons].map(([words, cells]) => ({ words, cells }));
}

/** The certificates that a mix can have, as the columns name them. */
export function certificatesOf(columns: readonly Pick<StackColumn, "kind" | "title">[]): string[] {
  return columns.filter(({ kind }) => kind === "full").map(({ title }) => title);
}

/** The commands that measure the costs of a column again, each once. */
export function commandsOf({ cells }: Pick<StackColumn, "cells">): string[] {
  return [...new Set(cells.flatMap(({ command }) => command ?? []))];
}

/** The runs of all numbers, the newest first. */
export function runsOf(columns: readonly Pick<StackColumn, "cells">[]): string[] {
  const cells = columns.flatMap(({ cells }) => cells.filter(({ cpu_ns }) => cpu_ns));
  const newest = cells.toSorted((one, other) =>
    (other.measured_at ?? "").localeCompare(one.measured_at ?? ""),
  );
  return [...new Set(newest.flatMap(({ run_id }) => run_id ?? []))];
}

/** "measured 2026-11-29 13:10 UTC in run …" */
export function measuredText({ measured_at, run_id }: Pick<StackCell, "measured_at" | "run_id">): string {
  return `measured ${measured_at ? dateTime(measured_at) : "at an unknown time"} in run ${run_id}`;
}

export function costOf(costs: readonly WorkloadCost[], subject: string): WorkloadCost | undefined {
  return costs.find((cost) => cost.subject === subject);
}
