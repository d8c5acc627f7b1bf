import { describe, expect, it } from "vitest";
import { aCase, aCell, aChange, aNegotiated, anEstimate, aSubject } from "@/testing/build";
import { heatModel } from "./heatmap-model";

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
    const change = (against: string) => ({ change: aChange({ against }) });
    const cells = [
      aCell("a", newer, change(oldest.subject)),
      aCell("b", newer, change(older.subject)),
      aCell("c", newer, change(older.subject)),
      aCell("a", older, change("openssl@gone")),
    ];
    const { priors } = heatModel({ ...input, subjects: [oldest, older, newer], cells });
    expect([...priors]).toEqual([[newer.subject, older]]);
  });

  it("groups neighbouring columns by library and has a cell in every place", () => {
    const model = heatModel(input);
    expect(model.groups.map((group) => [group.library, group.subjects.length])).toEqual([
      ["gnutls", 1],
      ["openssl", 2],
    ]);
    expect(model.rows.map((row) => row.cells.length)).toEqual([3, 3]);
  });

  it("shows the rate and the change in words, coloured by the size of the change", () => {
    const cell = heatModel(input).rows[0]?.cells[2];
    expect(cell).toMatchObject({ headline: "909/s", note: "10.0% more time", tone: "more" });
    expect(cell?.strength).toBeGreaterThan(0.4);
  });

  it("leaves the first version neutral, whatever it costs", () => {
    expect(heatModel(input).rows[0]?.cells[1]).toMatchObject({ tone: "neutral", note: "", strength: 0 });
  });

  it("gives a change that cannot be resolved no colour", () => {
    expect(heatModel(input).rows[1]?.cells[2]).toMatchObject({
      tone: "unresolved",
      strength: 0,
      note: "can’t resolve",
    });
  });

  it("gives the reason where there is no number, and tells it from what was not measured", () => {
    const [first, second] = heatModel(input).rows;
    expect(first?.cells[0]).toMatchObject({
      tone: "outcome",
      headline: "unsupported",
      note: "no such group",
    });
    expect(second?.cells[0]).toMatchObject({ tone: "missing", note: "not measured" });
  });

  it("passes on every reason to be careful", () => {
    const [first, second] = heatModel(input).rows;
    expect(first?.cells[2]?.cautions).toEqual(["different build profile"]);
    expect(second?.cells[2]?.cautions).toEqual(["not interleaved"]);
  });

  it("says all of a cell in one sentence", () => {
    expect(heatModel(input).rows[0]?.cells[2]?.sentence).toBe(
      "TLS 1.2 RSA, RSA 2048, openssl 2 (debian/trixie): 909/s, 1,100 µs [1,090, 1,110] µs; 10 invocations; " +
        "10.0% more time [+9.0%, +11.0%] than 1 (debian/trixie). With care: different build profile.",
    );
  });

  it("keeps a number although some invocations failed, and says so", () => {
    const outcome = { kind: "crashed" as const, reason: "signal 11", detail: null, invocations: 2 };
    const cells = [aCell("rsa", older, { estimate: anEstimate(1000), outcome })];
    const cell = heatModel({ ...input, cells }).rows[0]?.cells[1];
    expect(cell).toMatchObject({ tone: "neutral", cautions: ["2 invocations crashed: signal 11"] });
  });

  it("paints no verdict between runs that share nothing", () => {
    const cells = [aCell("rsa", newer, { estimate: anEstimate(1000), apart_from: older.subject })];
    const cell = heatModel({ ...input, cells }).rows[0]?.cells[2];
    expect(cell).toMatchObject({ tone: "neutral", note: "measured apart", strength: 0 });
    expect(cell?.sentence).toContain("not compared with 1, whose run shares no subject with this one");
  });

  it("says why client and server are not told apart, beside the number of both", () => {
    const spoilt = { kind: "disturbed" as const, reason: "other programs ran", detail: null, invocations: 7 };
    const cells = [aCell("rsa", older, { estimate: anEstimate(1000), sides_outcome: spoilt })];
    const cell = heatModel({ ...input, cells }).rows[0]?.cells[1];
    expect(cell?.cautions).toEqual(["client and server apart: 7 invocations disturbed: other programs ran"]);
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

  it("says what the cost is of the sentinel’s, and what default settings chose", () => {
    const cells = [
      aCell("rsa", older, {
        estimate: anEstimate(1_000_000),
        to_sentinel: { ratio: 1.234, low: 1.2, high: 1.26 },
        negotiated: aNegotiated({
          protocol: "TLSv1.3",
          cipher: "AES-256-GCM",
          group: "X25519",
          key_shares: 1,
          tickets: 2,
        }),
      }),
    ];
    expect(heatModel({ ...input, cells }).rows[0]?.cells[1]?.sentence).toBe(
      "TLS 1.2 RSA, RSA 2048, openssl 1 (debian/trixie): 1,000/s, 1,000 µs [1,000, 1,000] µs; 10 invocations; " +
        "1.23× [1.20, 1.26] the sentinel’s cost; chose TLSv1.3, AES-256-GCM, X25519, 1 client key share, 2 tickets.",
    );
  });

  it("compares with another case of the same subject when asked to, even one that the filter hides", () => {
    const model = heatModel(input, { versus: "rsa", q: "ecdhe" });
    expect(model.rows[0]?.cells[1]).toMatchObject({ tone: "less", note: "0.250× the cost", strength: 1 });
    expect(heatModel(input, { versus: "rsa" }).rows[0]?.cells[1]).toMatchObject({
      tone: "neutral",
      note: "reference",
    });
  });
});
