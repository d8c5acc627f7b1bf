import { describe, expect, it } from "vitest";
import type { Life, LifeCase, Metric } from "@/api/generated";
import { answerOf } from "@/testing/mock-api";
import { chosenOf, outcomesOf, startsOf } from "./life-model";

const example = answerOf<Life>("life");

function withStart(): LifeCase {
  const started = example.cases.find((each) => startsOf(each, example.subjects).length > 0);
  if (!started) throw new Error("no case with a start");
  return started;
}

/** The case as a library tells it that knows these metrics alone, each of so many nanoseconds. */
function caseWith(numbers: Partial<Record<Metric, number>>): LifeCase {
  const shown = withStart();
  const section = shown.sections[0];
  const line = section?.lines[0];
  const cell = shown.sections
    .flatMap(({ lines }) => lines.flatMap(({ cells }) => cells))
    .find((each) => each?.estimate);
  if (!section || !line || !cell?.estimate) throw new Error("no number");
  const estimate = cell.estimate;
  const lines = Object.entries(numbers).map(([metric, value]) => ({
    ...line,
    metric: metric as Metric,
    cells: [{ ...cell, estimate: { ...estimate, value } }],
  }));
  return { ...shown, sections: [{ ...section, lines }] };
}

function stepsOf(numbers: Partial<Record<Metric, number>>): string[] {
  const [start] = startsOf(caseWith(numbers), example.subjects);
  return start?.steps.map(({ name, ns }) => `${name} ${ns}`) ?? [];
}

const EVERY: Partial<Record<Metric, number>> = {
  start_load_cpu_ns: 10,
  start_library_cpu_ns: 20,
  start_context_cpu_ns: 30,
  start_keys_cpu_ns: 40,
  start_handshake_cpu_ns: 50,
  start_cpu_ns: 160,
};

describe("the steps of a start", () => {
  it("are in their order, and no rest says that medians don't add up", () => {
    const names = ["loading 10", "library 20", "context 30", "keys 40", "first handshake 50"];
    expect(stepsOf(EVERY)).toEqual(names);
  });

  it("have what a library does not divide before its first handshake", () => {
    const { start_load_cpu_ns, start_handshake_cpu_ns, start_cpu_ns } = EVERY;
    const undivided = { start_load_cpu_ns, start_handshake_cpu_ns, start_cpu_ns };
    expect(stepsOf(undivided)).toEqual(["loading 10", "set-up, undivided 100", "first handshake 50"]);
    expect(stepsOf({ start_load_cpu_ns, start_cpu_ns })).toEqual(["loading 10", "set-up, undivided 150"]);
  });

  it("are none of a case whose start was not measured", () => {
    expect(stepsOf({ cpu_ns: 500_000 })).toEqual([]);
  });
});

describe("what is chosen", () => {
  it("has changes between chosen versions alone", () => {
    const { ends } = example.changes[0] ?? { ends: [] };
    const names = ends.map(({ subject }) => subject);
    expect(names.length).toBeGreaterThan(1);
    expect(chosenOf(example, undefined, names).changes.length).toBeGreaterThan(0);
    expect(chosenOf(example, undefined, names.slice(1)).changes).toEqual([]);
  });

  it("is one case with the numbers of the chosen versions", () => {
    const { id } = withStart().case;
    const [name = ""] = example.subjects.map((subject) => subject.name);
    const chosen = chosenOf(example, id, [name]);
    expect(chosen.cases.map((each) => each.case.id)).toEqual([id]);
    const lines = chosen.cases.flatMap(({ sections }) => sections.flatMap((section) => section.lines));
    expect(lines.every(({ cells }) => cells.length === 1)).toBe(true);
  });

  it("has versions that failed everywhere, with their reason", () => {
    const [subject] = example.subjects;
    const { cells = [] } = withStart().sections[0]?.lines[0] ?? {};
    const measured = cells.find(Boolean);
    if (!subject || !measured) throw new Error("no number");
    const outcome = { kind: "error", reason: "no such module", detail: null, invocations: 5 } as const;
    const failed = { ...measured, subject: subject.name, estimate: null, outcome };
    const sections = withStart().sections.map((section) => ({
      ...section,
      lines: section.lines.map((line) => ({
        ...line,
        cells: line.cells.map((cell, at) => (at === 0 ? failed : cell)),
      })),
    }));
    const answer = { ...example, cases: [{ ...withStart(), sections }] };
    const { cases, subjects } = chosenOf(answer, undefined, [subject.name]);
    expect(cases).toHaveLength(1);
    expect(outcomesOf(cases, subjects).map(({ words }) => words)).toEqual([
      expect.stringContaining(outcome.reason),
    ]);
  });
});
