import { describe, expect, it } from "vitest";
import type { StackCell, Stacks } from "@/api/generated";
import { answerOf } from "@/testing/mock-api";
import { certificatesOf, commandsOf, headingsOf, reasonsOf, standingText } from "./stacks-model";

const answer = answerOf<Stacks>("stacks");
const [column] = answer.columns;
const cell = column?.cells[0] as StackCell;

describe("stacks in words", () => {
  it("puts columns of one kind below one heading", () => {
    const columns = [{ heading: "Full" }, { heading: "Full" }, { heading: "Resumed" }];
    expect(headingsOf(columns)).toEqual([
      { heading: "Full", columns: 2 },
      { heading: "Resumed", columns: 1 },
    ]);
  });

  it.each([
    ["cheapest", null, "cheapest"],
    ["equal", null, "not told apart"],
    ["more", null, undefined],
    ["other work", null, "other work"],
    ["not compared", null, "not compared"],
    ["alone", null, "nothing to compare"],
    ["missing", "unsupported", "unsupported"],
    ["missing", null, "not measured"],
  ] as const)("says of %s with outcome %s: %s", (standing, outcome, text) => {
    expect(standingText({ standing, outcome, ratio: null, reason: null })).toBe(text);
  });

  it("names each reason once, with its cells", () => {
    const without = (reason: string, outcome: StackCell["outcome"] = null): StackCell => ({
      ...cell,
      standing: "missing",
      reason,
      outcome,
    });
    const columns = answer.columns.map((each) => ({
      ...each,
      cells: [without("no such group", "unsupported"), without("not measured"), without("not measured")],
    }));
    expect(reasonsOf({ stacks: answer.stacks, columns })).toEqual([
      { words: "unsupported: no such group", cells: ["fake 1.0: Full handshake, ECDSA P-256"] },
      {
        words: "not measured",
        cells: ["fake 1.1: Full handshake, ECDSA P-256", "fake 1.2: Full handshake, ECDSA P-256"],
      },
    ]);
  });

  it("has the certificates of full handshakes, and each command once", () => {
    expect(certificatesOf(answer.columns)).toEqual(["ECDSA P-256"]);
    const commands = commandsOf({ cells: [cell, cell, { ...cell, command: "kexbench compare a b" }] });
    expect(commands).toContain("kexbench compare a b");
    expect(new Set(commands).size).toBe(commands.length);
  });
});
