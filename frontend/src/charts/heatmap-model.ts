// From the API's cells to what the heatmap and its table show. Pure: no React, no fetching.
import type { CaseView, Cell, Change, Metric, Negotiated, OutcomeView, SubjectView } from "@/api/generated";
import * as format from "@/format";
import { componentText, originText, versionText } from "@/subjects";
import { isOf, type Variation } from "@/variation";
import { cautionsOf } from "./cautions";
import { FULL_AT_CASE, strength } from "./scale";

export type Tone = Change["verdict"] | "neutral" | "outcome" | "missing";

export interface HeatCell {
  caseView: CaseView;
  subject: SubjectView;
  cell: Cell | undefined;
  tone: Tone;
  /** 0 to 1: how strong the tone's colour is */
  strength: number;
  headline: string;
  note: string;
  /** why the comparison needs care */
  cautions: string[];
  /** all of it in words, for screen readers and the line under the heatmap */
  sentence: string;
}

export interface HeatRow {
  caseView: CaseView;
  cells: HeatCell[];
}

export interface HeatModel {
  groups: { library: string; subjects: SubjectView[] }[];
  subjects: SubjectView[];
  /** of a subject the one that its changes are against */
  priors: Map<string, SubjectView>;
  rows: HeatRow[];
}

export interface HeatInput {
  cases: CaseView[];
  subjects: SubjectView[];
  cells: Cell[];
  metric: Metric;
}

export interface HeatChoice {
  /** words that must all stand in a case's title */
  q?: string;
  variation?: Variation;
  /** compare every case with this one, instead of with the version before */
  versus?: string;
}

export function heatModel(input: HeatInput, choice: HeatChoice = {}): HeatModel {
  const byPlace = new Map(input.cells.map((cell) => [place(cell.case_id, cell.subject), cell]));
  const named = new Map(input.subjects.map((subject) => [subject.subject, subject]));
  const reference = input.cases.find((caseView) => caseView.id === choice.versus);
  const row = (caseView: CaseView): HeatRow => ({
    caseView,
    cells: input.subjects.map((subject) => {
      const cell = byPlace.get(place(caseView.id, subject.subject));
      const base = { caseView, subject, cell, strength: 0, cautions: [], headline: "", note: "" };
      if (!cell) return described({ ...base, tone: "missing", headline: "–", note: "not measured" });
      if (!cell.estimate) {
        const kind = cell.outcome?.kind ?? "no number";
        return described({ ...base, tone: "outcome", headline: kind, note: cell.outcome?.reason ?? "" });
      }
      const shown = {
        ...base,
        cautions: troubles(cell),
        headline: format.headline(cell.estimate.value, input.metric),
      };
      if (reference) {
        const against = byPlace.get(place(reference.id, subject.subject))?.estimate?.value;
        return described(versusCase(shown, cell.estimate.value, against, reference));
      }
      return described(versusVersion(shown, input.metric));
    }),
  });
  return {
    groups: groupedByLibrary(input.subjects),
    subjects: input.subjects,
    priors: priorsOf(input),
    rows: input.cases
      .filter((caseView) => matches(caseView, choice.q) && isOf(caseView, choice.variation))
      .map(row),
  };

  function described(cell: Omit<HeatCell, "sentence">): HeatCell {
    return { ...cell, sentence: sentence(cell, input.metric, named) };
  }
}

/** Of each subject the one that most of its changes are against: together they are an upgrade. */
export function priorsOf({
  subjects,
  cells,
}: Pick<HeatInput, "subjects" | "cells">): Map<string, SubjectView> {
  const found = new Map<string, SubjectView>();
  for (const { subject } of subjects) {
    const against = cells.flatMap((cell) => (cell.subject === subject ? (cell.change?.against ?? []) : []));
    const amount = (name: string) => against.filter((one) => one === name).length;
    const [most] = [...new Set(against)].sort((a, b) => amount(b) - amount(a));
    const prior = subjects.find((one) => one.subject === most);
    if (prior) found.set(subject, prior);
  }
  return found;
}

/** A number can stand although some invocations failed. */
function troubles({ outcome, sides_outcome: sides }: Cell): string[] {
  const told = outcome ? [inWords(outcome)] : [];
  return sides ? [...told, `client and server apart: ${inWords(sides)}`] : told;
}

function inWords({ invocations, kind, reason }: OutcomeView): string {
  return `${format.count(invocations, "invocation")} ${kind}: ${reason}`;
}

type Drawn = Omit<HeatCell, "sentence" | "tone">;

function versusVersion(shown: Drawn, metric: Metric): Drawn & { tone: Tone } {
  const change = shown.cell?.change;
  if (!change) return { ...shown, tone: "neutral", note: shown.cell?.apart_from ? "measured apart" : "" };
  const drawn = { ...shown, cautions: [...shown.cautions, ...cautionsOf(change)], tone: change.verdict };
  switch (change.verdict) {
    case "same":
      return { ...drawn, note: "no change" };
    case "unresolved":
      return { ...drawn, note: "can’t resolve" };
    case "unlike":
      return { ...drawn, note: "not alike" };
    default:
      return { ...drawn, strength: strength(change.ratio), note: format.changeInWords(change.ratio, metric) };
  }
}

