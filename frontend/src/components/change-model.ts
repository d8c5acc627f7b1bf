// Compared cells in rows and words: which are shown and in which order, and what they have in common. Pure.
import type {
  CaseView,
  ComparedCell,
  Comparison,
  Factor,
  HostKind,
  MissingCell,
  Ratio,
} from "@/api/generated";
import { isJudged, isMoved, VERDICT_WORDS, type Verdict } from "@/charts/change-words";
import { matches } from "@/charts/heatmap-model";
import type { Ink, MoveLine } from "@/charts/MoveChart";
import { groupOf } from "@/charts/matrix-view";
import { count, moveText, percent, share } from "@/format";
import type { ChangesView, VerdictFilter } from "@/search";

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
export function isOnSeveral(hosts: readonly HostKind[]): boolean {
  return new Set(hosts.map(({ pool, cpu_model }) => `${pool} ${cpu_model}`)).size > 1;
}

export function keyOf({ case_id, host_kind }: Pick<ComparedCell, "case_id" | "host_kind">): string {
  return `${case_id} ${host_kind.pool} ${host_kind.cpu_model}`;
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

/** "In 3 comparisons, the change is not significant, or smaller than the resolution, which is 0.91% to 39%, …" Those
 * without a resolution have too few invocations to estimate one, and are said apart. */
export function unresolvedTexts(cells: readonly ComparedCell[]): string[] {
  const limits = cells.flatMap(({ resolves }) => resolves ?? []).sort((a, b) => a - b);
  const [lowest = 0, highest = 0] = [limits[0], limits.at(-1)];
  const [low, high] = [share(lowest), share(highest)];
  const size = low === high ? low : `${low} to ${high}, depending on the case`;
  const few = cells.length - limits.length;
  return [
    limits.length > 0 &&
      `in ${count(limits.length, "comparison")}, the change is not significant, or smaller than the resolution. The resolution is ${size}: a real change below it would probably be missed. More invocations lower it.`,
    few > 0 && `in ${count(few, "comparison")}, there are too few invocations to judge the change.`,
  ].filter((text) => text !== false);
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
      const { verdict, host_kind, other_host_kind, client, server } = cell;
      const numbers = [
        ...sideCsv(cell.estimates.both, cell.move && { ...cell.move, verdict }),
        ...sideCsv(cell.estimates.client, client),
        ...sideCsv(cell.estimates.server, server),
        ...[cell.server_before_ns, cell.server_after_ns, cell.invocations],
      ];
      return [
        ...[caseView.title, otherCase.title],
        ...[host_kind.pool, host_kind.cpu_model, other_host_kind.pool, other_host_kind.cpu_model],
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
