// Which rows and columns of a matrix are shown: groups of cases, open or as one line each; nothing without numbers. Pure.
import type { CaseView, Metric, Subject } from "@/api/generated";
import * as format from "@/format";
import { NO_GROUP } from "@/search";
import { endText, versionText } from "@/subjects";
import type { HeatCell, HeatModel, HeatRow, Tone } from "./heatmap-model";
import { strength } from "./scale";

export interface GroupCell {
  subject: Subject;
  tone: Tone;
  strength: number;
  headline: string;
  note: string;
  /** the whole cell in words */
  sentence: string;
}

export type MatrixLine =
  | {
      kind: "group";
      group: string;
      /** what the titles of its cases have in common besides its name, such as "TLS 1.3" */
      common: string;
      cases: number;
      isOpen: boolean;
      cells: GroupCell[];
    }
  | {
      kind: "case";
      row: HeatRow;
      /** the parts of the title that the line of its group does not have */
      title: string[];
    };

export interface MatrixView {
  model: HeatModel;
  /** undefined: cases without groups */
  lines: MatrixLine[] | undefined;
  groups: string[];
  /** many narrow columns, whose cells show the change alone */
  isDense: boolean;
  hidden: { cases: number; versions: number; older: number };
}

export interface MatrixChoice {
  spec?: string;
  versus?: string;
  open?: string[];
  versions?: "all";
  empty?: "shown";
}

/** More columns than this are hard to read at once. */
const WIDE = 10;
const TALL = 20;

export function matrixView(model: HeatModel, choice: MatrixChoice, metric: Metric): MatrixView {
  const showsEmpty = choice.empty === "shown";
  const rows = model.rows.filter((row) => showsEmpty || row.cells.some(hasNumber));
  const withNumbers = model.subjects.filter(
    (_, column) => showsEmpty || rows.some((row) => hasNumber(row.cells[column])),
  );
  const subjects = choice.versions === "all" ? withNumbers : newest(withNumbers);
  const shown = narrowed(model, rows, subjects);
  const groups = [...new Set(rows.map((row) => groupOf(row.caseView)))];
  const open = openGroups(groups, rows.length, choice.open);
  // A spec's cases are what its author wants to see, and costs relative to a case have no verdicts to count.
  const isFlat = choice.spec !== undefined || choice.versus !== undefined;
  return {
    model: shown,
    groups,
    lines:
      isFlat || (groups.length < 2 && rows.length <= TALL) ? undefined : linesOf(shown, groups, open, metric),
    isDense: subjects.length > WIDE,
    hidden: {
      cases: model.rows.length - rows.length,
      versions: model.subjects.length - withNumbers.length,
      older: withNumbers.length - subjects.length,
    },
  };
}

/** "ECDHE-RSA, RSA 2048": the key exchange and the certificate's key. */
export function groupOf({ key_exchange, rsa_bits, curve }: CaseView): string {
  if (rsa_bits) return `${key_exchange}, RSA ${rsa_bits}`;
  return curve === "-" || !curve ? key_exchange : `${key_exchange}, ${curve}`;
}

export function openGroups(groups: string[], rows: number, chosen: string[] | undefined): string[] {
  return chosen ?? (rows <= TALL ? groups : []);
}

/** The choice for the URL after a group was opened or closed. */
export function flipped(
  groups: string[],
  rows: number,
  chosen: string[] | undefined,
  group: string,
): string[] {
  const open = openGroups(groups, rows, chosen);
  const next = open.includes(group) ? open.filter((other) => other !== group) : [...open, group];
  const known = groups.filter((other) => next.includes(other));
  return known.length > 0 ? known : [NO_GROUP];
}

/** The newest versions of each library, where all together are many. */
function newest(subjects: Subject[]): Subject[] {
  if (subjects.length <= WIDE) return subjects;
  const libraries = [...new Set(subjects.map((subject) => subject.library))];
  const each = Math.max(2, Math.floor(WIDE / libraries.length));
  return libraries.flatMap((library) =>
    subjects.filter((subject) => subject.library === library).slice(-each),
  );
}

function narrowed(model: HeatModel, rows: HeatRow[], subjects: Subject[]): HeatModel {
  const kept = new Set(subjects.map((subject) => subject.name));
  return {
    ...model,
    subjects,
    groups: model.groups
      .map((group) => ({ ...group, subjects: group.subjects.filter(({ name }) => kept.has(name)) }))
      .filter((group) => group.subjects.length > 0),
    rows: rows.map((row) => ({ ...row, cells: row.cells.filter((cell) => kept.has(cell.subject.name)) })),
  };
}

