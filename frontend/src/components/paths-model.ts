// What a user waits for, as the page of paths shows it: rows by path, blocks of round trips, flights. Pure.
import type { FlightView, PathCase, PathCell, Paths, PathView, Subject } from "@/api/generated";
import { kilobytes } from "@/format";
import { reasonsOf } from "./outcome-model";

/** `unexpected`: measured beyond the prediction */
export type BlockKind = "connect" | "exchange" | "further" | "unexpected";

export interface Block {
  kind: BlockKind;
  roundTrips: number;
}

/** A case over a path, with the cells that have a row. */
export interface PathRow {
  case: PathCase;
  cells: PathCell[];
}

export interface PathGroup {
  path: PathView;
  rows: PathRow[];
}

/** The cases of each path, from the shortest path to the longest. */
export function groupsOf(cases: readonly PathCase[]): PathGroup[] {
  const groups = new Map<string, PathGroup>();
  for (const each of cases) {
    const group = groups.get(each.path.text) ?? { path: each.path, rows: [] };
    group.rows.push({ case: each, cells: rowsOf(each) });
    groups.set(each.path.text, group);
  }
  const length = ({ numbers }: PathView) => [numbers.roundTripMs, numbers.lossPercent ?? 0] as const;
  return [...groups.values()].sort((one, other) => {
    const [[trip, loss], [otherTrip, otherLoss]] = [length(one.path), length(other.path)];
    return trip - otherTrip || loss - otherLoss;
  });
}

/** Of the versions whose spec has the case. One that is unsupported has no row where another has a number: a list
 * says why. Over a path with a middlebox all have rows, since what it drops is what the path is there to show. */
function rowsOf({ cells, path }: PathCase): PathCell[] {
  const here = cells.filter(({ run_id }) => run_id);
  if (path.numbers.splitHello || !here.some(({ handshake }) => handshake)) return here;
  return here.filter(({ outcome, handshake }) => handshake || outcome?.kind !== "unsupported");
}

/** The answer with one path and some versions alone. */
export function chosenOf(
  { cases, subjects }: Pick<Paths, "cases" | "subjects">,
  path?: string,
  versions?: string[],
) {
  const shown = subjects.filter(({ name }) => !versions || versions.includes(name));
  const names = new Set(shown.map(({ name }) => name));
  return {
    subjects: shown,
    cases: cases
      .filter((each) => path === undefined || each.path.text === path)
      .map((each) => ({ ...each, cells: each.cells.filter(({ subject }) => names.has(subject)) }))
      .filter(({ cells }) => cells.some(({ run_id }) => run_id)),
  };
}

/** "same continent, 30.916 ms" */
export function pathName({ title, words }: PathView): string {
  return title ? `${title}, ${words}` : words;
}

/** The round trips that a request waited after connecting. With loss they are no count. */
export function countedOf({ agreement, round_trips }: PathCell): number | undefined {
  return agreement === "with loss" ? undefined : round_trips?.value;
}

/** The round trips that a request waits, TCP's own first: as measured, or as predicted where they cannot be counted. */
export function blocksOf(cell: PathCell): Block[] {
  const { predicted } = cell;
  const waited = countedOf(cell) ?? predicted?.before_request ?? 0;
  const further = predicted?.before_request ? furtherSteps(predicted.steps) : 0;
  const usual = predicted ? Math.max(0, predicted.before_request - further) : waited;
  const blocks: Block[] = [
    { kind: "connect", roundTrips: predicted?.connecting ?? 0 },
    { kind: "exchange", roundTrips: Math.min(usual, waited) },
    { kind: "further", roundTrips: Math.min(further, Math.max(0, waited - usual)) },
    { kind: "unexpected", roundTrips: Math.max(0, waited - usual - further) },
  ];
  return blocks.filter(({ roundTrips }) => roundTrips > 0);
}

function furtherSteps(steps: { is_further: boolean; round_trips: number }[]): number {
  return steps.reduce((sum, step) => sum + (step.is_further ? step.round_trips : 0), 0);
}

/** "3: 1 for TCP, 2 for TLS" */
export function roundTripsText(connecting: number, beforeRequest: number): string {
  if (!connecting) return `${beforeRequest}`;
  return `${connecting + beforeRequest}: ${connecting} for TCP, ${beforeRequest} for TLS`;
}

/** Why the round trips of a path are not counted, which holds for all its cases; empty where they are. */
export function uncountedText(rows: readonly PathRow[]): string {
  const cells = rows.flatMap(({ cells }) => cells);
  const lossy = cells.find(({ agreement }) => agreement === "with loss");
  if (lossy) return `Round trips are not counted: ${lossy.reason}.`;
  const isShort = cells.some(({ agreement }) => agreement === "not counted");
  return isShort ? "Round trips are not counted: they are short beside the machine's own time." : "";
}

/** The flights of a case, which are the same over all paths with the same window. */
export interface FlightRow {
  title: string;
  subject: string;
  flights: FlightView[];
  paths: string[];
}

export function flightRows(cases: readonly PathCase[]): FlightRow[] {
  const rows = new Map<string, FlightRow>();
  for (const { title, path, cells } of cases) {
    for (const { subject, predicted } of cells) {
      if (!predicted?.flights.length) continue;
      const limits = predicted.flights.map(({ kind, limit_bytes }) => `${kind} ${limit_bytes}`);
      const key = [title, subject, ...limits].join("\n");
      const row = rows.get(key);
      if (row) row.paths.push(path.text);
      else rows.set(key, { title, subject, flights: predicted.flights, paths: [path.text] });
    }
  }
  return [...rows.values()];
}

/** "1.2 kB over the window: +1 round trip"; undefined of a flight that fits. */
export function excessText({ kind, size_bytes, limit_bytes, round_trips }: FlightView): string | undefined {
  if (size_bytes <= limit_bytes) return undefined;
  const limit = kind === "limit" ? "limit" : "window";
  const cost = round_trips
    ? `+${round_trips} round trip${round_trips === 1 ? "" : "s"}`
    : "after the client's handshake is done";
  const shown = (bytes: number) => Math.round(bytes / 100) * 100; // so that the numbers on the page add up
  return `${kilobytes(shown(size_bytes) - shown(limit_bytes))} over the ${limit}: ${cost}`;
}

/** Why cells have no number, or fewer invocations than planned. */
export function outcomesOf(cases: readonly PathCase[], subjects: Subject[]) {
  return reasonsOf({
    cases: cases.map((each) => each.case),
    subjects,
    cells: cases.flatMap(({ case: { id }, cells }) =>
      cells.map((cell) => ({ ...cell, case_id: id, estimate: cell.handshake ?? null })),
    ),
  });
}
