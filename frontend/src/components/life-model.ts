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
      (change) =>
        isChosen(change) &&
        names.has(change.cell.subject) &&
        names.has(change.cell.change?.before.subject ?? ""),
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
              .filter(({ cells }) => cells.some((cell) => cell?.estimate)),
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

export interface Start {
  subject: Subject;
  /** CPU time of each step that has a number */
  steps: { metric: Metric; name: string; ns: number }[];
  totalNs: number;
}

/** Of each version whose start was measured step by step. */
export function startsOf(shown: LifeCase, subjects: readonly Subject[]): Start[] {
  const lines = shown.sections.flatMap(({ lines }) => lines);
  return subjects.flatMap((subject, place) => {
    const steps = START_STEPS.flatMap(([metric, name]) => {
      const value = lines.find((line) => line.metric === metric)?.cells[place]?.estimate?.value;
      return value === undefined ? [] : [{ metric, name, ns: value }];
    });
    const totalNs = steps.reduce((sum, { ns }) => sum + ns, 0);
    return steps.length > 0 ? [{ subject, steps, totalNs }] : [];
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
