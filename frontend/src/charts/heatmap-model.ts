// From the API's cells to what the heatmap and its table show. Pure: no React, no fetching.
import type { CaseView, Cell, Change, Metric, Negotiated, OutcomeView, Subject } from "@/api/generated";
import * as format from "@/format";
import { componentText, endText, originText, versionText } from "@/subjects";
import { isOf, type Variation } from "@/variation";
import { caveatsOf, isMoved, VERDICT_WORDS } from "./change-words";
import { FULL_AT_CASE, strength } from "./scale";

export type Tone = Change["verdict"] | "neutral" | "outcome" | "missing";

export interface HeatCell {
  caseView: CaseView;
  subject: Subject;
  cell: Cell | undefined;
  tone: Tone;
  /** 0 to 1: how strong the tone's colour is */
  strength: number;
  headline: string;
  note: string;
  /** whether it has too few invocations to be compared with the version before */
  isTooFew: boolean;
  /** why the comparison needs care */
  cautions: string[];
  /** the whole cell in words, for screen readers and the line below the heatmap */
  sentence: string;
}

export interface HeatRow {
  caseView: CaseView;
  cells: HeatCell[];
}

export interface HeatModel {
  groups: { library: string; subjects: Subject[] }[];
  subjects: Subject[];
  /** maps a subject to the subject that most of its cells are compared with */
  priors: Map<string, Subject>;
  /** the case that all cells are compared with, instead of with lower versions */
  versus: CaseView | undefined;
  rows: HeatRow[];
}

export interface HeatInput {
  cases: CaseView[];
  subjects: Subject[];
  cells: Cell[];
  metric: Metric;
}

export interface HeatChoice {
  /** words that a case's title must contain */
  q?: string;
  variation?: Variation;
  /** compare every case with this case, instead of every version with a lower one */
  versus?: string;
}

const TOO_FEW = "too few invocations";

/** Whether a † stands on it. */
export function hasCaveat({ cautions, tone }: Pick<HeatCell, "cautions" | "tone">): boolean {
  return cautions.length > 0 && tone !== "neutral";
}

export function heatModel(input: HeatInput, choice: HeatChoice = {}): HeatModel {
  const byPlace = new Map(input.cells.map((cell) => [place(cell.case_id, cell.subject), cell]));
  const priors = priorsOf(input);
  const reference = input.cases.find((caseView) => caseView.id === choice.versus);
  const row = (caseView: CaseView): HeatRow => ({
    caseView,
    cells: input.subjects.map((subject) => {
      const cell = byPlace.get(place(caseView.id, subject.name));
      const blank = { strength: 0, isTooFew: false, cautions: [], headline: "", note: "" };
      const base = { caseView, subject, cell, ...blank };
      if (!cell) return described({ ...base, tone: "missing", headline: "–", note: "not measured" });
      if (!cell.estimate) {
        const kind = cell.outcome?.kind ?? "no result";
        return described({ ...base, tone: "outcome", headline: kind, note: cell.outcome?.reason ?? "" });
      }
      const shown = {
        ...base,
        cautions: troubles(cell),
        headline: format.headline(cell.estimate.value, input.metric),
      };
      if (reference) {
        const against = byPlace.get(place(reference.id, subject.name))?.estimate?.value;
        const ratio = against && caseView.id !== reference.id ? cell.estimate.value / against : undefined;
        return described(versusCase(shown, ratio, reference), ratio);
      }
      if (!cell.change && !cell.apart_from && hasLower(caseView.id, subject)) {
        return described({ ...shown, tone: "neutral", isTooFew: true, note: TOO_FEW });
      }
      return described(versusVersion(shown, input.metric, priors.get(subject.name)));
    }),
  });
  return {
    groups: groupedByLibrary(input.subjects),
    subjects: input.subjects,
    priors,
    versus: reference,
    rows: input.cases
      .filter((caseView) => matches(caseView, choice.q) && isOf(caseView, choice.variation))
      .map(row),
  };

  /** Whether a lower version was measured in a case: the two are compared, unless invocations are too few. */
  function hasLower(caseId: string, { library, version_key }: Subject): boolean {
    return input.subjects.some(
      (other) =>
        other.library === library &&
        other.version_key < version_key &&
        byPlace.get(place(caseId, other.name))?.estimate,
    );
  }

  /** `ratio`: to the reference case, if the cells are compared with one */
  function described(cell: Omit<HeatCell, "sentence">, ratio?: number): HeatCell {
    return { ...cell, sentence: sentence(cell, input.metric, ratio) };
  }
}

