import { describe, expect, it } from "vitest";
import { aCall, aFunction, anExplanation, aWhy } from "@/testing/build";
import { expectGolden } from "@/testing/golden";
import {
  amountsText,
  answerOf,
  callsText,
  changeText,
  chosenCase,
  crumbsOf,
  culpritText,
  drawnOf,
  hasUnnamed,
  isNamed,
  keptCase,
  lacksNames,
  levelsOf,
  whyCommand,
} from "./why-model";

const UNNAMED = "functions without a name of libcrypto";
const pathOf = (...names: string[]) => names.map((name) => ({ name, before: 1, after: 2 }));
const answer = (explanation: Parameters<typeof anExplanation>[0]) => {
  const { text, place } = answerOf(anExplanation(explanation));
  return place ? `${text} | ${place}` : text;
};
const culprit = {
  case_id: "a",
  title: "TLS 1.2 RSA, RSA 2048",
  side: "server" as const,
  function: "hash",
  amounts: [1000, 1770] as [number, number],
  calls: [1, 2] as [number, number],
  side_amounts: [10_000, 10_900] as [number, number],
  run_id: "r",
};

it("why an upgrade changed the cost, in words", async () => {
  await expectGolden("why-model", {
    "fewer instructions, mostly in one function": answer({
      before: 2_264_870.05,
      after: 2_127_291,
      place: { name: "hash", before: 1, after: 2 },
    }),
    "more instructions, spread over functions": answer({ side: "client", before: 1000, after: 1200 }),
    "objects, which are made and freed": answer({ side: "objects", before: 1000, after: 1100 }),
    "bytes that each connection leaves": answer({
      instrument: "allocations",
      side: "kept",
      before: 0,
      after: 16,
      place: { name: "SSL_new", before: 0, after: 16 },
    }),
    "no change": answer({ before: 1_000_000, after: 1_000_099, has_changed: false }),
    "instructions of a function": [
      aFunction("a", 1_716_634.8, 1_659_112.1),
      aFunction("a", 0, 109_042.2),
      aFunction("a", 39_672.8, 0),
    ].flatMap((changed) => [changeText(changed, "instructions"), amountsText(changed)]),
    "one instruction": changeText(aFunction("a", 3, 4), "instructions"),
    calls: [
      callsText({ calls_before: 45_051.1, calls_after: 21_666.5 }),
      callsText({ calls_before: 11.95, calls_after: 0 }),
    ],
    "a culprit: called more often": culpritText(culprit),
    "a culprit: called once instead of twice": culpritText({ ...culprit, calls: [2, 1] }),
    "a culprit: bytes that each connection leaves": culpritText({
      ...culprit,
      instrument: "allocations",
      side: "kept",
      amounts: [0, 16],
      side_amounts: [0, 16],
      calls: [0, 1],
    }),
    "a culprit: called as often": culpritText({ ...culprit, calls: [2.01, 2.04] }),
    "a culprit: functions without a name, called often": culpritText({
      ...culprit,
      function: UNNAMED,
      calls: [26_714.8, 66_549.6],
    }),
    command: whyCommand("openssl", "system", "debian/trixie"),
  });
});

describe("a side", () => {
  it("draws the largest changes, and none of functions that cost the same", () => {
    const moved = Array.from({ length: 14 }, (_, index) => aFunction(`f${index}`, 100 - index, 0));
    const { functions, left } = drawnOf({
      functions: [...moved, aFunction("same", 5, 5.2)],
      has_changed: true,
    });
    expect(functions.map(({ name }) => name)).toEqual(moved.slice(0, 12).map(({ name }) => name));
    expect(left).toBe(2);
    const none = { functions: [], left: 0 };
    expect(drawnOf({ functions: [aFunction("same", 5, 5)], has_changed: true })).toEqual(none);
    expect(drawnOf({ functions: moved, has_changed: false })).toEqual(none);
  });

  it("leaves out the middle of a long path only", () => {
    expect(crumbsOf({ path: pathOf("a", "b", "c", "d", "e", "f") }).short).toBeUndefined();
    const { names, short } = crumbsOf({ path: pathOf("a", "b", "c", "d", "e", "f", "g") });
    expect(names).toEqual(["a", "b", "c", "d", "e", "f", "g"]);
    expect(short).toEqual({ first: ["a", "b"], left: 3, last: ["f", "g"] });
  });
});

describe("the shown case", () => {
  const cases = [aWhy("most"), aWhy("less")];

  it("is the chosen one, or else the one with the largest change", () => {
    expect(chosenCase(cases, "less")?.case_id).toBe("less");
    expect(chosenCase(cases, "unknown")?.case_id).toBe("most");
    expect(chosenCase(cases, undefined)?.case_id).toBe("most");
    expect(chosenCase([], "most")).toBeUndefined();
  });

  it("leaves no trace in the URL where it is shown anyway", () => {
    expect(keptCase(cases, "most")).toBeUndefined();
    expect(keptCase(cases, "less")).toBe("less");
  });
});

it("knows which functions lack a name of their own", () => {
  expect(isNamed("EC_POINT_mul")).toBe(true);
  expect(isNamed(UNNAMED)).toBe(false);
  const named = anExplanation({ has_changed: true, functions: [aFunction("hash", 1, 9)] });
  const unnamed = anExplanation({ has_changed: true, functions: [aFunction(UNNAMED, 1, 9)] });
  expect(lacksNames(aWhy("a", [named]))).toBe(false);
  expect(lacksNames(aWhy("a", [named, unnamed]))).toBe(true);
});

it("knows whether a call is of a function that lacks a name", () => {
  const named = aCall("turn", 3, 3, [aCall("sign", 2, 2)]);
  expect(hasUnnamed(named)).toBe(false);
  expect(hasUnnamed(aCall("turn", 3, 3, [aCall("sign", 2, 2, [aCall(UNNAMED, 1, 1)])]))).toBe(true);
});

it("lists calls with their level, each below its caller", () => {
  const hash = aCall("hash", 1, 1);
  const rows = levelsOf(aCall("turn", 3, 3, [aCall("sign", 2, 2, [hash]), hash]));
  expect(rows.map(({ key, level }) => [key, level])).toEqual([
    ["turn", 0],
    ["turn sign", 1],
    ["turn sign hash", 2],
    ["turn hash", 1],
  ]);
});
