import { describe, expect, it } from "vitest";
import type { Subject } from "@/api/generated";
import { aCase, aCell, aChange, aNegotiated, anEndOf, anEstimate, aSubject } from "@/testing/build";
import { expectGolden } from "@/testing/golden";
import { type HeatChoice, heatModel } from "./heatmap-model";

const gnutls = aSubject("gnutls", "3.8.9");
const older = aSubject("openssl", "1");
const newer = aSubject("openssl", "2");
const rsa = aCase("rsa", "TLS 1.2 RSA, RSA 2048");
const ecdsa = aCase("ecdsa", "TLS 1.2 ECDHE-ECDSA, ECDSA P-256, P-256");

const input = {
  metric: "cpu_ns" as const,
  cases: [rsa, ecdsa],
  subjects: [gnutls, older, newer],
  cells: [
    aCell("rsa", gnutls, {
      outcome: { kind: "unsupported", reason: "no such group", detail: "error 42", invocations: 10 },
    }),
    aCell("rsa", older, { estimate: anEstimate(1_000_000) }),
    aCell("rsa", newer, {
      estimate: anEstimate(1_100_000, 1_090_000, 1_110_000),
      change: aChange({
        ratio: 1.1,
        low: 1.09,
        high: 1.11,
        verdict: "more",
        warnings: ["different build profile"],
      }),
    }),
    aCell("ecdsa", older, { estimate: anEstimate(250_000) }),
    aCell("ecdsa", newer, {
      estimate: anEstimate(252_000, null, null),
      change: aChange({ ratio: 1.008, low: 0.99, high: 1.03, verdict: "unresolved", paired: false }),
    }),
  ],
};

describe("the heatmap's model", () => {
  it("knows what most changes of a column are against, which makes it an upgrade", () => {
    const oldest = aSubject("openssl", "0");
    const change = (subject: string) => ({ change: aChange({ before: { ...anEndOf(older), subject } }) });
    const cells = [
      aCell("a", newer, change(oldest.name)),
      aCell("b", newer, change(older.name)),
      aCell("c", newer, change(older.name)),
      aCell("a", older, change("openssl@gone")),
    ];
    const { priors } = heatModel({ ...input, subjects: [oldest, older, newer], cells });
    expect([...priors]).toEqual([[newer.name, older]]);
  });

  it("groups neighbouring columns by library and has a cell in every place", () => {
    const model = heatModel(input);
    expect(model.groups.map((group) => [group.library, group.subjects.length])).toEqual([
      ["gnutls", 1],
      ["openssl", 2],
    ]);
    expect(model.rows.map((row) => row.cells.length)).toEqual([3, 3]);
  });

  it("shows the rate, coloured by the size of the change", () => {
    const cell = heatModel(input).rows[0]?.cells[2];
    expect(cell).toMatchObject({ headline: "909/s", tone: "more" });
    expect(cell?.strength).toBeGreaterThan(0.4);
  });

  it("leaves the first version neutral, whatever it costs", () => {
    expect(heatModel(input).rows[0]?.cells[1]).toMatchObject({ tone: "neutral", note: "", strength: 0 });
  });

  it("gives a change that cannot be resolved no colour", () => {
    expect(heatModel(input).rows[1]?.cells[2]).toMatchObject({
      tone: "unresolved",
      strength: 0,
    });
  });

  it("gives the reason where there is no number, and tells it from what was not measured", () => {
    const [first, second] = heatModel(input).rows;
    expect(first?.cells[0]).toMatchObject({
      tone: "outcome",
      headline: "unsupported",
      note: "no such group",
    });
    expect(second?.cells[0]).toMatchObject({ tone: "missing" });
  });

  it("passes on every reason to be careful", () => {
    const [first, second] = heatModel(input).rows;
    expect(first?.cells[2]?.cautions).toEqual(["different build profile"]);
    expect(second?.cells[2]?.cautions).toHaveLength(1);
  });

  it("keeps a number although some invocations failed, and says so", () => {
    const outcome = { kind: "crashed" as const, reason: "signal 11", detail: null, invocations: 2 };
    const cells = [aCell("rsa", older, { estimate: anEstimate(1000), outcome })];
    const cell = heatModel({ ...input, cells }).rows[0]?.cells[1];
    expect(cell).toMatchObject({ tone: "neutral" });
    expect(cell?.cautions).toHaveLength(1);
  });

  it("paints no verdict between runs that share nothing", () => {
    const cells = [aCell("rsa", newer, { estimate: anEstimate(1000), apart_from: anEndOf(older) })];
    const cell = heatModel({ ...input, cells }).rows[0]?.cells[2];
    expect(cell).toMatchObject({ tone: "neutral", strength: 0 });
  });

  it("says that invocations are too few where a lower version was measured in the case, but not compared", () => {
    const [first, second] = ["1", "2"].map((value) => aSubject("openssl", value)) as [Subject, Subject];
    const cells = [first, second].map((subject) => aCell("rsa", subject, { estimate: anEstimate(1000) }));
    const shown = heatModel({ ...input, subjects: [first, second], cells }).rows[0]?.cells;
    expect(shown?.map(({ isTooFew, note }) => [isTooFew, note])).toEqual([
      [false, ""],
      [true, "too few invocations"],
    ]);
    expect(shown?.[1]?.sentence).toContain("not compared with the version before: too few invocations");
  });

  it("filters cases by words in any order and any case", () => {
    const titles = (q: string) => heatModel(input, { q }).rows.map((row) => row.caseView.id);
    expect(titles("p-256 ECDHE")).toEqual(["ecdsa"]);
    expect(titles("rsa 2048")).toEqual(["rsa"]);
    expect(titles("x448")).toEqual([]);
  });

  it("filters cases by their variation", () => {
    const resumed = { ...aCase("resumed"), kinds: ["resumption" as const] };
    const ids = (variation?: "plain" | "resumption") =>
      heatModel({ ...input, cases: [...input.cases, resumed] }, { variation }).rows.map(
        (row) => row.caseView.id,
      );
    expect(ids("resumption")).toEqual(["resumed"]);
    expect(ids("plain")).toEqual(["rsa", "ecdsa"]);
    expect(ids()).toHaveLength(3);
  });

  it("compares with another case of the same subject, even if the filter hides that case", () => {
    const model = heatModel(input, { versus: "rsa", q: "ecdhe" });
    expect(model.rows[0]?.cells[1]).toMatchObject({ tone: "less", strength: 1 });
    expect(heatModel(input, { versus: "rsa" }).rows[0]?.cells[1]?.tone).toBe("neutral");
  });
});

