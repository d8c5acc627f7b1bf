// Two compared ends in rows and words: which cells are shown, in which order, and why some have no verdict. Pure.
import type {
  CaseView,
  ComparedCell,
  ComparedEnd,
  ComparedSide,
  Comparison,
  SubjectView,
} from "@/api/generated";
import { matches } from "@/charts/heatmap-model";
import { groupOf } from "@/charts/matrix-view";
import { percent, percentInterval } from "@/format";
import type { ComparedPairs } from "@/published";
import type { CompareSearch, EndChoice, VerdictFilter } from "@/search";
import { versionText } from "@/subjects";
import { libraryTitle } from "./libraries";
import { verdictWord } from "./upgrade-model";

export interface CompareRow {
  key: string;
  cell: ComparedCell;
  caseView: CaseView;
  /** of the other end, where two cases are compared */
  otherCase?: CaseView | undefined;
}

export interface CompareGroup {
  name: string;
  rows: CompareRow[];
  /** whether a line stands for its rows */
  hasLine: boolean;
  isOpen: boolean;
}

type Unalike = ComparedCell["unalike"][number];

const TRAITS: Record<Unalike, string> = {
  pool: "pool",
  cpu: "CPU",
  runs: "run, with no subject in common",
  work: "work: the handshakes or the methods differ",
  turns: "time: the two cases were not measured in turns in one run",
};

/** The rows that the filters leave, sorted. */
export function compareRows({ cases, cells }: Comparison, search: CompareSearch): CompareRow[] {
  const named = new Map(cases.map((caseView) => [caseView.id, caseView]));
  const rows = cells.flatMap((cell): CompareRow[] => {
    const caseView = named.get(cell.case_id);
    if (!caseView || !matches(caseView, search.q) || !isShown(cell, search.verdict)) return [];
    const otherCase = cell.other_case_id === cell.case_id ? undefined : named.get(cell.other_case_id);
    return [{ key: `${cell.case_id} ${cell.base.pool} ${cell.base.cpu_model}`, cell, caseView, otherCase }];
  });
  return search.sort === "change" ? bySize(rows) : rows;
}

/** More rows than this are opened group by group. */
export const LONG = 60;

/** Groups of cases in the order of their first row. A group of one cell, or the only group, has no line of its own. */
export function compareGroups(rows: CompareRow[], chosen: string[] | undefined): CompareGroup[] {
  const groups = new Map<string, CompareRow[]>();
  for (const row of rows) {
    const name = groupOf(row.caseView);
    groups.set(name, [...(groups.get(name) ?? []), row]);
  }
  return [...groups].map(([name, own]) => {
    const hasLine = groups.size > 1 && own.length > 1;
    const isOpen = !hasLine || (chosen ? chosen.includes(name) : rows.length <= LONG);
    return { name, rows: own, hasLine, isOpen };
  });
}

function isShown({ both: { verdict } }: ComparedCell, filter: VerdictFilter | undefined): boolean {
  switch (filter) {
    case undefined:
      return true;
    case "changed":
      return verdict === "more" || verdict === "less";
    case "none":
      return verdict === null;
    default:
      return verdict === filter;
  }
}

/** The largest ratio of both sides together first; cells without one last. */
function bySize(rows: CompareRow[]): CompareRow[] {
  const sizeOf = ({ cell }: CompareRow) => (cell.both.ratio ? Math.abs(Math.log(cell.both.ratio.ratio)) : -1);
  return [...rows].sort((a, b) => sizeOf(b) - sizeOf(a));
}

export const FILTER_LABELS: Record<VerdictFilter, string> = {
  changed: "only changes",
  more: verdictWord("more"),
  less: verdictWord("less"),
  same: verdictWord("same"),
  unresolved: verdictWord("unresolved"),
  none: "without a verdict",
};

/** "3 slower, 9 no change": the number of cells by verdict, with the largest change of those that changed. */
export function tallyText(rows: readonly CompareRow[]): string {
  const words = (["more", "less", "unresolved", "same", null] as const).flatMap((verdict) => {
    const own = rows.filter(({ cell }) => cell.both.verdict === verdict);
    if (own.length === 0) return [];
    const most = verdict === "more" || verdict === "less" ? bySize(own)[0]?.cell.both.ratio : null;
    const size = most ? ` (${own.length > 1 ? "up to " : ""}${percent(most.ratio)})` : "";
    return [`${own.length} ${verdict ? verdictWord(verdict) : "without a verdict"}${size}`];
  });
  return words.join(", ");
}

/** "+2.0% [+1.8%, +2.2%]", or why there is no number. */
export function ratioText({ ratio }: ComparedSide): string {
  return ratio ? `${percent(ratio.ratio)} ${percentInterval(ratio.low, ratio.high)}` : "too few invocations";
}

/** What all cells differ in, as a sentence for the page; nothing where all are alike. */
export function unalikeText(cells: readonly ComparedCell[]): string | undefined {
  const [first, ...others] = cells;
  const common =
    first?.unalike.filter((trait) => others.every(({ unalike }) => unalike.includes(trait))) ?? [];
  if (common.length === 0) return undefined;
  const machines = common.includes("pool") || common.includes("cpu");
  const why = machines ? " The machines were not measured in turns." : "";
  return `The two differ in ${common.map((trait) => TRAITS[trait]).join(" and ")}, so ratios have an interval and no verdict.${why}`;
}

