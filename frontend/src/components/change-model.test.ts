import { describe, expect, it } from "vitest";
import type { ComparedCell, Comparison } from "@/api/generated";
import { VERDICT_WORDS, type Verdict } from "@/charts/change-words";
import { aCase, aComparedCell, aMove } from "@/testing/build";
import { expectGolden } from "@/testing/golden";
import {
  bySize,
  changeGroups,
  changeRows,
  changesCsv,
  factorText,
  factorTitle,
  gapsOf,
  isOnSeveral,
  marksOf,
  tallyOf,
  tallyText,
  unalikeText,
  unresolvedTexts,
} from "./change-model";

function aCompared(caseId: string, ratio: number | null, verdict: Verdict, cell: Partial<ComparedCell> = {}) {
  const move = ratio === null ? null : aMove(ratio);
  return aComparedCell(caseId, { client: null, server: null, verdict, move, ...cell });
}

function aComparison(cells: ComparedCell[]): Comparison {
  const cases = [...new Set(cells.map(({ case_id }) => case_id))].map((id) => aCase(id, `Case ${id}`));
  return {
    subjects: [],
    base: null,
    other: null,
    cases,
    cells,
    differences: [],
    lines: [],
    left_out: 0,
    relevant: 0.005,
    upgrade: null,
  };
}

const CELLS = [
  aCompared("a", 1.02, "more"),
  aCompared("b", 0.9, "less"),
  aCompared("c", 1, "same"),
  aCompared("d", 1.5, "apart", { unalike: ["runs"] }),
  aCompared("e", null, "unresolved"),
];

function ids(search: Parameters<typeof changeRows>[1]): string {
  return changeRows(aComparison(CELLS), search)
    .map(({ cell }) => cell.case_id)
    .join("");
}

describe("compared cells", () => {
  it("are filtered by words and by verdict", () => {
    expect(ids({})).toBe("abcde");
    expect(ids({ q: "case B" })).toBe("b");
    expect(ids({ verdict: "changed" })).toBe("ab");
    expect(ids({ verdict: "less" })).toBe("b");
    expect(ids({ verdict: "none" })).toBe("d");
  });

  it("are sorted by the size of the change, whichever way it goes", () => {
    expect(ids({ sort: "change" })).toBe("dbace");
  });

  it("are counted by verdict, with the largest change", () => {
    expect(tallyText([...CELLS, aCompared("f", 1.03, "more")])).toBe(
      "2 slower (up to +3.0%), 1 faster (−10.0%), 1 unchanged, 1 unresolved, 1 not compared",
    );
  });

  it("are grouped by key exchange and key in the order of their rows", () => {
    const comparison = aComparison(CELLS.slice(0, 3));
    const cases = comparison.cases.map((one) => (one.id === "b" ? { ...one, rsa_bits: 3072 } : one));
    const groups = changeGroups(changeRows({ ...comparison, cases }, { sort: "change" }), undefined);
    expect(groups.map(({ name, rows }) => `${name}: ${rows.length}`)).toEqual([
      "RSA, RSA 3072: 1",
      "RSA, RSA 2048: 2",
    ]);
  });

  it("are opened group by group where they are many", () => {
    const comparison = aComparison(Array.from({ length: 61 }, (_, at) => aCompared(`${at}`, 1, "same")));
    const cases = comparison.cases.map((one, at) => ({ ...one, rsa_bits: 1024 * Math.min(at, 2) }));
    const rows = changeRows({ ...comparison, cases }, {});
    const shown = (some: typeof rows, chosen?: string[]) =>
      changeGroups(some, chosen).map(({ name, hasLine, isOpen }) => [name, hasLine, isOpen]);
    expect(shown(rows)).toEqual([
      ["RSA", false, true],
      ["RSA, RSA 1024", false, true],
      ["RSA, RSA 2048", true, false],
    ]);
    expect(shown(rows, ["RSA, RSA 2048"])[2]).toEqual(["RSA, RSA 2048", true, true]);
    expect(shown(rows.slice(1))[1]).toEqual(["RSA, RSA 2048", true, true]);
    expect(shown(rows.slice(2))).toEqual([["RSA, RSA 2048", false, true]]);
  });

  it("say what all of them differ in", () => {
    const apart = { unalike: ["pool", "cpu"] } satisfies Partial<ComparedCell>;
    expect(unalikeText(CELLS)).toBeUndefined();
    expect(unalikeText([aCompared("a", 2, "unjudged", apart)])).toBe(
      "The two differ in pool and CPU, so ratios have an interval and no verdict. The machines were not measured in turns.",
    );
    expect(unalikeText([aCompared("a", 2, "unjudged", apart), aCompared("b", 1, "same")])).toBeUndefined();
  });

  it("are saved with plain numbers, one column for each", () => {
    const [head, row] = changesCsv(changeRows(aComparison(CELLS.slice(0, 1)), {}));
    expect(row).toHaveLength(head?.length ?? 0);
    const named = Object.fromEntries((head ?? []).map((name, index) => [name, row?.[index]]));
    expect(named).toMatchObject({
      case: "Case a",
      verdict: "more",
      "both base ns": "1000000",
      "client ratio": "",
    });
  });
});