/** For each subject, the subject that most of its cells are compared with: the two form an upgrade. */
export function priorsOf({ subjects, cells }: Pick<HeatInput, "subjects" | "cells">): Map<string, Subject> {
  const priors = new Map<string, Subject>();
  for (const { name: subject } of subjects) {
    const against = cells.flatMap((cell) =>
      cell.subject === subject ? (cell.change?.before.subject ?? []) : [],
    );
    const amount = (name: string) => against.filter((other) => other === name).length;
    const [most] = [...new Set(against)].sort((a, b) => amount(b) - amount(a));
    const prior = subjects.find((candidate) => candidate.name === most);
    if (prior) priors.set(subject, prior);
  }
  return priors;
}

/** A cell can have a result although some invocations failed. */
function troubles({ outcome, sides_outcome: sides }: Cell): string[] {
  const failures = outcome ? [inWords(outcome)] : [];
  return sides ? [...failures, `no client/server split: ${inWords(sides)}`] : failures;
}

function inWords({ invocations, kind, reason }: OutcomeView): string {
  return `${format.count(invocations, "invocation")} ${kind}: ${reason}`;
}

type Drawn = Omit<HeatCell, "sentence" | "tone">;

/** A note names the other end where it is not the one that the column names. */
function versusVersion(shown: Drawn, metric: Metric, prior: Subject | undefined): Drawn & { tone: Tone } {
  const change = shown.cell?.change;
  if (!change) return { ...shown, tone: "neutral", note: shown.cell?.apart_from ? "not compared" : "" };
  const drawn = againstVersion(shown, change, metric);
  const isOther = change.before.subject !== prior?.name;
  return isOther ? { ...drawn, note: `${drawn.note}, from ${endText(change.before)}` } : drawn;
}

function againstVersion(shown: Drawn, change: Change, metric: Metric): Drawn & { tone: Tone } {
  const drawn = { ...shown, cautions: [...shown.cautions, ...caveatsOf(change)], tone: change.verdict };
  if (!isMoved(change.verdict)) return { ...drawn, note: VERDICT_WORDS[change.verdict] };
  return { ...drawn, strength: strength(change.ratio), note: format.changeInWords(change.ratio, metric) };
}

function versusCase(shown: Drawn, ratio: number | undefined, reference: CaseView): Drawn & { tone: Tone } {
  if (shown.caseView.id === reference.id) return { ...shown, tone: "neutral", note: "reference" };
  if (ratio === undefined) return { ...shown, tone: "neutral", note: "no reference" };
  return {
    ...shown,
    tone: ratio > 1 ? "more" : "less",
    strength: strength(ratio, FULL_AT_CASE),
    note: `${format.factor(ratio)} the cost`,
  };
}

