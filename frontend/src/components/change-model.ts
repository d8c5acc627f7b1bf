// Compared cells in rows and words: which are shown and in which order, what they have in common, and the two ends. Pure.
import type {
  AlertSummary,
  CaseView,
  Cell,
  ComparedCell,
  ComparedEnd,
  Comparison,
  Factor,
  MissingCell,
  Ratio,
  Subject,
  UpgradeEnd,
} from "@/api/generated";
import { dependencyText, isJudged, isMoved, VERDICT_WORDS, type Verdict } from "@/charts/change-words";
import { matches } from "@/charts/heatmap-model";
import type { Ink, MoveLine } from "@/charts/MoveChart";
import { groupOf } from "@/charts/matrix-view";
import { count, moveText, percent, share } from "@/format";
import type { ComparedPairs } from "@/published";
import type { ChangesView, CompareSearch, EndChoice, VerdictFilter } from "@/search";
import { versionText } from "@/subjects";
import { libraryTitle } from "./libraries";

export interface ChangeRow {
  key: string;
  cell: ComparedCell;
  caseView: CaseView;
  /** of the other end, where two cases are compared */
  otherCase?: CaseView | undefined;
}

export interface ChangeGroup {
  name: string;
  rows: ChangeRow[];
  /** whether a line stands for its rows */
  hasLine: boolean;
  isOpen: boolean;
}

/** The rows that the filters leave, sorted. */
export function changeRows({ cases, cells }: Comparison, view: ChangesView): ChangeRow[] {
  const named = new Map(cases.map((caseView) => [caseView.id, caseView]));
  const shown = view.sort === "change" ? bySize(cells) : cells;
  return shown.flatMap((cell): ChangeRow[] => {
    const caseView = named.get(cell.case_id);
    if (!caseView || !matches(caseView, view.q) || !isShown(cell, view.verdict)) return [];
    const otherCase = cell.other_case_id === cell.case_id ? undefined : named.get(cell.other_case_id);
    return [{ key: keyOf(cell), cell, caseView, otherCase }];
  });
}

function isShown({ verdict }: ComparedCell, filter: VerdictFilter | undefined): boolean {
  switch (filter) {
    case undefined:
      return true;
    case "changed":
      return isMoved(verdict);
    case "none":
      return !isJudged(verdict);
    default:
      return verdict === filter;
  }
}

/** More rows than this are opened group by group. */
export const LONG = 60;

