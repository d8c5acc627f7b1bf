// An upgrade in words and rows: what moved, what did not, what cannot be said. Pure.
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
import type { Ink, MoveLine } from "@/charts/MoveChart";
import { count, percent, percentInterval, share, significant } from "@/format";
import { componentText } from "@/subjects";
import { libraryTitle } from "./libraries";

const HANDSHAKES_PER_S = 10_000;
const NS_PER_S = 1e9;

type Ends = Pick<UpgradeReport, "library" | "before" | "after">;
export type Verdict = UpgradeCell["verdict"];

/** "OpenSSL 3.0.19 → 3.5.4" */
export function titleOf(ends: Ends): string {
  return `${libraryTitle(ends.library)} ${namesOf(ends).join(" → ")}`;
}

/** As alerts name the versions: "3.0.19", of one version twice with its sources, "3.0.19 (debian/bookworm)". */
function namesOf({ before, after }: Ends): [string, string] {
  if (before.version !== after.version) return [before.version, after.version];
  return [`${before.version} (${before.source})`, `${after.version} (${after.source})`];
}

const NAMED = /^[^:]* → [^:]*: /;

/** A sentence of an upgrade, below a heading that names the versions already. */
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
      return "can’t resolve";
    case "unlike":
      return "not alike";
    case "apart":
      return "not compared";
  }
}

/** Those that moved furthest first; those without a ratio last. */
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

/** "6 slower", "20 no change", "1 without a number": what there is of each. */
export function tallyOf({ cells, missing }: Pick<UpgradeReport, "cells" | "missing">): [string, string][] {
  const verdicts: Verdict[] = ["more", "less", "same", "unresolved", "unlike", "apart"];
  const found = verdicts.map((verdict): [string, number, string] => [
    verdict,
    cells.filter((cell) => cell.verdict === verdict).length,
    verdictWord(verdict),
  ]);
  const all = [...found, ["missing", missing.length, "without a number"] as const];
  return all.filter(([, amount]) => amount > 0).map(([kind, amount, word]) => [kind, `${amount} ${word}`]);
}

/** A case is named with its machine where there are several. */
export function isOnSeveral(cells: readonly { pool: string; cpu_model: string }[]): boolean {
  return new Set(cells.map(({ pool, cpu_model }) => `${pool} ${cpu_model}`)).size > 1;
}

export function keyOf(cell: { case_id: string; pool: string; cpu_model: string }): string {
  return `${cell.case_id} ${cell.pool} ${cell.cpu_model}`;
}

/** Both sides together, and each alone. */
export function marksOf({ verdict, move, client, server }: UpgradeCell): MoveLine["marks"] {
  const marks: [Ink, Move | null][] = [
    [verdict === "more" || verdict === "less" ? verdict : "same", move],
    ["client", client],
    ["server", server],
  ];
  return marks.flatMap(([ink, found]) => (found ? [{ ink, move: found }] : []));
}

export function moveText(move: Move): string {
  return `${percent(move.ratio)} ${percentInterval(move.low, move.high)}`;
}

/** "client: +0.2% [−0.1%, +0.5%] no change" */
export function sideText(side: "client" | "server", move: SideMove): string {
  return `${side}: ${moveText(move)} ${verdictWord(move.verdict)}`;
}

/** "nettle 3.8.1 → 3.10.1, gmp 6.2.1 → 6.3.0": what changed along with the library in any of the cells. */
export function alongText(cells: readonly { components?: readonly ComponentChange[] }[]): string {
  const changes = cells.flatMap((cell) => cell.components ?? []).map(componentText);
  return [...new Set(changes)].join(", ");
}

/** "client: +0.2% [−0.1%, +0.5%] no change; server: +9.8% [+9.5%, +10.1%] slower; cores for 10,000/s: 17.7 → 18.6" */
export function sidesText(cell: Pick<UpgradeCell, "client" | "server" | "before_ns" | "after_ns">): string {
  const { client, server, before_ns } = cell;
  const sides = [client && sideText("client", client), server && sideText("server", server)];
  const own = sides.filter(Boolean).join("; ");
  const needed = before_ns === null ? "" : `cores for 10,000 handshakes/s: ${coresText(cell)}`;
  return [own, needed].filter(Boolean).join("; ");
}

