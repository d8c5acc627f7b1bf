import { expect, it } from "vitest";
import { aChange, aChangePoint, aComparedCell, aMove } from "@/testing/build";
import { expectGolden } from "@/testing/golden";
import {
  absentSide,
  caveatsOf,
  changePointText,
  coresText,
  dependencyText,
  sidesText,
  VERDICT_WORDS,
  verdictText,
} from "./change-words";

const nettle = { what: "nettle", before: "3.8.1", after: "3.10.1" };
const gmp = { what: "gmp", before: "6.2.1", after: "6.3.0" };
const disturbedCell = (disturbed: number) => aComparedCell("a", { client: null, server: null, disturbed });

it("a change in words", async () => {
  await expectGolden("change-words", {
    verdicts: Object.values(VERDICT_WORDS),
    "verdict: unresolved, with the resolution": verdictText({ verdict: "unresolved", resolves: 0.012 }),
    "sides: client and server": sidesText(aComparedCell("a")),
    "sides: server only, costs unknown": sidesText(aComparedCell("a", { client: null })),
    "sides: a change that rounds to nothing": sidesText(
      aComparedCell("a", {
        client: { ratio: 0.9996, low: 0.9995, high: 1.0004, verdict: "same" },
        server: null,
      }),
    ),
    "dependencies: two, one of them in two cells": dependencyText([
      aComparedCell("a", { components: [nettle] }),
      aComparedCell("b", { components: [nettle, gmp] }),
    ]),
    "caveats: not interleaved": caveatsOf(aComparedCell("a", { paired: false })),
    "caveats: from the API": caveatsOf(aComparedCell("a", { paired: false, warnings: ["other harness"] })),
    "caveats: costs vary more": caveatsOf(
      aComparedCell("a", { spread: { before: 0.012, after: 0.041, q: 0.01, verdict: "more" } }),
    ),
    "caveats: too few invocations": caveatsOf(aComparedCell("a", { move: null })),
    "caveats: one disturbed invocation": caveatsOf(disturbedCell(1)),
    "caveats: several disturbed invocations": caveatsOf(disturbedCell(7)),
    "a side without a number": [absentSide(disturbedCell(7)), absentSide(aComparedCell("a"))],
    "change point": changePointText(aChangePoint({ move: aMove(2.15) }), "cpu_ns"),
    "change point: unresolved": changePointText(
      aChangePoint({ move: aMove(1.01), verdict: "unresolved" }),
      "cpu_ns",
    ),
    "change point: not compared": changePointText(aChangePoint({ move: null, verdict: "apart" }), "cpu_ns"),
    "change point: other work": changePointText(aChangePoint({ move: null, verdict: "unlike" }), "cpu_ns"),
  });
});

it("a change needs no caveat if it is interleaved and undisturbed, and names no dependencies if none changed", () => {
  expect(caveatsOf(aComparedCell("a"))).toEqual([]);
  expect(caveatsOf(aChange({ verdict: "more" }))).toEqual([]);
  expect(dependencyText([aComparedCell("a")])).toBe("");
});

it("what a server needs are cores for a rate that people know", () => {
  expect(coresText({ server_before_ns: 1e6, server_after_ns: 1.02e6 })).toBe("10.0 → 10.2");
  expect(coresText({ server_before_ns: null, server_after_ns: 1 })).toBe("");
});
