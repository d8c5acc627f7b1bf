// A library's life as its page shows it: some cases and versions, steps of a start. Pure.
import type { Cell, Life, LifeCase, Metric, Subject } from "@/api/generated";
import { reasonsOf } from "./outcome-model";

/** The answer with one case and some versions alone. A change needs both of its ends. */
export function chosenOf(answer: Life, caseId?: string, versions?: string[]) {
  const places = answer.subjects.flatMap(({ name }, place) =>
    !versions || versions.includes(name) ? [place] : [],
  );
  const subjects = answer.subjects.filter((_, place) => places.includes(place));
  const names = new Set(subjects.map(({ name }) => name));
  const isChosen = ({ case: { id } }: Pick<LifeCase, "case">) => caseId === undefined || id === caseId;
  return {
    subjects,
    changes: answer.changes.filter(
      (change) => isChosen(change) && change.ends.every(({ subject }) => names.has(subject)),
    ),
    variations: answer.variations.filter(
      ({ subject, usual, other }) =>
        names.has(subject) && (caseId === undefined || [usual.id, other.id].includes(caseId)),
    ),
    cases: answer.cases
      .filter(isChosen)
      .map((shown) => ({
        ...shown,
        ageing: places.map((place) => shown.ageing[place] ?? null),
        sections: shown.sections
          .map((section) => ({
            ...section,
            lines: section.lines
              .map((line) => ({ ...line, cells: places.map((place) => line.cells[place] ?? null) }))
              .filter(({ cells }) => cells.some((cell) => cell?.estimate || cell?.outcome)),
          }))
          .filter(({ lines }) => lines.length > 0),
      }))
      .filter(({ sections }) => sections.length > 0),
  };
}

/** In the order in which a process takes them. */
export const START_STEPS = [
  ["start_load_cpu_ns", "loading"],
  ["start_library_cpu_ns", "library"],
  ["start_context_cpu_ns", "context"],
  ["start_keys_cpu_ns", "keys"],
  ["start_trust_cpu_ns", "trust anchors"],
  ["start_handshake_cpu_ns", "first handshake"],
] as const satisfies readonly (readonly [Metric, string])[];
/** What libraries do between the steps that they tell apart: all of set-up, if they tell none of it. */
export const UNDIVIDED = ["start_cpu_ns", "set-up, undivided"] as const;

export interface Start {
  subject: Subject;
  /** CPU time of each step that has a number, and of what is not divided into steps */
  steps: { metric: Metric; name: string; ns: number }[];
  totalNs: number;
}

export function sumOf(steps: Start["steps"]): number {
  return steps.reduce((sum, { ns }) => sum + ns, 0);
}

/** Of each version whose start was measured step by step. */
export function startsOf(shown: LifeCase, subjects: readonly Subject[]): Start[] {
  const lines = shown.sections.flatMap(({ lines }) => lines);
  return subjects.flatMap((subject, place) => {
    const nsOf = (wanted: Metric) =>
      lines.find(({ metric }) => metric === wanted)?.cells[place]?.estimate?.value;
    const [whole, rest] = UNDIVIDED;
    const steps: Start["steps"] = START_STEPS.flatMap(([metric, name]) => {
      const ns = nsOf(metric);
      return ns === undefined ? [] : [{ metric, name, ns }];
    });
    if (steps.length === 0) return [];
    const stepsNs = sumOf(steps);
    const totalNs = nsOf(whole) ?? stepsNs;
    const isWhole = START_STEPS.every(
      ([metric]) => metric === "start_trust_cpu_ns" || nsOf(metric) !== undefined,
    );
    // Medians of steps don't add up to the median of all, so a rest says something only where steps are missing.
    if (!isWhole && totalNs > stepsNs) {
      const last = steps.findIndex(({ metric }) => metric === "start_handshake_cpu_ns");
      const place = last < 0 ? steps.length : last;
      steps.splice(place, 0, { metric: whole, name: rest, ns: totalNs - stepsNs });
    }
    return [{ subject, steps, totalNs }];
  });
}

/** Why cells have no number, each reason once for a case and version. */
export function outcomesOf(cases: readonly LifeCase[], subjects: Subject[]) {
  const seen = new Map<string, Cell>();
  for (const { sections } of cases) {
    for (const cell of sections.flatMap(({ lines }) => lines.flatMap(({ cells }) => cells))) {
      if (cell?.outcome) seen.set([cell.case_id, cell.subject, cell.outcome.reason].join(" "), cell);
    }
  }
  return reasonsOf({ cases: cases.map((each) => each.case), subjects, cells: [...seen.values()] });
}
