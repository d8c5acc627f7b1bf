import { describe, expect, it } from "vitest";
import { aMove, anAlert, anEnd, anUpgradeCell } from "@/testing/build";
import {
  absentSide,
  alertOf,
  alongText,
  blindText,
  bySize,
  careOf,
  coresText,
  factorText,
  factorTitle,
  gapsOf,
  isOnSeveral,
  marksOf,
  sidesText,
  sorted,
  storyOf,
  tallyOf,
  titleOf,
  verdictText,
} from "./upgrade-model";

const ends = { library: "openssl" as const, before: anEnd("3.0.19"), after: anEnd("3.5.4") };

describe("an upgrade’s words", () => {
  it("name the library once, and sources where versions are the same", () => {
    expect(titleOf(ends)).toBe("OpenSSL 3.0.19 → 3.5.4");
    expect(titleOf({ ...ends, after: anEnd("3.0.19", "system") })).toBe(
      "OpenSSL 3.0.19 (debian/trixie) → 3.0.19 (system)",
    );
  });

  it("leave the versions out below a heading that names them", () => {
    const sentence = "OpenSSL 3.0.19 → 3.5.4: nothing moved, of 8 cases: all of them.";
    expect(storyOf({ sentence })).toBe("Nothing moved, of 8 cases: all of them.");
    expect(storyOf({ sentence: "No run has finished." })).toBe("No run has finished.");
  });

  it("say below which change nothing is seen", () => {
    expect(verdictText(anUpgradeCell("a", { verdict: "unresolved", resolves: 0.012 }))).toBe(
      "can’t resolve below 1.2%",
    );
    expect(verdictText(anUpgradeCell("a", { verdict: "unresolved", resolves: null }))).toBe("can’t resolve");
    const cells = [0.02, 0.005, 0.01].map((resolves) => anUpgradeCell("a", { resolves }));
    expect(blindText(cells)).toBe("changes below 0.50% to 2.0% go unseen");
    expect(blindText(cells.slice(0, 1))).toBe("changes below 2.0% go unseen");
    expect(blindText([anUpgradeCell("a", { resolves: null })])).toBe("there are too few invocations");
  });

  it("count every verdict that there is", () => {
    const cells = [
      anUpgradeCell("a"),
      anUpgradeCell("b", { verdict: "same" }),
      anUpgradeCell("c", { verdict: "same" }),
    ];
    const gap = {
      case_id: "d",
      title: "d",
      pool: "local",
      cpu_model: "a CPU",
      version: "3.5.4",
      reason: "none",
    };
    expect(tallyOf({ cells, missing: [gap] }).map(([, words]) => words)).toEqual([
      "1 slower",
      "2 no change",
      "1 without a number",
    ]);
  });

  it("tell sides apart, and cores for a rate that people know", () => {
    expect(coresText(anUpgradeCell("a"))).toBe("10.0 → 10.2");
    expect(coresText({ before_ns: null, after_ns: 1 })).toBe("–");
    expect(sidesText(anUpgradeCell("a"))).toBe(
      "client: 0.0% [−1.0%, +1.0%] no change; server: +3.0% [+2.0%, +4.0%] slower; cores for 10,000 handshakes/s: 10.0 → 10.2",
    );
    expect(sidesText(anUpgradeCell("a", { client: null, before_ns: null }))).toBe(
      "server: +3.0% [+2.0%, +4.0%] slower",
    );
  });

  it("name once what changed along with the library", () => {
    const nettle = { component: "nettle", before: "3.8.1", after: "3.10.1" };
    const cells = [
      anUpgradeCell("a", { components: [nettle] }),
      anUpgradeCell("b", { components: [nettle] }),
    ];
    expect(alongText(cells)).toBe("nettle 3.8.1 → 3.10.1");
    expect(alongText([anUpgradeCell("a")])).toBe("");
  });

  it("warn of what was not interleaved, or too little", () => {
    expect(careOf(anUpgradeCell("a"))).toEqual([]);
    expect(careOf(anUpgradeCell("a", { paired: false }))).toEqual(["not interleaved"]);
    expect(careOf(anUpgradeCell("a", { paired: false, warnings: ["other harness"] }))).toEqual([
      "other harness",
    ]);
    expect(careOf(anUpgradeCell("a", { move: null }))).toEqual(["too few invocations"]);
  });

  it("say where other programs left no number of the client and the server", () => {
    const spoilt = anUpgradeCell("a", { client: null, server: null, disturbed: 7 });
    expect(careOf(spoilt)).toEqual([
      "other programs ran in between: 7 invocations do not tell client and server apart",
    ]);
    expect([absentSide(spoilt), absentSide(anUpgradeCell("a"))]).toEqual(["disturbed", "–"]);
  });

  it("say what moves share, by its own words or by its dimension", () => {
    const factor = {
      dimension: "key exchange",
      value: "DHE-RSA",
      side: "server" as const,
      ...aMove(1.062),
      cells: 8,
      moved: 6,
      explained: 0.914,
    };
    expect(factorTitle(factor)).toBe("key exchange DHE-RSA, the server’s CPU time");
    expect(factorTitle({ ...factor, words: "an RSA certificate", side: "both" })).toBe("an RSA certificate");
    expect(factorText(factor)).toBe(
      "+6.2% [+5.2%, +7.2%]; 6 of the 8 that have it moved; explains 91% of all differences",
    );
  });
});

