// Why an upgrade changed the cost: what was counted, function by function, in words and rows. Pure.
import type {
  CallNode,
  CaseExplanation,
  Culprit,
  Explanation,
  FunctionChange,
  Instrument,
} from "@/api/generated";
import { INSTRUMENTS } from "@/api/generated/vocabulary.gen";
import { amount, count, percent, significant } from "@/format";

/** As in the service: stands for all functions of a library that has no symbols for them. */
const UNNAMED = "functions without a name";
/** A chart of more rows would be hard to read. */
const DRAWN = 12;
/** A longer path is collapsed. */
const STEPS = 6;
const DIGITS_OF_CALLS = 4;

type Sides = Pick<Explanation, "before" | "after">;
type Changed = Pick<FunctionChange, "before" | "after">;

export function ratioOf({ before, after }: Sides): number {
  return before === 0 ? 1 : after / before;
}

export interface Answer {
  text: string;
  /** the function that most of the change is in; undefined where it is spread, and without a change */
  place?: string;
}

/** In queries: nothing for the instrument that answers are of anyway. */
export function askedOf(instrument: Instrument): { instrument?: Instrument } {
  return instrument === "instructions" ? {} : { instrument };
}

/** "instructions", "bytes" */
export function amountsOf(instrument: Instrument | undefined): string {
  return INSTRUMENTS[instrument ?? "instructions"].amounts;
}