/** A group of one case is that case. */
function linesOf(model: HeatModel, groups: string[], open: string[], metric: Metric): MatrixLine[] {
  return groups.flatMap((group): MatrixLine[] => {
    const rows = model.rows.filter((row) => groupOf(row.caseView) === group);
    if (rows.length === 1) return rows.map(caseLine);
    const isOpen = open.includes(group);
    const cells = model.subjects.map((subject, column) =>
      groupCell(
        group,
        subject,
        rows.flatMap((row) => row.cells[column] ?? []),
        metric,
      ),
    );
    const { common, titles } = titlesInGroup(rows);
    const head: MatrixLine = { kind: "group", group, common, cases: rows.length, isOpen, cells };
    if (!isOpen) return [head];
    return [
      head,
      ...rows.map((row, index): MatrixLine => ({ kind: "case", row, title: titles[index] ?? [] })),
    ];
  });
}

export function caseLine(row: HeatRow): MatrixLine {
  return { kind: "case", row, title: row.caseView.title.split(", ") };
}

function titlesInGroup(rows: HeatRow[]): { common: string; titles: string[][] } {
  const titles = rows.map((row) => titleInGroup(row.caseView));
  const [common = ""] = titles[0] ?? [];
  const isCommon = titles.every((title) => title.length > 1 && title[0] === common);
  return isCommon ? { common, titles: titles.map((title) => title.slice(1)) } : { common: "", titles };
}

/** The parts of a title that the name of its group does not have. */
function titleInGroup(caseView: CaseView): string[] {
  const [main = "", ...rest] = caseView.title.split(", ");
  const key = groupOf(caseView).split(", ")[1];
  const short = main.replace(` ${caseView.key_exchange}`, "");
  return [short, ...(key && rest[0]?.endsWith(key.replace("RSA ", "")) ? rest.slice(1) : rest)];
}

/** The order of the words, and whose colour a cell of several cases has: what got worse first. */
const ORDER: Tone[] = [
  "more",
  "less",
  "unresolved",
  "same",
  "unlike",
  "apart",
  "neutral",
  "outcome",
  "missing",
];

/** The cells of a group and a version as one, with the number of its cases by verdict. */
export function groupCell(group: string, subject: Subject, cells: HeatCell[], metric: Metric): GroupCell {
  const counts = new Map<string, number>();
  const ordered = [...cells].sort((a, b) => ORDER.indexOf(a.tone) - ORDER.indexOf(b.tone));
  for (const cell of ordered) {
    const word = wordOf(cell, metric);
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const tone = ordered[0]?.tone ?? "missing";
  const moved = tone === "more" || tone === "less";
  const ratios = moved
    ? ordered.filter((cell) => cell.tone === tone).flatMap((cell) => cell.cell?.change?.ratio ?? [])
    : [];
  const most = ratios.sort((a, b) => Math.abs(Math.log(b)) - Math.abs(Math.log(a)))[0] ?? 1;
  const upTo = ratios.length > 1 ? "up to " : "";
  const words = [...counts].map(([word, amount]) => `${amount} ${word}`).join(", ");
  const change = moved ? `; ${upTo}${format.changeInWords(most, metric)}` : "";
  return {
    subject,
    tone,
    strength: moved ? strength(most) : 0,
    headline: moved ? format.percent(most) : counts.size === 1 ? ([...counts.keys()][0] ?? "") : words,
    note: moved ? words : "",
    sentence: `${group}, ${subject.library} ${versionText(subject)}: ${words}${change}${fromText(cells)}.`,
  };
}

/** "; from 3.0.19 (debian/bookworm)": the other ends of all changes. */
function fromText(cells: HeatCell[]): string {
  const ends = new Set(cells.flatMap(({ cell }) => (cell?.change ? [endText(cell.change.before)] : [])));
  return ends.size > 0 ? `; from ${[...ends].join(" or ")}` : "";
}

function wordOf({ tone, cell, isTooFew }: HeatCell, metric: Metric): string {
  const isTime = format.unitOf(metric) === "ns";
  switch (tone) {
    case "more":
      return isTime ? "slower" : "higher";
    case "less":
      return isTime ? "faster" : "lower";
    case "same":
      return "no change";
    case "unlike":
      return "not comparable";
    case "apart":
    case "neutral":
      if (isTooFew) return "too few invocations";
      return cell?.apart_from ? "not compared" : "nothing earlier";
    case "outcome":
      return "no result";
    case "missing":
      return "not measured";
    default:
      return tone;
  }
}

/** A cell in a narrow column: its change, or a sign for why there is none. The legend has their meaning. */
export function denseText(cell: HeatCell): string {
  const ratio = cell.cell?.change?.ratio;
  const moved = cell.tone === "more" || cell.tone === "less";
  return moved && ratio !== undefined ? format.percent(ratio) : SIGNS[cell.tone];
}

export function denseGroupText(cell: GroupCell): string {
  return cell.tone === "more" || cell.tone === "less" ? cell.headline : SIGNS[cell.tone];
}

export const SIGNS: Record<Tone, string> = {
  more: "+",
  less: "−",
  same: "=",
  unresolved: "?",
  unlike: "≠",
  apart: "·",
  unjudged: "·",
  neutral: "·",
  outcome: "×",
  missing: "–",
};

function hasNumber(cell: HeatCell | undefined): boolean {
  return Boolean(cell?.cell?.estimate);
}