describe("an upgrade’s cells", () => {
  const small = anUpgradeCell("small", { move: aMove(1.01) });
  const halved = anUpgradeCell("halved", { verdict: "less", move: aMove(0.5) });
  const large = anUpgradeCell("large", { move: aMove(1.9) });
  const none = anUpgradeCell("none", { verdict: "unresolved", move: null });

  it("stand by how far they moved, either way, those without a ratio last", () => {
    expect(bySize([none, small, large, halved]).map((cell) => cell.case_id)).toEqual([
      "halved",
      "large",
      "small",
      "none",
    ]);
  });

  it("stand once each, by verdict", () => {
    const { moved, unresolved, same, unlike } = sorted([none, small, large, halved]);
    expect(moved).toEqual([halved, large, small]);
    expect(unresolved).toEqual([none]);
    expect([same, unlike]).toEqual([[], []]);
  });

  it("are drawn with the sides that are known", () => {
    expect(marksOf(anUpgradeCell("a", { client: null })).map((mark) => mark.ink)).toEqual(["more", "server"]);
    expect(marksOf(anUpgradeCell("a", { verdict: "same" })).map((mark) => mark.ink)[0]).toBe("same");
  });

  it("name their machine where there are several", () => {
    expect(isOnSeveral([small, large])).toBe(false);
    expect(isOnSeveral([small, { ...large, cpu_model: "another" }])).toBe(true);
  });

  it("that miss a number for the same reason stand together, each case once", () => {
    const gap = (title: string, pool: string, reason = "no such group") => ({
      case_id: title,
      title,
      pool,
      cpu_model: "a CPU",
      version: "3.0.19",
      reason,
    });
    const gaps = gapsOf([gap("a", "x"), gap("b", "x"), gap("a", "y"), gap("c", "x", "crashed")]);
    expect(gaps.map(({ reason, titles }) => [reason, titles])).toEqual([
      ["no such group", ["a", "b"]],
      ["crashed", ["c"]],
    ]);
  });
});

it("an upgrade’s alert is that of the same versions of the same library", () => {
  const cause = anAlert().cause;
  const others = [
    anAlert({ cause: { ...cause, after: "3.4" } }),
    anAlert({ cause: { ...cause, library: "gnutls" } }),
  ];
  expect(alertOf(ends, [...others, anAlert()])).toEqual(anAlert());
  expect(alertOf(ends, others)).toBeUndefined();
});
