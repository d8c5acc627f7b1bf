import { describe, expect, it } from "vitest";
import type { FlightView, PathCase, PathCell, Paths } from "@/api/generated";
import { answerOf } from "@/testing/mock-api";
import {
  blocksOf,
  chosenOf,
  excessText,
  flightRows,
  groupsOf,
  outcomesOf,
  roundTripsText,
  uncountedText,
} from "./paths-model";

const example = answerOf<Paths>("paths");
const FULL = "TLS 1.3 ECDHE-ECDSA, ECDSA P-256, X25519";

function caseOf(path: string, title = FULL): PathCase {
  const found = example.cases.find((each) => each.path.text === path && each.title === title);
  if (!found) throw new Error(`no case over ${path}`);
  return found;
}

function cellOf(path: string, place: number): PathCell {
  const cell = caseOf(path).cells[place];
  if (!cell) throw new Error(`no cell ${place} over ${path}`);
  return cell;
}

function kinds(cell: PathCell): string[] {
  return blocksOf(cell).map(({ kind, roundTrips }) => `${roundTrips} ${kind}`);
}

describe("the rows of a case", () => {
  const measured = cellOf("50ms", 0);
  const without = (kind: "unsupported" | "error"): PathCell => ({
    ...measured,
    handshake: null,
    outcome: { kind, reason: "no", detail: null, invocations: 3 },
  });
  const kindsOf = (cells: PathCell[], splitHello?: "drop") => {
    const shown = caseOf("50ms");
    const path = { ...shown.path, numbers: { ...shown.path.numbers, splitHello } };
    const [group] = groupsOf([{ ...shown, path, cells }]);
    return group?.rows[0]?.cells.map(({ outcome, handshake }) => (handshake ? "number" : outcome?.kind));
  };

  it("leave out what is unsupported where another has a number, and nothing else", () => {
    expect(kindsOf([measured, without("unsupported"), without("error")])).toEqual(["number", "error"]);
    expect(kindsOf([without("unsupported"), without("error")])).toEqual(["unsupported", "error"]);
    expect(kindsOf([measured, without("unsupported")], "drop")).toEqual(["number", "unsupported"]);
  });
});

describe("bars of round trips", () => {
  it("have a block of their own for a flight that does not fit", () => {
    expect(kinds(cellOf("50ms", 0))).toEqual(["1 connect", "1 exchange"]);
    expect(kinds(cellOf("50ms", 1))).toEqual(["1 connect", "1 exchange", "1 further"]);
  });

  it("show what was measured beyond the prediction, and no more than was measured", () => {
    const cell = cellOf("50ms", 1);
    const measured = (value: number): PathCell => ({
      ...cell,
      agreement: "differs",
      round_trips: { value, low: null, high: null, invocations: 3 },
    });
    expect(kinds(measured(4))).toEqual(["1 connect", "1 exchange", "1 further", "2 unexpected"]);
    expect(kinds(measured(1))).toEqual(["1 connect", "1 exchange"]);
    expect(kinds({ ...measured(2), predicted: null, agreement: null })).toEqual(["2 exchange"]);
  });

  it("show the prediction where nothing is counted", () => {
    for (const path of ["2ms", "50ms-loss-1"]) {
      expect(kinds(cellOf(path, 1))).toEqual(["1 connect", "1 exchange", "1 further"]);
    }
  });

  it("end with TCP where the request is early data", () => {
    const cell = cellOf("50ms", 0);
    const predicted = cell.predicted && { ...cell.predicted, before_request: 0 };
    const early = { ...cell, predicted, round_trips: { value: 0, low: null, high: null, invocations: 3 } };
    expect(kinds(early)).toEqual(["1 connect"]);
    expect(roundTripsText(1, 0)).toBe("1: 1 for TCP, 0 for TLS");
  });
});

describe("rows", () => {
  it("are grouped by path, the shortest first", () => {
    const groups = groupsOf(example.cases);
    expect(groups.map(({ path }) => path.text)).toEqual(["2ms", "50ms", "50ms-loss-1"]);
    expect(groups[1]?.rows).toHaveLength(2);
    expect(groups.map(({ rows }) => uncountedText(rows))).toEqual([
      "Round trips are not counted: they are short beside the machine's own time.",
      "",
      "Round trips are not counted: 1% of the packets are lost, and each loss waits for its repetition.",
    ]);
  });

  it("are narrowed to a path and to versions", () => {
    const [first, second] = example.subjects.map(({ name }) => name);
    expect(chosenOf(example, "2ms").cases).toHaveLength(1);
    const { cases, subjects } = chosenOf(example, undefined, [second ?? ""]);
    expect(subjects.map(({ name }) => name)).toEqual([second]);
    expect(cases.flatMap(({ cells }) => cells.map(({ subject }) => subject))).not.toContain(first);
    expect(chosenOf(example, "unknown").cases).toEqual([]);
  });

  it("without a number give the reason", () => {
    const reasons = outcomesOf(example.cases, example.subjects);
    expect(reasons.map(({ words }) => words)).toEqual([
      "1 cell without a result: unsupported: a path was refused",
    ]);
  });
});

describe("flights", () => {
  it("are the same over paths with the same window", () => {
    const rows = flightRows(example.cases.filter(({ title }) => title === FULL));
    expect(rows.map(({ paths }) => paths)).toEqual(Array(2).fill(["2ms", "50ms", "50ms-loss-1"]));
  });

  it("say by how much they do not fit, and what that costs", () => {
    const flight: FlightView = {
      kind: "server flight",
      size_bytes: 15_680,
      limit_bytes: 14_480,
      round_trips: 1,
    };
    expect(excessText(flight)).toBe("1.2 kB over the window: +1 round trip");
    expect(excessText({ ...flight, kind: "limit", round_trips: 2 })).toBe(
      "1.2 kB over the limit: +2 round trips",
    );
    expect(excessText({ ...flight, kind: "client flight", round_trips: 0 })).toBe(
      "1.2 kB over the window: after the client's handshake is done",
    );
    expect(excessText({ ...flight, size_bytes: 14_480 })).toBeUndefined();
  });
});