/** Groups of cases in the order of their first row. A group of one cell, or the only group, has no line of its own. */
export function changeGroups(rows: ChangeRow[], chosen: string[] | undefined): ChangeGroup[] {
  const groups = new Map<string, ChangeRow[]>();
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

/** The largest change first; cells without a ratio last. */
export function bySize<C extends { move: Ratio | null }>(cells: readonly C[]): C[] {
  const sizeOf = ({ move }: C) => (move ? Math.abs(Math.log(move.ratio)) : -1);
  return [...cells].sort((a, b) => sizeOf(b) - sizeOf(a));
}

export function movedOf(cells: readonly ComparedCell[]): ComparedCell[] {
  return bySize(cells.filter(({ verdict }) => isMoved(verdict)));
}

/** With several host kinds, each case is shown with its host kind. */
export function isOnSeveral(cells: readonly { pool: string; cpu_model: string }[]): boolean {
  return new Set(cells.map(({ pool, cpu_model }) => `${pool} ${cpu_model}`)).size > 1;
}

export function keyOf(cell: { case_id: string; pool: string; cpu_model: string }): string {
  return `${cell.case_id} ${cell.pool} ${cell.cpu_model}`;
}

/** Both sides together, then each side. */
export function marksOf({ verdict, move, client, server }: ComparedCell): MoveLine["marks"] {
  const marks: [Ink, Ratio | null][] = [
    [isMoved(verdict) ? (verdict as "more" | "less") : "same", move],
    ["client", client],
    ["server", server],
  ];
  return marks.flatMap(([ink, drawn]) => (drawn ? [{ ink, move: drawn }] : []));
}

export const FILTER_LABELS: Record<VerdictFilter, string> = {
  changed: "only changes",
  more: VERDICT_WORDS.more,
  less: VERDICT_WORDS.less,
  same: VERDICT_WORDS.same,
  unresolved: VERDICT_WORDS.unresolved,
  none: "without a verdict",
};

const TALLY: [Verdict, string][] = [
  ["more", "slower"],
  ["less", "faster"],
  ["same", "unchanged"],
  ["unresolved", "unresolved"],
  ["unlike", "not comparable"],
  ["apart", "not compared"],
  ["unjudged", "without a verdict"],
];

/** "6 slower", "20 unchanged", "1 without a result": how many cells have each verdict. */
export function tallyOf(cells: readonly ComparedCell[], missing = 0): [kind: string, words: string][] {
  const counts = TALLY.map(([verdict, word]): [string, number, string] => [
    verdict,
    cells.filter((cell) => cell.verdict === verdict).length,
    word,
  ]);
  return [...counts, ["missing", missing, "without a result"] as const]
    .filter(([, amount]) => amount > 0)
    .map(([kind, amount, word]) => [kind, `${amount} ${word}`]);
}

/** "3 slower (up to +3.0%), 9 unchanged": the same in one line, with the largest changes. */
export function tallyText(cells: readonly ComparedCell[]): string {
  const words = tallyOf(cells).map(([kind, text]) => {
    const [most, ...others] = movedOf(cells.filter(({ verdict }) => verdict === kind));
    return most?.move ? `${text} (${others.length > 0 ? "up to " : ""}${percent(most.move.ratio)})` : text;
  });
  return words.join(", ");
}

/** "The resolution is 0.91% to 39%, depending on the case: a real change below it would probably be missed." */
export function resolutionText(cells: readonly ComparedCell[]): string {
  const limits = cells.flatMap(({ resolves }) => resolves ?? []).sort((a, b) => a - b);
  const [lowest, highest] = [limits[0], limits.at(-1)];
  if (lowest === undefined || highest === undefined) {
    return "There are too few invocations to estimate the resolution.";
  }
  const [low, high] = [share(lowest), share(highest)];
  const size = low === high ? low : `${low} to ${high}, depending on the case`;
  return `The resolution is ${size}: a real change below it would probably be missed.`;
}

const TRAITS: Record<ComparedCell["unalike"][number], string> = {
  pool: "pool",
  cpu: "CPU",
  runs: "run, with no subject in common",
  work: "work: the handshakes or the methods differ",
  turns: "time: the two cases were not measured in turns in one run",
};

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

/** All rows with plain numbers in nanoseconds, whichever groups are open. */
export function changesCsv(rows: readonly ChangeRow[]): string[][] {
  const head = [
    ...["case", "other case", "base pool", "base CPU", "other pool", "other CPU", "verdict", "caveats"],
    ...(["both", "client", "server"] as const).flatMap((side) =>
      ["base ns", "other ns", "ratio", "low", "high", "verdict"].map((column) => `${side} ${column}`),
    ),
    ...["server base ns of a connection", "server other ns of a connection", "invocations"],
    ...["base run", "other run"],
  ];
  return [
    head,
    ...rows.map(({ cell, caseView, otherCase = caseView }) => {
      const { verdict, other_host_kind, client, server } = cell;
      const numbers = [
        ...sideCsv(cell.estimates.both, cell.move && { ...cell.move, verdict }),
        ...sideCsv(cell.estimates.client, client),
        ...sideCsv(cell.estimates.server, server),
        ...[cell.server_before_ns, cell.server_after_ns, cell.invocations],
      ];
      return [
        ...[caseView.title, otherCase.title],
        ...[cell.pool, cell.cpu_model, other_host_kind.pool, other_host_kind.cpu_model],
        ...[verdict, cell.warnings.join("; ")],
        ...numbers.map((value) => value?.toString() ?? ""),
        ...[cell.run_ids[0] ?? "", cell.run_ids.at(-1) ?? ""],
      ];
    }),
  ];
}

function sideCsv(
  costs: ComparedCell["estimates"][string] | undefined,
  move: ComparedCell["client"],
): (string | number | undefined)[] {
  return [costs?.[0].value, costs?.[1].value, move?.ratio, move?.low, move?.high, move?.verdict];
}

/** "An RSA certificate (server CPU time)" */
export function factorTitle({ dimension, value, side, words }: Factor): string {
  const name = words || `${dimension} ${value}`;
  const title = name.charAt(0).toUpperCase() + name.slice(1);
  return side === "both" ? title : `${title} (${side} CPU time)`;
}

/** "+6.2% [+5.8%, +6.6%]; 6 of 8 cases changed; explains 91% of the variation" */
export function factorText(factor: Factor): string {
  const { cells, moved = 0, explained, alike = [] } = factor;
  const parts = [
    moveText(factor),
    `${moved} of ${count(cells, "case")} changed`,
    `explains ${Math.round(100 * explained)}% of the variation`,
  ];
  if (alike.length > 0) parts.push(`cannot be separated from ${alike.join(" and ")}`);
  return parts.join("; ");
}

export function factorInk({ side, ratio }: Factor): Ink {
  return side === "both" ? (ratio > 1 ? "more" : "less") : side;
}

/** "3.5.4, 2 cases: crashed", with the titles of the cases: those that have no result for the same reason. */
export function gapsOf(missing: readonly MissingCell[]): { words: string; cells: string[] }[] {
  const gaps = new Map<string, MissingCell[]>();
  for (const cell of missing) {
    const key = `${cell.version} ${cell.reason}`;
    gaps.set(key, [...(gaps.get(key) ?? []), cell]);
  }
  return [...gaps.values()].map((own) => {
    const [{ version, reason }] = own as [MissingCell];
    const titles = [...new Set(own.map(({ title }) => title))];
    return { words: `${version}, ${count(titles.length, "case")}: ${reason}`, cells: titles };
  });
}

type NamedEnd = Pick<UpgradeEnd, "version" | "source">;
interface Upgraded {
  library: string;
  before: NamedEnd;
  after: NamedEnd;
}

/** "OpenSSL 3.0.19 → 3.5.4" */
export function titleOf({ library, before, after }: Upgraded): string {
  return `${libraryTitle(library)} ${namesOf(before, after).join(" → ")}`;
}

export function stepTitle(prior: Subject, subject: Subject): string {
  return titleOf({ library: subject.library, before: endOf(prior), after: endOf(subject) });
}

/** The steps of a run in which dependencies changed: "GnuTLS 3.7.9 → 3.8.9", "nettle 3.8.1 → 3.10.1". `priors` maps a
 * subject to the subject that it is compared with. */
export function stepsOf(priors: Map<string, Subject>, subjects: Subject[], cells: Cell[]) {
  return subjects.flatMap((subject) => {
    const prior = priors.get(subject.name);
    const changes = cells.flatMap((cell) => (cell.subject === subject.name && cell.change) || []);
    const dependencies = dependencyText(changes.filter(({ before }) => before.subject === prior?.name));
    return prior && dependencies ? [{ title: stepTitle(prior, subject), dependencies }] : [];
  });
}

/** As alerts name the versions: "3.0.19", or "3.0.19 (debian/bookworm)" if both versions are the same. */
function namesOf(before: NamedEnd, after: NamedEnd): [string, string] {
  if (before.version !== after.version) return [before.version, after.version];
  return [`${before.version} (${before.source})`, `${after.version} (${after.source})`];
}

/** "crate/3.0.19 → debian/trixie": two builds of a version have other costs. */
export function sourcesOf({ before, after }: Pick<Upgraded, "before" | "after">): string {
  return `${before.source} → ${after.source}`;
}

const NAMED = /^[^:]* → [^:]*: /;

/** A sentence about an upgrade, for display below a heading that already names the versions. */
export function storyOf({ sentence }: { sentence?: string | null }): string {
  const story = (sentence ?? "").replace(NAMED, "");
  return story.charAt(0).toUpperCase() + story.slice(1);
}

type Ends = Pick<Comparison, "base" | "other">;

/** "OpenSSL 3.5.4" */
export function endName({ subject }: Pick<ComparedEnd, "subject">): string {
  return `${libraryTitle(subject.library)} ${versionText(subject)}`;
}

/** "OpenSSL 3.0.17 → 3.5.4", "OpenSSL 3.5.4: two machines" where only the machine, the run or the case differs. */
export function compareTitle({ base, other }: Ends): string {
  if (!base || !other) return "Compare";
  if (base.subject.name === other.subject.name) {
    const what =
      base.case_id !== other.case_id ? "cases" : base.run_id === other.run_id ? "machines" : "runs";
    return `${endName(base)}: two ${what}`;
  }
  if (base.subject.library !== other.subject.library) return `${endName(base)} → ${endName(other)}`;
  return stepTitle(base.subject, other.subject);
}

function endOf(subject: Subject): NamedEnd {
  return { version: versionText(subject), source: subject.source };
}

/** "cipher: AES-128-GCM → AES-128-CBC-SHA": in what two cases differ, with both values; nothing for one case. */
export function differenceText({ differences }: Pick<Comparison, "differences">): string | undefined {
  if (differences.length === 0) return undefined;
  return differences.map(({ what, before, after }) => `${what}: ${before} → ${after}`).join(", ");
}

/** The alert of the upgrade between two ends, if there is one. */
export function alertOf({ base, other }: Ends, alerts: readonly AlertSummary[]): AlertSummary | undefined {
  if (!base || !other) return undefined;
  const [before, after] = namesOf(endOf(base.subject), endOf(other.subject));
  return alerts.find(
    ({ cause }) => cause.library === base.subject.library && cause.before === before && cause.after === after,
  );
}

/** What is chosen for each end. The URL is ahead of the answer, which says what was chosen by default. */
export function endChoices(
  search: CompareSearch,
  { base, other }: Ends,
): [base: EndChoice, other: EndChoice] {
  return [
    {
      subject: search.base ?? base?.subject.name,
      pool: search.basePool,
      cpu: search.baseCpu,
      run: search.baseRun,
      case: search.baseCase,
    },
    {
      subject: search.other ?? other?.subject.name,
      pool: search.otherPool,
      cpu: search.otherCpu,
      run: search.otherRun,
      case: search.otherCase,
    },
  ];
}

type Pairs = ComparedPairs | undefined;
type Choices = [base: EndChoice, other: EndChoice];

/** The subjects to choose from for an end. `pairs`: in a published site, those that are compared there. */
export function subjectsAt(end: "base" | "other", subjects: Subject[], pairs: Pairs): Subject[] {
  const names = pairs && new Set(pairs.map(([base, other]) => (end === "base" ? base : other)));
  return names ? subjects.filter(({ name }) => names.has(name)) : subjects;
}

/** Both ends after a choice for one. A site compares its pairs on one host kind, so there the other end follows. */
export function chosenEnds(
  end: "base" | "other",
  next: EndChoice,
  [base, other]: Choices,
  pairs: Pairs,
): Choices {
  const ends: Choices = end === "base" ? [{ ...base, ...next }, other] : [base, { ...other, ...next }];
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