function sentence(shown: Omit<HeatCell, "sentence">, metric: Metric, ratio: number | undefined): string {
  const { caseView, subject, cell } = shown;
  const head = `${caseView.title}, ${subject.library} ${versionText(subject)} (${originText(subject)})`;
  if (!cell) return `${head}: not measured.`;
  if (!cell.estimate) {
    const detail = cell.outcome?.detail ? ` (${cell.outcome.detail})` : "";
    return `${head}: ${cell.outcome?.kind ?? "no result"}: ${cell.outcome?.reason ?? "no reason given"}${detail}.`;
  }
  const { estimate, change } = cell;
  const cost = `${format.cost(estimate.value, metric)} ${format.interval(estimate, metric)}`;
  const parts = [
    format.unitOf(metric) === "ns" ? `${shown.headline}, ${cost}` : cost,
    format.invocations(estimate),
  ];
  if (cell.apart_from) {
    parts.push(`not compared with ${endText(cell.apart_from)}: the two runs share no subject`);
  }
  if (shown.isTooFew) parts.push(`not compared with the version before: ${TOO_FEW}`);
  if (ratio !== undefined) parts.push(`${format.factor(ratio)} the cost of the reference case`);
  else if (change) {
    parts.push(changeSentence(change, metric));
    if (change.components.length > 0) {
      parts.push(`also changed: ${change.components.map(componentText).join(", ")}`);
    }
  }
  if (cell.to_sentinel) {
    parts.push(
      `${format.factor(cell.to_sentinel.ratio)} ${format.plainInterval(cell.to_sentinel)} the cost of the sentinel`,
    );
  }
  if (cell.negotiated) parts.push(`negotiated ${choiceText(cell.negotiated)}`);
  const cautions = shown.cautions.length > 0 ? ` Caveats: ${shown.cautions.join("; ")}.` : "";
  return `${head}: ${parts.join("; ")}.${cautions}`;
}

function count(number: number | null | undefined, noun: string): string | null {
  return number === null || number === undefined
    ? null
    : `${String(number)} ${noun}${number === 1 ? "" : "s"}`;
}

/** What a library chose by itself: "TLSv1.3, TLS_AES_256_GCM_SHA384, X25519, signature rsa_pss_rsae_sha256". */
export function choiceText(negotiated: Negotiated): string {
  const { protocol, cipher, group, signature, key_shares: shares, tickets } = negotiated;
  const algorithms = [protocol, cipher, group].filter((part) => part !== null && part !== "-");
  const signed = signature && signature !== "-" ? [`signature ${signature}`] : [];
  const counted = [count(shares, "client key share"), count(tickets, "ticket")].filter(
    (part) => part !== null,
  );
  return [...algorithms, ...signed, ...counted].join(", ");
}

/** "5.1% more time [+4.8%, +5.4%] than 3.0.20 (debian/bookworm)". */
export function changeSentence(change: Change, metric: Metric): string {
  const against = endText(change.before);
  const numbers = format.moveText(change);
  switch (change.verdict) {
    case "same":
      return `no change from ${against}: ${numbers}`;
    case "unresolved": {
      const resolution = change.resolves === null ? "" : `, resolution ${format.share(change.resolves)}`;
      return `${unresolvedText(change)} from ${against}: ${numbers}${resolution}`;
    }
    case "unlike":
      return `not comparable with ${against}, the handshakes differ: ${numbers}`;
    default:
      return `${format.changeInWords(change.ratio, metric)} ${format.percentInterval(change)} than ${against}`;
  }
}

/** A change whose interval excludes 0 may still be unresolved, for example if it is too small to be relevant. */
function unresolvedText({ low, high }: Change): string {
  return low > 1 || high < 1 ? "unresolved change" : "no significant change";
}

function groupedByLibrary(subjects: Subject[]): HeatModel["groups"] {
  const groups: HeatModel["groups"] = [];
  for (const subject of subjects) {
    const last = groups.at(-1);
    if (last?.library === subject.library) last.subjects.push(subject);
    else groups.push({ library: subject.library, subjects: [subject] });
  }
  return groups;
}

/** Whether a case has all words in its title or id. */
export function matches(caseView: Pick<CaseView, "id" | "title">, q = ""): boolean {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  const title = `${caseView.title} ${caseView.id}`.toLowerCase();
  return words.every((word) => title.includes(word));
}

function place(caseId: string, subject: string): string {
  return `${caseId} ${subject}`;
}