it("cells in words", async () => {
  const measured = anEstimate(1_100_000, 1_090_000, 1_110_000);
  const failure = { kind: "crashed" as const, reason: "signal 11", detail: null, invocations: 2 };
  const disturbed = {
    kind: "disturbed" as const,
    reason: "other programs ran",
    detail: null,
    invocations: 7,
  };
  const words = (cell: Partial<Parameters<typeof aCell>[2]>, choice: HeatChoice = {}) => {
    const cells = [aCell("rsa", older, { estimate: anEstimate(1_000_000) }), aCell("rsa", newer, cell)];
    const shown = heatModel({ ...input, cells }, choice).rows[0]?.cells[2];
    return [`note: ${shown?.note}`, `sentence: ${shown?.sentence}`];
  };
  const changed = (change: Parameters<typeof aChange>[0], cell = {}) =>
    words({ estimate: measured, change: aChange(change), ...cell });
  const nettle = { what: "nettle", before: "3.8.1", after: "3.10.1" };
  const versus = heatModel(input, { versus: "rsa" }).rows;
  await expectGolden("heatmap-model", {
    slower: changed({ ratio: 1.1, low: 1.09, high: 1.11, verdict: "more" }),
    faster: changed({ ratio: 0.95, low: 0.94, high: 0.96, verdict: "less" }),
    "no change": changed({ ratio: 1.0002, low: 0.999, high: 1.001, verdict: "same" }),
    "unresolved: no significant change": changed({
      ratio: 1.008,
      low: 0.999,
      high: 1.017,
      verdict: "unresolved",
      resolves: 0.012,
    }),
    "unresolved: the interval excludes 0, the change is not relevant": changed({
      ratio: 1.009,
      low: 1.008,
      high: 1.011,
      verdict: "unresolved",
    }),
    "not comparable": changed({ ratio: 1.3, low: 1.2, high: 1.4, verdict: "unlike" }),
    "not compared": words({ estimate: measured, apart_from: anEndOf(older) }),
    caveats: changed({
      ratio: 1.1,
      low: 1.09,
      high: 1.11,
      verdict: "more",
      warnings: ["different build profile"],
    }),
    "not interleaved": changed({ ratio: 1.1, low: 1.09, high: 1.11, verdict: "more", paired: false }),
    "a changed dependency": changed({
      ratio: 1.1,
      low: 1.09,
      high: 1.11,
      verdict: "more",
      components: [nettle],
    }),
    "first version": words({ estimate: measured }),
    "some invocations failed": words({ estimate: measured, outcome: failure }),
    "no client/server split": words({ estimate: measured, sides_outcome: disturbed }),
    "no result": words({
      outcome: { kind: "unsupported", reason: "no such group", detail: "error 42", invocations: 10 },
    }),
    "not measured": heatModel({ ...input, cells: [] }).rows[0]?.cells[2]?.sentence ?? "",
    "relative to the sentinel, with negotiated settings": words({
      estimate: measured,
      to_sentinel: { ratio: 1.234, low: 1.2, high: 1.26 },
      negotiated: aNegotiated({
        protocol: "TLSv1.3",
        cipher: "AES-256-GCM",
        group: "X25519",
        key_shares: 1,
        tickets: 2,
      }),
    }),
    "compared with a case": versus.flatMap((row) => [row.cells[1]?.note ?? "", row.cells[1]?.sentence ?? ""]),
  });
});