/** "Client", "Client held" */
export function titleOf(side: Explanation["side"]): string {
  const words = side.replace("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** "The server executes 2,127,291 instructions instead of 2,264,870 (−6.07%)", "16 bytes kept per connection that was
 * freed instead of 0", and where. */
export function answerOf({ instrument, side, before, after, place, has_changed }: Explanation): Answer {
  const [first, second] = [before, after].map((cost) => amount(Math.round(cost)));
  const what = whatOf(instrument ?? "instructions", side, `${second} ${amountsOf(instrument)}`);
  if (!has_changed) return { text: `${what}: no change` };
  const change = before === 0 ? "" : ` (${percent(ratioOf({ before, after }), 2)})`;
  return {
    text: `${what} instead of ${first}${change}`,
    ...(place && { place: place.name }),
  };
}

function whatOf(instrument: Instrument, side: Explanation["side"], cost: string): string {
  if (instrument === "instructions") {
    if (side === "start") return `A start takes ${cost}`;
    return side === "objects" ? `Making and freeing objects takes ${cost}` : `The ${side} executes ${cost}`;
  }
  const per: Partial<Record<Explanation["side"], string>> = INSTRUMENTS[instrument].per;
  return `${cost} ${per[side] ?? ""}`.trim();
}

/** "the server's", "the objects'" */
export function ownerOf(side: Explanation["side"]): string {
  return side === "objects" ? "the objects'" : `the ${side.replace("_", " ")}'s`;
}

/** Functions that have a name of their own are written as code. */
export function isNamed(name: string): boolean {
  return !name.startsWith(UNNAMED);
}

export function changeOf({ before, after }: Changed): number {
  return after - before;
}

export interface Drawn {
  functions: FunctionChange[];
  /** how many more have changed by at least one of what is counted */
  left: number;
}

/** The largest changes, which the API sends first; none of a side that has not changed. */
export function drawnOf({ functions, has_changed }: Pick<Explanation, "functions" | "has_changed">): Drawn {
  if (!has_changed) return { functions: [], left: 0 };
  const changed = functions.filter((each) => Math.round(Math.abs(changeOf(each))) !== 0);
  return { functions: changed.slice(0, DRAWN), left: Math.max(0, changed.length - DRAWN) };
}

/** "1,716,635 → 1,659,112 (−3.4%)"; "new" and "gone", where the change is the whole number */
export function amountsText({ before, after }: Changed): string {
  const [first, second] = [before, after].map((cost) => amount(Math.round(cost)));
  if (before === 0) return "new";
  if (after === 0) return "gone";
  return `${first} → ${second} (${percent(after / before)})`;
}

/** "57,523 fewer instructions" */
export function changeText(changed: Changed, amounts: string): string {
  const change = changeOf(changed);
  return count(Math.round(Math.abs(change)), `${change < 0 ? "fewer" : "more"} ${amounts.replace(/s$/, "")}`);
}

/** "45,051 → 21,666", "28 → 0" */
export function callsText({
  calls_before: before,
  calls_after: after,
}: Pick<FunctionChange, "calls_before" | "calls_after">): string {
  return `${callsNumber(before)} → ${callsNumber(after)}`;
}

/** Calls are averages over handshakes: "28", "11.95", "45,051". */
function callsNumber(calls: number): string {
  if (calls >= 10 ** (DIGITS_OF_CALLS - 1)) return significant(calls);
  return calls.toLocaleString("en-US", { maximumSignificantDigits: DIGITS_OF_CALLS });
}

export interface Crumbs {
  names: string[];
  /** the same, with the middle left out: undefined where all names are shown at once */
  short?: { first: string[]; left: number; last: string[] };
}

/** The functions on the way to the change, from the outermost. */
export function crumbsOf({ path }: Pick<Explanation, "path">): Crumbs {
  const names = path.map((step) => step.name);
  if (names.length <= STEPS) return { names };
  const [first, last] = [names.slice(0, 2), names.slice(-2)];
  return { names, short: { first, left: names.length - first.length - last.length, last } };
}

export interface CallRow {
  /** the names from the outermost function */
  key: string;
  level: number;
  node: CallNode;
}

/** A tree of calls as rows: each function before those that it calls. */
export function levelsOf(node: CallNode, callers: readonly string[] = []): CallRow[] {
  const names = [...callers, node.name];
  return [
    { key: names.join(" "), level: callers.length, node },
    ...node.children.flatMap((child) => levelsOf(child, names)),
  ];
}

/** Whether a call stands for those of all functions that a library has no names for. */
export function hasUnnamed({ name, children }: CallNode): boolean {
  return !isNamed(name) || children.some(hasUnnamed);
}

/** The chosen case; the one with the largest change, which the API sends first, where there is no such case. */
export function chosenCase(
  cases: readonly CaseExplanation[],
  caseId: string | undefined,
): CaseExplanation | undefined {
  return cases.find(({ case_id }) => case_id === caseId) ?? cases[0];
}

/** What the URL keeps: nothing for the case that is shown anyway. */
export function keptCase(cases: readonly CaseExplanation[], caseId: string): string | undefined {
  return cases[0]?.case_id === caseId ? undefined : caseId;
}

/** Whether a shown function stands for all that a library has no names for. */
export function lacksNames({ sides }: Pick<CaseExplanation, "sides">): boolean {
  return sides.some((side) => drawnOf(side).functions.some(({ name }) => !isNamed(name)));
}

/** The command that counts both ends. Their sources name the measured builds; a version may mean another source. */
export function whyCommand(library: string, ...sources: [string, string]): string {
  return `kexbench why ${[library, ...sources].join(" ")}`;
}

/** What follows the function's name: "adds 7.7% to the server's instructions in TLS 1.2 …: 2 calls instead of 1". As
 * the notification's sentence (analysis/sentences.py). */
export function culpritText(culprit: Culprit): string {
  const { side, title, amounts, calls, side_amounts } = culprit;
  const { calls: callWords, places } = INSTRUMENTS[culprit.instrument ?? "instructions"];
  const change = amounts[1] - amounts[0];
  const share =
    side_amounts[0] === 0 ? amount(Math.round(change)) : `${((100 * change) / side_amounts[0]).toFixed(1)}%`;
  const verb = isNamed(culprit.function) ? "adds" : "add";
  const at: Partial<Record<Culprit["side"], string>> = places;
  const place = `${verb} ${share} to ${at[side]} in ${title}`;
  const [before, after] = calls;
  if (before.toFixed(1) === after.toFixed(1)) return place;
  const noun = (callWords.split(",")[0] ?? "").replace(/s$/, "");
  return `${place}: ${callsNumber(after)} ${noun}${after === 1 ? "" : "s"} instead of ${callsNumber(before)}`;
}