/** "cipher: AES-128-GCM → AES-128-CBC-SHA": in what two cases differ, with both values; nothing for one case. */
export function differenceText({ differences }: Pick<Comparison, "differences">): string | undefined {
  if (differences.length === 0) return undefined;
  return differences.map(({ dimension, base, other }) => `${dimension}: ${base} → ${other}`).join(", ");
}

/** "OpenSSL 3.5.4" */
export function endName({ subject }: Pick<ComparedEnd, "subject">): string {
  return `${libraryTitle(subject.library)} ${versionText(subject)}`;
}

/** "OpenSSL 3.0.17 → 3.5.4", "OpenSSL 3.5.4: two CPUs" where only the machine, the run or the case differs. */
export function compareTitle({ base, other }: Pick<Comparison, "base" | "other">): string {
  if (!base || !other) return "Compare";
  if (base.subject.subject === other.subject.subject) {
    const what =
      base.case_id !== other.case_id ? "cases" : base.run_id === other.run_id ? "machines" : "runs";
    return `${endName(base)}: two ${what}`;
  }
  const isOneLibrary = base.subject.library === other.subject.library;
  const names = isOneLibrary && versionText(base.subject) !== versionText(other.subject);
  if (names) return `${endName(base)} → ${versionText(other.subject)}`;
  if (isOneLibrary) return `${endName(base)}: ${base.subject.source} → ${other.subject.source}`;
  return `${endName(base)} → ${endName(other)}`;
}

/** All rows with plain numbers in nanoseconds, whichever groups are open. */
export function compareCsv(rows: readonly CompareRow[]): string[][] {
  const sides = ["both", "client", "server"] as const;
  const head = [
    "case",
    "other case",
    "base pool",
    "base CPU",
    "other pool",
    "other CPU",
    "verdict",
    "caveats",
  ];
  const columns = ["base ns", "other ns", "ratio", "low", "high", "verdict"];
  return [
    [...head, ...sides.flatMap((side) => columns.map((name) => `${side} ${name}`)), "base run", "other run"],
    ...rows.map(({ cell, caseView, otherCase }) => [
      caseView.title,
      (otherCase ?? caseView).title,
      cell.base.pool,
      cell.base.cpu_model,
      cell.other.pool,
      cell.other.cpu_model,
      cell.both.verdict ?? "none",
      cell.warnings.join("; "),
      ...sides.flatMap((side) => sideCsv(cell[side])),
      cell.base.run_id,
      cell.other.run_id,
    ]),
  ];
}

function sideCsv(side: ComparedSide | null): string[] {
  if (!side) return ["", "", "", "", "", ""];
  const { base, other, ratio, verdict } = side;
  const numbers = [base.value, other.value, ratio?.ratio, ratio?.low, ratio?.high];
  return [...numbers.map((value) => value?.toString() ?? ""), verdict ?? "none"];
}

/** What is chosen for each end. The URL is ahead of the answer, which says what was chosen by default. */
export function endChoices(
  search: CompareSearch,
  { base, other }: Pick<Comparison, "base" | "other">,
): [base: EndChoice, other: EndChoice] {
  return [
    {
      subject: search.base ?? base?.subject.subject,
      pool: search.basePool,
      cpu: search.baseCpu,
      run: search.baseRun,
      case: search.baseCase,
    },
    {
      subject: search.other ?? other?.subject.subject,
      pool: search.otherPool,
      cpu: search.otherCpu,
      run: search.otherRun,
      case: search.otherCase,
    },
  ];
}

type Pairs = ComparedPairs | undefined;
type Ends = [base: EndChoice, other: EndChoice];

/** The subjects to choose from for an end. `pairs`: in a published site, those that are compared there. */
export function subjectsAt(end: "base" | "other", subjects: SubjectView[], pairs: Pairs): SubjectView[] {
  const names = pairs && new Set(pairs.map(([base, other]) => (end === "base" ? base : other)));
  return names ? subjects.filter(({ subject }) => names.has(subject)) : subjects;
}

/** Both ends after a choice for one. A site compares its pairs on one host kind, so there the other end follows. */
export function chosenEnds(end: "base" | "other", next: EndChoice, [base, other]: Ends, pairs: Pairs): Ends {
  const ends: Ends = end === "base" ? [{ ...base, ...next }, other] : [base, { ...other, ...next }];
  if (!pairs) return ends;
  const [chosen, { pool, cpu }] = end === "base" ? [0 as const, ends[0]] : [1 as const, ends[1]];
  const fitting = pairs.filter((names) => names[chosen] === ends[chosen].subject);
  const isFitting = fitting.some((names) => names.every((name, place) => name === ends[place]?.subject));
  const names = isFitting ? undefined : fitting[0];
  return [
    { subject: names?.[0] ?? ends[0].subject, pool, cpu },
    { subject: names?.[1] ?? ends[1].subject, pool, cpu },
  ];
}
