// An upgrade in words and rows: what changed, what did not, what is unresolved. Pure.

import type {
  AlertSummary,
  ComponentChange,
  Factor,
  MissingCell,
  Move,
  SideMove,
  UpgradeCell,
  UpgradeReport,
} from "@/api/generated";
import { spreadText } from "@/charts/cautions";
import type { Ink, MoveLine } from "@/charts/MoveChart";
import { count, percent, percentInterval, share, significant } from "@/format";
import { componentText } from "@/subjects";
import { libraryTitle } from "./libraries";

const CONNECTIONS_PER_S = 10_000;
const NS_PER_S = 1e9;

type Ends = Pick<UpgradeReport, "library" | "before" | "after">;
export type Verdict = UpgradeCell["verdict"];

/** "OpenSSL 3.0.19 → 3.5.4" */
export function titleOf(ends: Ends): string {
  return `${libraryTitle(ends.library)} ${namesOf(ends).join(" → ")}`;
}

/** As alerts name the versions: "3.0.19", or "3.0.19 (debian/bookworm)" if both versions are the same. */
function namesOf({ before, after }: Ends): [string, string] {
  if (before.version !== after.version) return [before.version, after.version];
  return [`${before.version} (${before.source})`, `${after.version} (${after.source})`];
}

/** "crate/3.0.19 → debian/trixie": two builds of a version have other costs. */
export function sourcesOf({ before, after }: Pick<Ends, "before" | "after">): string {
  return `${before.source} → ${after.source}`;
}

const NAMED = /^[^:]* → [^:]*: /;

/** A sentence about an upgrade, for display below a heading that already names the versions. */
export function storyOf({ sentence }: { sentence: string }): string {
  const story = sentence.replace(NAMED, "");
  return story.charAt(0).toUpperCase() + story.slice(1);
}

export function verdictWord(verdict: Verdict): string {
  switch (verdict) {
    case "more":
      return "slower";
    case "less":
      return "faster";
    case "same":
      return "no change";
    case "unresolved":
      return "unresolved";
    case "unlike":
      return "not comparable";
    case "apart":
      return "not compared";
  }
}

/** The largest change first; cells without a ratio last. */
export function bySize<C extends { move: Move | null }>(cells: readonly C[]): C[] {
  return [...cells].sort((a, b) => sizeOf(b.move) - sizeOf(a.move));
}

function sizeOf(move: Move | null): number {
  return move ? Math.abs(Math.log(move.ratio)) : -1;
}

export interface Sorted {
  moved: UpgradeCell[];
  unresolved: UpgradeCell[];
  same: UpgradeCell[];
  unlike: UpgradeCell[];
  apart: UpgradeCell[];
}

export function sorted(cells: readonly UpgradeCell[]): Sorted {
  const of = (...verdicts: Verdict[]) => bySize(cells.filter((cell) => verdicts.includes(cell.verdict)));
  return {
    moved: of("more", "less"),
    unresolved: of("unresolved"),
    same: of("same"),
    unlike: of("unlike"),
    apart: of("apart"),
  };
}

const TALLY: [Verdict, string][] = [
  ["more", "slower"],
  ["less", "faster"],
  ["same", "unchanged"],
  ["unresolved", "unresolved"],
  ["unlike", "not comparable"],
  ["apart", "not compared"],
];

/** "6 slower", "20 unchanged", "1 without a result": how many cells have each verdict. */
export function tallyOf({ cells, missing }: Pick<UpgradeReport, "cells" | "missing">): [string, string][] {
  const verdicts = TALLY.map(([verdict, word]): [string, number, string] => [
    verdict,
    cells.filter((cell) => cell.verdict === verdict).length,
    word,
  ]);
  const tally = [...verdicts, ["missing", missing.length, "without a result"] as const];
  return tally.filter(([, amount]) => amount > 0).map(([kind, amount, word]) => [kind, `${amount} ${word}`]);
}

/** With several host kinds, each case is shown with its host kind. */
export function isOnSeveral(cells: readonly { pool: string; cpu_model: string }[]): boolean {
  return new Set(cells.map(({ pool, cpu_model }) => `${pool} ${cpu_model}`)).size > 1;
}

export function keyOf(cell: { case_id: string; pool: string; cpu_model: string }): string {
  return `${cell.case_id} ${cell.pool} ${cell.cpu_model}`;
}

/** Both sides together, then each side. */
export function marksOf({ verdict, move, client, server }: UpgradeCell): MoveLine["marks"] {
  const marks: [Ink, Move | null][] = [
    [verdict === "more" || verdict === "less" ? verdict : "same", move],
    ["client", client],
    ["server", server],
  ];
  return marks.flatMap(([ink, drawn]) => (drawn ? [{ ink, move: drawn }] : []));
}

export function moveText(move: Move): string {
  return `${percent(move.ratio)} ${percentInterval(move.low, move.high)}`;
}

/** "client +0.2% [−0.1%, +0.5%], no change" */
export function sideText(side: "client" | "server", move: SideMove): string {
  return `${side} ${moveText(move)}, ${verdictWord(move.verdict)}`;
}

