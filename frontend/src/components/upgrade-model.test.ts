import { describe, expect, it } from "vitest";
import { aMove, anAlert, anEnd, anUpgradeCell } from "@/testing/build";
import { expectGolden } from "@/testing/golden";
import {
  absentSide,
  alertOf,
  bySize,
  caveatsOf,
  coresText,
  dependencyText,
  factorText,
  factorTitle,
  gapsOf,
  isOnSeveral,
  marksOf,
  resolutionText,
  sidesText,
  sorted,
  storyOf,
  tallyOf,
  titleOf,
  verdictText,
} from "./upgrade-model";

const ends = { library: "openssl" as const, before: anEnd("3.0.19"), after: anEnd("3.5.4") };

const gap = {
  case_id: "d",
  title: "d",
  pool: "local",
  cpu_model: "a CPU",
  version: "3.5.4",
  reason: "none",
};
const nettle = { component: "nettle", before: "3.8.1", after: "3.10.1" };
const gmp = { component: "gmp", before: "6.2.1", after: "6.3.0" };
const factor = {
  dimension: "key exchange",
  value: "DHE-RSA",
  side: "server" as const,
  ...aMove(1.062),
  cells: 8,
  moved: 6,
  explained: 0.914,
};
const limits = (...values: number[]) => values.map((resolves) => anUpgradeCell("a", { resolves }));
const verdicts = ["more", "less", "same", "unresolved", "unlike", "apart"] as const;
const disturbedCell = (disturbed: number) => anUpgradeCell("a", { client: null, server: null, disturbed });

it("an upgrade’s words", async () => {
  await expectGolden("upgrade-model", {
    "title: two versions": titleOf(ends),
    "title: one version from two sources": titleOf({ ...ends, after: anEnd("3.0.19", "system") }),
    "story: below a heading with the versions": storyOf({
      sentence: "OpenSSL 3.0.19 → 3.5.4: no significant change in 8 cases.",
    }),
    "story: a sentence without versions": storyOf({ sentence: "No run has finished." }),
    verdicts: verdicts.map((verdict) => verdictText({ verdict, resolves: null })),
    "verdict: unresolved, with the resolution": verdictText({ verdict: "unresolved", resolves: 0.012 }),
    "tally: every verdict": tallyOf({
      cells: verdicts.map((verdict) => anUpgradeCell(verdict, { verdict })),
      missing: [gap],
    }).map(([, words]) => words),
    "resolution: a range": resolutionText(limits(0.02, 0.005, 0.01)),
    "resolution: one value": resolutionText(limits(0.02)),
    "resolution: too few invocations": resolutionText([anUpgradeCell("a", { resolves: null })]),
    "sides: client and server": sidesText(anUpgradeCell("a")),
    "sides: server only, costs unknown": sidesText(anUpgradeCell("a", { client: null, before_ns: null })),
    "sides: a change that rounds to nothing": sidesText(
      anUpgradeCell("a", {
        client: { ratio: 0.9996, low: 0.9995, high: 1.0004, verdict: "same" },
        server: null,
        before_ns: null,
      }),
    ),
    "dependencies: two, one of them in two cells": dependencyText([
      anUpgradeCell("a", { components: [nettle] }),
      anUpgradeCell("b", { components: [nettle, gmp] }),
    ]),
    "caveats: not interleaved": caveatsOf(anUpgradeCell("a", { paired: false })),
    "caveats: from the API": caveatsOf(anUpgradeCell("a", { paired: false, warnings: ["other harness"] })),
    "caveats: costs vary more": caveatsOf(
      anUpgradeCell("a", { spread: { before: 0.012, after: 0.041, q: 0.01, verdict: "more" } }),
    ),
    "caveats: too few invocations": caveatsOf(anUpgradeCell("a", { move: null })),
    "caveats: one disturbed invocation": caveatsOf(disturbedCell(1)),
    "caveats: several disturbed invocations": caveatsOf(disturbedCell(7)),
    "a side without a number": [absentSide(disturbedCell(7)), absentSide(anUpgradeCell("a"))],
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

describe("an upgrade’s numbers", () => {
  it("give the cores for a rate that people know", () => {
    expect(coresText(anUpgradeCell("a", { server_before_ns: 1e6, server_after_ns: 1.02e6 }))).toBe(
      "10.0 → 10.2",
    );
    expect(coresText({ server_before_ns: null, server_after_ns: 1 })).toBe("");
  });

  it("need no caveat if they are interleaved and undisturbed, and no dependencies if none changed", () => {
    expect(caveatsOf(anUpgradeCell("a"))).toEqual([]);
    expect(dependencyText([anUpgradeCell("a")])).toBe("");
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
    const gapOf = (title: string, pool: string, reason = "no such group") => ({
      case_id: title,
      title,
      pool,
      cpu_model: "a CPU",
      version: "3.0.19",
      reason,
    });
    const gaps = gapsOf([gapOf("a", "x"), gapOf("b", "x"), gapOf("a", "y"), gapOf("c", "x", "crashed")]);
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