function versusCase(
  shown: Drawn,
  value: number,
  against: number | undefined,
  reference: CaseView,
): Drawn & { tone: Tone } {
  if (shown.caseView.id === reference.id) return { ...shown, tone: "neutral", note: "reference" };
  if (!against) return { ...shown, tone: "neutral", note: "no reference" };
  const ratio = value / against;
  return {
    ...shown,
    tone: ratio > 1 ? "more" : "less",
    strength: strength(ratio, FULL_AT_CASE),
    note: `${format.factor(ratio)} the cost`,
  };
}

function sentence(
  shown: Omit<HeatCell, "sentence">,
  metric: Metric,
  named: Map<string, SubjectView>,
): string {
  const { caseView, subject, cell } = shown;
  const head = `${caseView.title}, ${subject.library} ${versionText(subject)} (${originText(subject)})`;
  if (!cell) return `${head}: not measured.`;
  if (!cell.estimate) {
    const detail = cell.outcome?.detail ? ` (${cell.outcome.detail})` : "";
    return `${head}: ${cell.outcome?.kind ?? "no number"}: ${cell.outcome?.reason ?? "no reason given"}${detail}.`;
  }
  const { estimate, change } = cell;
  const cost = `${format.cost(estimate.value, metric)} ${format.interval(estimate, metric)}`;
  const parts = [
    format.unitOf(metric) === "ns" ? `${shown.headline}, ${cost}` : cost,
    format.count(estimate.invocations, "invocation"),
  ];
  const apart = cell.apart_from ? named.get(cell.apart_from) : undefined;
  if (apart) parts.push(`not compared with ${versionText(apart)}, whose run shares no subject with this one`);
  if (shown.note.endsWith("the cost")) parts.push(`${shown.note} of the reference case`);
  else if (change) {
    parts.push(changeSentence(cell, metric, named));
    if (change.components.length > 0) parts.push(`with ${change.components.map(componentText).join(", ")}`);
  }
  if (cell.to_sentinel) {
    parts.push(
      `${format.factor(cell.to_sentinel.ratio)} ${format.plainInterval(cell.to_sentinel)} the sentinel’s cost`,
    );
  }
  if (cell.negotiated) parts.push(`chose ${choiceText(cell.negotiated)}`);
  const cautions = shown.cautions.length > 0 ? ` With care: ${shown.cautions.join("; ")}.` : "";
  return `${head}: ${parts.join("; ")}.${cautions}`;
}

function count(number: number | null | undefined, noun: string): string | null {
  return number === null || number === undefined
    ? null
    : `${String(number)} ${noun}${number === 1 ? "" : "s"}`;
}

/** What a library picked where it was free to: "TLSv1.3, TLS_AES_256_GCM_SHA384, X25519, signature rsa_pss_rsae_sha256". */
export function choiceText(negotiated: Negotiated): string {
  const { protocol, cipher, group, signature, key_shares: shares, tickets } = negotiated;
  const known = [protocol, cipher, group].filter((one) => one !== null && one !== "-");
  const signed = signature && signature !== "-" ? [`signature ${signature}`] : [];
  const counted = [count(shares, "client key share"), count(tickets, "ticket")].filter((one) => one !== null);
  return [...known, ...signed, ...counted].join(", ");
}

/** "5.1% more time [+4.8%, +5.4%] than 3.0.20 (debian/bookworm)". */
export function changeSentence(cell: Cell, metric: Metric, named: Map<string, SubjectView>): string {
  const { change } = cell;
  if (!change) return "";
  const other = named.get(change.against);
  const against = other ? `${versionText(other)} (${originText(other)})` : change.against;
  const range = format.percentInterval(change.low, change.high);
  switch (change.verdict) {
    case "same":
      return `no change ${range} from ${against}`;
    case "unresolved":
      return `the change from ${against} can’t be resolved (${format.percent(change.ratio)} ${range})`;
    case "unlike":
      return `did not do the same as ${against} (${format.percent(change.ratio)} ${range})`;
    default:
      return `${format.changeInWords(change.ratio, metric)} ${range} than ${against}`;
  }
}

function groupedByLibrary(subjects: SubjectView[]): HeatModel["groups"] {
  const groups: HeatModel["groups"] = [];
  for (const subject of subjects) {
    const last = groups.at(-1);
    if (last?.library === subject.library) last.subjects.push(subject);
    else groups.push({ library: subject.library, subjects: [subject] });
  }
  return groups;
}

function matches(caseView: CaseView, q = ""): boolean {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  const title = `${caseView.title} ${caseView.id}`.toLowerCase();
  return words.every((word) => title.includes(word));
}

function place(caseId: string, subject: string): string {
  return `${caseId} ${subject}`;
}