describe("two cases", () => {
  const cell = aCompared("a", 1.1, "more", { other_case_id: "b" });
  const comparison = aComparison([cell, aCompared("b", 1, "same")]);

  it("are both in their row and in its CSV", () => {
    const rows = changeRows(comparison, {});
    expect(rows.map(({ caseView, otherCase }) => [caseView.id, otherCase?.id])).toEqual([
      ["a", "b"],
      ["b", undefined],
    ]);
    expect(changesCsv(rows)[1]?.slice(0, 2)).toEqual(["Case a", "Case b"]);
  });

  it("are the reason why there is no verdict", () => {
    expect(unalikeText([aCompared("a", 2, "unjudged", { unalike: ["turns"] })])).toBe(
      "The two differ in time: the two cases were not measured in turns in one run, so ratios have an interval and no verdict.",
    );
  });
});

const factor = {
  dimension: "key exchange",
  value: "DHE-RSA",
  side: "server" as const,
  ...aMove(1.062),
  cells: 8,
  moved: 6,
  explained: 0.914,
};
const withoutLimit = [aComparedCell("a", { resolves: null })];
const limits = (...values: number[]) => values.map((resolves) => aComparedCell("a", { resolves }));

it("changes in words", async () => {
  const verdicts = Object.keys(VERDICT_WORDS) as Verdict[];
  await expectGolden("change-model", {
    "tally: every verdict": tallyOf(
      verdicts.map((verdict) => aComparedCell(verdict, { verdict })),
      1,
    ).map(([, words]) => words),
    "unresolved: a range of resolutions": unresolvedTexts(limits(0.02, 0.005, 0.01)),
    "unresolved: one resolution": unresolvedTexts(limits(0.02)),
    "unresolved: too few invocations for some": unresolvedTexts([...limits(0.02), ...withoutLimit]),
    "unresolved: too few invocations": unresolvedTexts(withoutLimit),
    "factor: with its own words": factorTitle({ ...factor, words: "an RSA certificate", side: "both" }),
    "factor: with its dimension, on one side": factorTitle(factor),
    "factor: the absence of something": factorTitle({
      ...factor,
      words: "any case without group P-256",
      side: "both",
    }),
    "factor: every case": factorTitle({ ...factor, words: "every case", side: "client" }),
    "factor: its numbers": factorText(factor),
    "factor: one case": factorText({ ...factor, cells: 1, moved: 1 }),
    "factor: others in exactly the same cases": factorText({ ...factor, alike: ["group X25519", "TLS 1.3"] }),
  });
});

describe("cells", () => {
  const small = aComparedCell("small", { move: aMove(1.01) });
  const halved = aComparedCell("halved", { verdict: "less", move: aMove(0.5) });
  const large = aComparedCell("large", { move: aMove(1.9) });
  const none = aComparedCell("none", { verdict: "unresolved", move: null });

  it("stand by how far they moved, either way, those without a ratio last", () => {
    expect(bySize([none, small, large, halved])).toEqual([halved, large, small, none]);
  });

  it("are drawn with the sides that are known", () => {
    expect(marksOf(aComparedCell("a", { client: null })).map((mark) => mark.ink)).toEqual(["more", "server"]);
    expect(marksOf(aComparedCell("a", { verdict: "same" })).map((mark) => mark.ink)[0]).toBe("same");
  });

  it("name their machine where there are several", () => {
    expect(isOnSeveral([small.host_kind, large.host_kind])).toBe(false);
    expect(isOnSeveral([small.host_kind, { ...large.host_kind, cpu_model: "another" }])).toBe(true);
  });

  it("that miss a number for the same reason stand together, each case once", () => {
    const gapOf = (title: string, pool: string, reason = "no such group") => ({
      case_id: title,
      title,
      host_kind: { pool, cpu_model: "a CPU" },
      version: "3.0.19",
      reason,
    });
    const gaps = gapsOf([gapOf("a", "x"), gapOf("b", "x"), gapOf("a", "y"), gapOf("c", "x", "crashed")]);
    expect(gaps).toEqual([
      { words: "3.0.19, 2 cases: no such group", cells: ["a", "b"] },
      { words: "3.0.19, 1 case: crashed", cells: ["c"] },
    ]);
  });
});
