// A change of a cost in words: its verdict, its size, its sides, and what weakens it. Pure.
import type { Change, ChangePoint, ComparedCell, Difference, Metric, SideMove } from "@/api/generated";
import { changeInWords, count, moveText, share, significant } from "@/format";
import { componentText } from "@/subjects";

const CONNECTIONS_PER_S = 10_000;
const NS_PER_S = 1e9;

export type Verdict = ComparedCell["verdict"];

export const VERDICT_WORDS: Record<Verdict, string> = {
  more: "slower",
  less: "faster",
  same: "no change",
  unresolved: "unresolved",
  unlike: "not comparable",
  apart: "not compared",
  unjudged: "no verdict",
};

export function isMoved(verdict: Verdict): boolean {
  return verdict === "more" || verdict === "less";
}

/** A ratio without a verdict is never a claim. */
export function isJudged(verdict: Verdict): boolean {
  return isMoved(verdict) || verdict === "same" || verdict === "unresolved";
}

/** "slower", "unresolved (resolution 1.2%)" */
export function verdictText({ verdict, resolves }: Pick<Change, "verdict" | "resolves">): string {
  const word = VERDICT_WORDS[verdict];
  return verdict === "unresolved" && resolves !== null ? `${word} (resolution ${share(resolves)})` : word;
}

/** "client +0.2% [−0.1%, +0.5%], no change" */
export function sideText(side: "client" | "server", move: SideMove): string {
  return `${side} ${moveText(move)}, ${VERDICT_WORDS[move.verdict]}`;
}

type ServerCosts = Pick<ComparedCell, "server_before_ns" | "server_after_ns">;

/** "client +0.2% […], no change; server +9.8% […], slower; server 1.7 → 1.8 cores for 10,000 connections/s" */
export function sidesText(cell: Pick<ComparedCell, "client" | "server"> & ServerCosts): string {
  const { client, server } = cell;
  const sides = [client && sideText("client", client), server && sideText("server", server)];
  const cores = coresText(cell);
  const needed = cores && `server ${cores} cores for 10,000 connections/s`;
  return [...sides, needed].filter(Boolean).join("; ");
}

/** CPU cores that a server needs for 10,000 connections per second, before and after: "1.77 → 1.81". Empty if whole
 * connections were not measured. */
export function coresText({ server_before_ns: before, server_after_ns: after }: ServerCosts): string {
  if (before == null || after == null) return "";
  return [before, after].map((ns) => significant((ns * CONNECTIONS_PER_S) / NS_PER_S)).join(" → ");
}

/** `move`: null if there were too few invocations; a change of a cell always has one */
type Judged = Pick<Change, "paired" | "warnings" | "spread"> &
  Partial<Pick<ComparedCell, "move" | "disturbed">>;

/** What weakens a comparison, or why there is none. */
export function caveatsOf({ paired, warnings, spread, move, disturbed = 0 }: Judged): string[] {
  return [
    ...(spread && spread.verdict !== "unresolved"
      ? [
          `costs vary ${spread.verdict} from invocation to invocation: ` +
            `${share(spread.before)} → ${share(spread.after)}`,
        ]
      : []),
    ...warnings,
    ...(warnings.length === 0 && move === null ? ["too few invocations"] : []),
    ...(warnings.length === 0 && move !== null && !paired ? ["not interleaved"] : []),
    ...(disturbed > 0
      ? [
          `batches were disturbed: ${count(disturbed, "invocation")} ` +
            `${disturbed === 1 ? "has" : "have"} no client/server split`,
        ]
      : []),
  ];
}

/** Shown instead of the number of a side that has none. */
export function absentSide({ disturbed = 0 }: Pick<ComparedCell, "disturbed">): string {
  return disturbed > 0 ? "no result: disturbed" : "–";
}

/** "nettle 3.8.1 → 3.10.1, gmp 6.2.1 → 6.3.0": dependencies that changed together with the library, in any cell. */
export function dependencyText(cells: readonly { components?: readonly Difference[] }[]): string {
  const changes = cells.flatMap((cell) => cell.components ?? []).map(componentText);
  return [...new Set(changes)].join(", ");
}

/** "5.1% more time than 3.0.18": the other end is of the same build profile, as the whole line. The chart and the table
 * below it take the words from here, so that both say the same number. */
export function changePointText({ before, move, verdict }: ChangePoint, metric: Metric): string {
  if (!move) return `${VERDICT_WORDS[verdict === "unlike" ? verdict : "apart"]} with ${before.version}`;
  const words = `${changeInWords(move.ratio, metric)} than ${before.version}`;
  return verdict === "unresolved" ? `${words}, unresolved` : words;
}