/** CPU cores that so many handshakes a second keep busy: "17.7". */
export function cores(ns: number): string {
  return significant((ns * HANDSHAKES_PER_S) / NS_PER_S);
}

export function coresText({ before_ns, after_ns }: Pick<UpgradeCell, "before_ns" | "after_ns">): string {
  return before_ns === null || after_ns === null ? "–" : `${cores(before_ns)} → ${cores(after_ns)}`;
}

/** "slower", "can’t resolve below 1.2%" */
export function verdictText({ verdict, resolves }: Pick<UpgradeCell, "verdict" | "resolves">): string {
  const word = verdictWord(verdict);
  return verdict === "unresolved" && resolves !== null ? `${word} below ${share(resolves)}` : word;
}

/** Why it is to be read with care, or there is nothing to read. */
export function careOf({ paired, warnings, move, disturbed = 0 }: UpgradeCell): string[] {
  const sides =
    disturbed > 0
      ? [
          `other programs ran in between: ${count(disturbed, "invocation")} ` +
            `${disturbed === 1 ? "does" : "do"} not tell client and server apart`,
        ]
      : [];
  if (warnings.length > 0 || (paired && move)) return [...warnings, ...sides];
  return [move ? "not interleaved" : "too few invocations", ...sides];
}

/** What stands for the number of a side that has none. */
export function absentSide({ disturbed = 0 }: Pick<UpgradeCell, "disturbed">): string {
  return disturbed > 0 ? "disturbed" : "–";
}

/** "an RSA certificate, the server’s CPU time" */
export function factorTitle({ dimension, value, side, words }: Factor): string {
  return `${words || `${dimension} ${value}`}${side === "both" ? "" : `, the ${side}’s CPU time`}`;
}

/** "+6.2% [+5.8%, +6.6%]; 6 of the 8 cases that have it moved; explains 91% of all differences" */
export function factorText({ ratio, low, high, cells, moved = 0, explained }: Factor): string {
  const having = `${moved} of the ${cells} that ${cells === 1 ? "has" : "have"} it moved`;
  return `${moveText({ ratio, low, high })}; ${having}; explains ${Math.round(100 * explained)}% of all differences`;
}

export function factorInk({ side, ratio }: Factor): Ink {
  return side === "both" ? (ratio > 1 ? "more" : "less") : side;
}

export interface Gap {
  version: string;
  reason: string;
  titles: string[];
}

/** Cases that miss a number for the same reason stand together. */
export function gapsOf(missing: readonly MissingCell[]): Gap[] {
  const found = new Map<string, Gap>();
  for (const { version, reason, title } of missing) {
    const key = `${version} ${reason}`;
    const gap = found.get(key) ?? { version, reason, titles: [] };
    if (!gap.titles.includes(title)) gap.titles.push(title);
    found.set(key, gap);
  }
  return [...found.values()];
}

/** "changes below 0.91% to 39% go unseen" */
export function blindText(cells: readonly UpgradeCell[]): string {
  const limits = cells.flatMap(({ resolves }) => resolves ?? []).sort((a, b) => a - b);
  const ends = [
    ...new Set([limits[0], limits.at(-1)].flatMap((one) => (one === undefined ? [] : share(one)))),
  ];
  return ends.length === 0 ? "there are too few invocations" : `changes below ${ends.join(" to ")} go unseen`;
}

export function runIdsOf(cells: readonly UpgradeCell[]): string[] {
  return [...new Set(cells.flatMap((cell) => cell.run_ids))];
}

/** The alert that tells of it, if there is one. */
export function alertOf(ends: Ends, alerts: readonly AlertSummary[]): AlertSummary | undefined {
  const [before, after] = namesOf(ends);
  return alerts.find(
    ({ cause }) => cause.library === ends.library && cause.before === before && cause.after === after,
  );
}
