import { describe, expect, it } from "vitest";
import type { ComparedCell, ComparedEnd, HostKind } from "@/api/generated";
import type { EndChoice } from "@/search";
import { aCell, aChange, aComparedCell, anAlert, anEnd, anEndOf, aSubject } from "@/testing/build";
import { expectGolden } from "@/testing/golden";
import {
  alertOf,
  chosenEnds,
  compareTitle,
  differenceText,
  endChoices,
  hostsOf,
  stepsOf,
  storyOf,
  subjectsAt,
  titleOf,
} from "./compared-ends";

function aComparedEnd(version: string, end: Partial<ComparedEnd> = {}): ComparedEnd {
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

const ends = { library: "openssl", before: anEnd("3.0.19"), after: anEnd("3.5.4") };

it("two ends in words", async () => {
  await expectGolden("compared-ends", {
    "title: two versions": titleOf(ends),
    "title: one version from two sources": titleOf({ ...ends, after: anEnd("3.0.19", "system") }),
    "story: below a heading with the versions": storyOf({
      sentence: "OpenSSL 3.0.19 → 3.5.4: no significant change in 8 cases.",
    }),
    "story: a sentence without versions": storyOf({ sentence: "No run has finished." }),
  });
});

describe("two ends", () => {
  const cpuNameOf = (cpu: string) => cpu.toUpperCase();
  const title = (base: ComparedEnd, other: ComparedEnd | null, kinds: Partial<ComparedCell> = {}) =>
    compareTitle({ base, other, cells: [aComparedCell("a", kinds)] }, cpuNameOf);
  const here = { pool: "local", cpu_model: "epyc" };
  const there = { pool: "local", cpu_model: "xeon" };
  const onTwo = { host_kind: here, other_host_kind: there };
  const inOtherPool = { host_kind: here, other_host_kind: { ...there, pool: "arm" } };

  it("are named by what they differ in", () => {
    expect(title(aComparedEnd("3.0"), aComparedEnd("3.5"))).toBe("OpenSSL 3.0 → 3.5");
    expect(title(aComparedEnd("3.0", { run_id: "a" }), aComparedEnd("3.0", { run_id: "b" }))).toBe(
      "OpenSSL 3.0: two runs",
    );
    expect(title(aComparedEnd("3.0"), aComparedEnd("3.8", { subject: aSubject("gnutls", "3.8") }))).toBe(
      "OpenSSL 3.0 → GnuTLS 3.8",
    );
    expect(title(aComparedEnd("3.0"), aComparedEnd("3.0"))).toBe("OpenSSL 3.0");
    expect(title(aComparedEnd("3.0"), null)).toBe("Compare");
  });

  it("on two machines are named with them, in their direction", () => {
    expect(title(aComparedEnd("3.0"), aComparedEnd("3.0"), onTwo)).toBe("OpenSSL 3.0, EPYC → XEON");
    expect(title(aComparedEnd("3.0"), aComparedEnd("3.5"), onTwo)).toBe("OpenSSL 3.0 on EPYC → 3.5 on XEON");
    expect(title(aComparedEnd("3.0"), aComparedEnd("3.0"), inOtherPool)).toBe(
      "OpenSSL 3.0, local: EPYC → arm: XEON",
    );
  });

  it("have host kinds of their own where both are on the same one", () => {
    const on = (kind: HostKind) => aComparedCell("a", { host_kind: kind, other_host_kind: kind });
    expect(hostsOf([on(here), on(there), on(here)])).toEqual([here, there]);
    expect(hostsOf([aComparedCell("a", onTwo)])).toEqual([]);
  });

  it("may be two cases, which differ in dimensions with both values", () => {
    expect(title(aComparedEnd("1", { case_id: "a" }), aComparedEnd("1", { case_id: "b" }))).toBe(
      "OpenSSL 1: two cases",
    );
    const differences = [{ what: "cipher", before: "AES-128-GCM", after: "AES-128-CBC-SHA" }];
    expect(differenceText({ differences })).toBe("cipher: AES-128-GCM → AES-128-CBC-SHA");
    expect(differenceText({ differences: [] })).toBeUndefined();
  });

  it("are kept in the URL", () => {
    const answer = { base: aComparedEnd("3.0"), other: aComparedEnd("3.5") };
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
    [two.name, three.name],
    [one.name, two.name],
  ];

  it("offers the versions that it compares", () => {
    expect(subjectsAt("base", [one, two, three], pairs)).toEqual([one, two]);
    expect(subjectsAt("other", [one, two, three], pairs)).toEqual([two, three]);
    expect(subjectsAt("base", [one, two, three], undefined)).toHaveLength(3);
  });

  it("chooses the other end where the two are not a published pair", () => {
    const now: [EndChoice, EndChoice] = [{ subject: two.name }, { subject: three.name }];
    const host = { pool: undefined, cpu: undefined };
    expect(chosenEnds("base", { subject: one.name }, now, pairs)).toEqual([
      { subject: one.name, ...host },
      { subject: two.name, ...host },
    ]);
    const elsewhere = { pool: "local", cpu: "a CPU" };
    expect(chosenEnds("other", elsewhere, now, pairs)).toEqual([
      { subject: two.name, ...elsewhere },
      { subject: three.name, ...elsewhere },
    ]);
    expect(chosenEnds("other", elsewhere, now, undefined)[0]).toEqual(now[0]);
  });
});

it("an upgrade’s alert is that of the same versions of the same library", () => {
  const cause = anAlert().cause;
  const compared = { base: aComparedEnd("3.0.19"), other: aComparedEnd("3.5.4") };
  const others = [
    anAlert({ cause: { ...cause, after: "3.4" } }),
    anAlert({ cause: { ...cause, library: "gnutls" } }),
  ];
  expect(alertOf(compared, [...others, anAlert()])).toEqual(anAlert());
  expect(alertOf(compared, others)).toBeUndefined();
});

describe("the steps of a run", () => {
  it("name what changed along with the library, and those without are left out", () => {
    const [before, after, later] = ["3.7.9", "3.8.9", "3.8.10"].map((version) =>
      aSubject("gnutls", version),
    ) as [ReturnType<typeof aSubject>, ReturnType<typeof aSubject>, ReturnType<typeof aSubject>];
    const nettle = { what: "nettle", before: "3.8.1", after: "3.10.1" };
    const change = aChange({ before: anEndOf(before), components: [nettle] });
    const cells = [
      aCell("a", after, { change }),
      aCell("b", after, { change }),
      aCell("a", later, { change: aChange({ before: anEndOf(after) }) }),
    ];
    const priors = new Map([
      [after.name, before],
      [later.name, after],
    ]);
    expect(stepsOf(priors, [before, after, later], cells)).toEqual([
      { title: "GnuTLS 3.7.9 → 3.8.9", dependencies: "nettle 3.8.1 → 3.10.1" },
    ]);
  });
});