/** "nettle 3.8.1 → 3.10.1, gmp 6.2.1 → 6.3.0": dependencies that changed together with the library, in any cell. */
export function dependencyText(cells: readonly { components?: readonly ComponentChange[] }[]): string {
  const changes = cells.flatMap((cell) => cell.components ?? []).map(componentText);
  return [...new Set(changes)].join(", ");
}

/** "client +0.2% […], no change; server +9.8% […], slower; server 1.7 → 1.8 cores for 10,000 connections/s" */
export function sidesText(
  cell: Pick<UpgradeCell, "client" | "server" | "server_before_ns" | "server_after_ns">,
): string {
  const { client, server } = cell;
  const sides = [client && sideText("client", client), server && sideText("server", server)];
  const cores = coresText(cell);
  const needed = cores && `server ${cores} cores for 10,000 connections/s`;
  return [...sides, needed].filter(Boolean).join("; ");
}

/** CPU cores that a server needs for 10,000 connections per second: "1.77". */
export function cores(ns: number): string {
  return significant((ns * CONNECTIONS_PER_S) / NS_PER_S);
}

/** Empty if whole connections were not measured. */
export function coresText({
  server_before_ns: before,
  server_after_ns: after,
}: Pick<UpgradeCell, "server_before_ns" | "server_after_ns">): string {
  return before == null || after == null ? "" : `${cores(before)} → ${cores(after)}`;
}

/** "slower", "unresolved (resolution 1.2%)" */
export function verdictText({ verdict, resolves }: Pick<UpgradeCell, "verdict" | "resolves">): string {
  const word = verdictWord(verdict);
  return verdict === "unresolved" && resolves !== null ? `${word} (resolution ${share(resolves)})` : word;
}

/** Caveats of a comparison, or why there is none. */
export function caveatsOf({ paired, warnings, move, spread, disturbed = 0 }: UpgradeCell): string[] {
  const sides =
    disturbed > 0
      ? [
          `batches were disturbed: ${count(disturbed, "invocation")} ` +
            `${disturbed === 1 ? "has" : "have"} no client/server split`,
        ]
      : [];
  const varies = spreadText(spread);
  if (warnings.length > 0 || (paired && move)) return [...varies, ...warnings, ...sides];
  return [...varies, move ? "not interleaved" : "too few invocations", ...sides];
}

/** Shown instead of the number of a side that has none. */
export function absentSide({ disturbed = 0 }: Pick<UpgradeCell, "disturbed">): string {
  return disturbed > 0 ? "no result: disturbed" : "–";
}

/** "An RSA certificate (server CPU time)" */
export function factorTitle({ dimension, value, side, words }: Factor): string {
  const name = words || `${dimension} ${value}`;
  const title = name.charAt(0).toUpperCase() + name.slice(1);
  return side === "both" ? title : `${title} (${side} CPU time)`;
}

/** "+6.2% [+5.8%, +6.6%]; 6 of 8 cases changed; explains 91% of the variation" */
export function factorText({ ratio, low, high, cells, moved = 0, explained, alike = [] }: Factor): string {
  const parts = [
    moveText({ ratio, low, high }),
    `${moved} of ${count(cells, "case")} changed`,
    `explains ${Math.round(100 * explained)}% of the variation`,
  ];
  if (alike.length > 0) parts.push(`cannot be separated from ${alike.join(" and ")}`);
  return parts.join("; ");
}

export function factorInk({ side, ratio }: Factor): Ink {
  return side === "both" ? (ratio > 1 ? "more" : "less") : side;
}

export interface Gap {
  version: string;
  reason: string;
  titles: string[];
}

/** Groups the cases that have no result for the same reason. */
export function gapsOf(missing: readonly MissingCell[]): Gap[] {
  const gaps = new Map<string, Gap>();
  for (const { version, reason, title } of missing) {
    const key = `${version} ${reason}`;
    const gap = gaps.get(key) ?? { version, reason, titles: [] };
    if (!gap.titles.includes(title)) gap.titles.push(title);
    gaps.set(key, gap);
  }
  return [...gaps.values()];
}

/** "The resolution is 0.91% to 39%, depending on the case: a real change below it would probably be missed." */
export function resolutionText(cells: readonly UpgradeCell[]): string {
  const limits = cells.flatMap(({ resolves }) => resolves ?? []).sort((a, b) => a - b);
  const [lowest, highest] = [limits[0], limits.at(-1)];
  if (lowest === undefined || highest === undefined) {
    return "There are too few invocations to estimate the resolution.";
  }
  const [low, high] = [share(lowest), share(highest)];
  const size = low === high ? low : `${low} to ${high}, depending on the case`;
  return `The resolution is ${size}: a real change below it would probably be missed.`;
}

export function runIdsOf(cells: readonly UpgradeCell[]): string[] {
  return [...new Set(cells.flatMap((cell) => cell.run_ids))];
}

/** The alert of this upgrade, if there is one. */
export function alertOf(ends: Ends, alerts: readonly AlertSummary[]): AlertSummary | undefined {
  const [before, after] = namesOf(ends);
  return alerts.find(
    ({ cause }) => cause.library === ends.library && cause.before === before && cause.after === after,
  );
}
