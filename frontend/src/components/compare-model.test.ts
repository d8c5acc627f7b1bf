import { describe, expect, it } from "vitest";
import type { ComparedCell, ComparedEnd, ComparedSide, Comparison } from "@/api/generated";
import type { EndChoice } from "@/search";
import { aCase, aMove, anEstimate, aSubject } from "@/testing/build";
import {
  chosenEnds,
  compareCsv,
  compareGroups,
  compareRows,
  compareTitle,
  differenceText,
  endChoices,
  subjectsAt,
  tallyText,
  unalikeText,
} from "./compare-model";

function aSide(ratio: number | null, verdict: ComparedSide["verdict"] = null): ComparedSide {
  return {
    base: anEstimate(1000),
    other: anEstimate(1000 * (ratio ?? 1)),
    ratio: ratio === null ? null : aMove(ratio),
    verdict,
  };
}

function aCompared(caseId: string, both: ComparedSide, cell: Partial<ComparedCell> = {}): ComparedCell {
  const where = { pool: "local", cpu_model: "a CPU", run_id: "r" };
  return {
    case_id: caseId,
    other_case_id: caseId,
    base: where,
    other: where,
    unalike: [],
    both,
    client: null,
    server: null,
    resolves: null,
    paired: true,
    disturbed: 0,
    warnings: [],
    components: [],
    history: [],
    ...cell,
  };
}

function anEnd(version: string, end: Partial<ComparedEnd> = {}): ComparedEnd {
  const subject = aSubject("openssl", version);
  return {
    subject,
    pool: null,
    cpu_model: null,
    run_id: null,
    case_id: null,
    host_kinds: [],
    runs: [],
    cases: [],
    ...end,
  };
}

function aComparison(cells: ComparedCell[]): Comparison {
  const cases = [...new Set(cells.map(({ case_id }) => case_id))].map((id) => aCase(id, `Case ${id}`));
  return {
    subjects: [],
    base: anEnd("1"),
    other: anEnd("2"),
    cases,
    cells,
    differences: [],
    lines: [],
    left_out: 0,
  };
}

const CELLS = [
  aCompared("a", aSide(1.02, "more")),
  aCompared("b", aSide(0.9, "less")),
  aCompared("c", aSide(1, "same")),
  aCompared("d", aSide(1.5), { unalike: ["runs"] }),
  aCompared("e", aSide(null, "unresolved")),
];

function ids(search: Parameters<typeof compareRows>[1]): string {
  return compareRows(aComparison(CELLS), search)
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
    const rows = compareRows(aComparison([...CELLS, aCompared("f", aSide(1.03, "more"))]), {});
    expect(tallyText(rows)).toBe(
      "2 slower (up to +3.0%), 1 faster (−10.0%), 1 unresolved, 1 no change, 1 without a verdict",
    );
  });

  it("are grouped by key exchange and key in the order of their rows", () => {
    const comparison = aComparison(CELLS.slice(0, 3));
    const cases = comparison.cases.map((one) => (one.id === "b" ? { ...one, rsa_bits: 3072 } : one));
    const groups = compareGroups(compareRows({ ...comparison, cases }, { sort: "change" }), undefined);
    expect(groups.map(({ name, rows }) => `${name}: ${rows.length}`)).toEqual([
      "RSA, RSA 3072: 1",
      "RSA, RSA 2048: 2",
    ]);
  });

  it("are opened group by group where they are many", () => {
    const comparison = aComparison(Array.from({ length: 61 }, (_, at) => aCompared(`${at}`, aSide(1))));
    const cases = comparison.cases.map((one, at) => ({ ...one, rsa_bits: 1024 * Math.min(at, 2) }));
    const rows = compareRows({ ...comparison, cases }, {});
    const shown = (some: typeof rows, chosen?: string[]) =>
      compareGroups(some, chosen).map(({ name, hasLine, isOpen }) => [name, hasLine, isOpen]);
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
    expect(unalikeText([aCompared("a", aSide(2), apart)])).toBe(
      "The two differ in pool and CPU, so ratios have an interval and no verdict. The machines were not measured in turns.",
    );
    expect(unalikeText([aCompared("a", aSide(2), apart), aCompared("b", aSide(1, "same"))])).toBeUndefined();
  });

  it("are saved with plain numbers, one column for each", () => {
    const [head, row] = compareCsv(compareRows(aComparison(CELLS.slice(0, 1)), {}));
    expect(row).toHaveLength(head?.length ?? 0);
    const named = Object.fromEntries((head ?? []).map((name, index) => [name, row?.[index]]));
    expect(named).toMatchObject({
      case: "Case a",
      verdict: "more",
      "both base ns": "1000",
      "client ratio": "",
    });
  });
});

describe("two ends", () => {
  it("are named by what they differ in", () => {
    const title = (base: ComparedEnd, other: ComparedEnd) => compareTitle({ base, other });
    expect(title(anEnd("3.0"), anEnd("3.5"))).toBe("OpenSSL 3.0 → 3.5");
    expect(title(anEnd("3.0"), anEnd("3.0", { cpu_model: "other" }))).toBe("OpenSSL 3.0: two machines");
    expect(title(anEnd("3.0", { run_id: "a" }), anEnd("3.0", { run_id: "b" }))).toBe("OpenSSL 3.0: two runs");
    expect(title(anEnd("3.0"), anEnd("3.8", { subject: aSubject("gnutls", "3.8") }))).toBe(
      "OpenSSL 3.0 → GnuTLS 3.8",
    );
    expect(compareTitle({ base: anEnd("3.0"), other: null })).toBe("Compare");
  });

  it("are kept in the URL", () => {
    const answer = { base: anEnd("3.0"), other: anEnd("3.5") };
    expect(endChoices({}, answer)).toEqual([{ subject: "openssl@3.0" }, { subject: "openssl@3.5" }]);
    const [base, other] = endChoices({ base: "openssl@1.1", baseRun: "r", otherCpu: "a CPU" }, answer);
    expect(base).toEqual({ subject: "openssl@1.1", run: "r" });
    expect(other).toEqual({ subject: "openssl@3.5", cpu: "a CPU" });
  });
});

describe("a published site", () => {
  const [one, two, three] = ["1", "2", "3"].map((version) => aSubject("openssl", version));
  if (!one || !two || !three) throw new Error("three versions");
  const pairs: [string, string][] = [
    [two.subject, three.subject],
    [one.subject, two.subject],
  ];

  it("offers the versions that it compares", () => {
    expect(subjectsAt("base", [one, two, three], pairs)).toEqual([one, two]);
    expect(subjectsAt("other", [one, two, three], pairs)).toEqual([two, three]);
    expect(subjectsAt("base", [one, two, three], undefined)).toHaveLength(3);
  });

  it("chooses the other end where the two are not a published pair", () => {
    const now: [EndChoice, EndChoice] = [{ subject: two.subject }, { subject: three.subject }];
    const host = { pool: undefined, cpu: undefined };
    expect(chosenEnds("base", { subject: one.subject }, now, pairs)).toEqual([
      { subject: one.subject, ...host },
      { subject: two.subject, ...host },
    ]);
    const elsewhere = { pool: "local", cpu: "a CPU" };
    expect(chosenEnds("other", elsewhere, now, pairs)).toEqual([
      { subject: two.subject, ...elsewhere },
      { subject: three.subject, ...elsewhere },
    ]);
    expect(chosenEnds("other", elsewhere, now, undefined)[0]).toEqual(now[0]);
  });
});

describe("two cases", () => {
  const cell = aCompared("a", aSide(1.1, "more"), { other_case_id: "b" });
  const comparison = {
    ...aComparison([cell, aCompared("b", aSide(1, "same"))]),
    differences: [{ dimension: "cipher", base: "AES-128-GCM", other: "AES-128-CBC-SHA" }],
  };

  it("name the dimension in which they differ, with both values", () => {
    expect(differenceText(comparison)).toBe("cipher: AES-128-GCM → AES-128-CBC-SHA");
    expect(differenceText({ differences: [] })).toBeUndefined();
  });

  it("are both in their row and in its CSV", () => {
    const rows = compareRows(comparison, {});
    expect(rows.map(({ caseView, otherCase }) => [caseView.id, otherCase?.id])).toEqual([
      ["a", "b"],
      ["b", undefined],
    ]);
    expect(compareCsv(rows)[1]?.slice(0, 2)).toEqual(["Case a", "Case b"]);
  });

  it("are the title where the version is the same, and the reason where there is no verdict", () => {
    const ends = { base: anEnd("1", { case_id: "a" }), other: anEnd("1", { case_id: "b" }) };
    expect(compareTitle(ends)).toBe("OpenSSL 1: two cases");
    expect(unalikeText([aCompared("a", aSide(2), { unalike: ["turns"] })])).toBe(
      "The two differ in time: the two cases were not measured in turns in one run, so ratios have an interval and no verdict.",
    );
  });
});
