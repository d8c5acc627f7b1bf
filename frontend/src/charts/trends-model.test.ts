import { describe, expect, it } from "vitest";
import type { Subject, Trend, Trends } from "@/api/generated";
import { aCase, aSubject, aTrend } from "@/testing/build";
import { hasLevels, type TrendPlace, trendsModel } from "./trends-model";

const subjects = [aSubject("gnutls", "3.8"), aSubject("openssl", "3.0"), aSubject("openssl", "3.5")];

const openssl = aTrend({}, [
  [1, 1_000_000],
  [2, 2_000_000],
]);
const gnutls = aTrend({ library: "gnutls" }, [[0, 500_000]]);
const other = aTrend({ host_kind: { pool: "local", cpu_model: "CPU B" } }, [[2, 4_000_000]]);

const trends: Trends = {
  choices: [],
  cases: [aCase("rsa")],
  subjects,
  lines: [gnutls, openssl, other],
  left_out: 0,
  releases: [
    { library: "openssl", version: "3.0", released: "2021-09-07", security: [] },
    { library: "openssl", version: "3.5", released: "2025-04-08", security: ["CVE-1"] },
  ],
};

describe("the model of trends", () => {
  it("names series by what they differ in, with a chart and an axis for the versions of each library", () => {
    const { title, lines, panels } = trendsModel(trends, {});
    expect(lines.map(({ label }) => label)).toEqual(["gnutls, CPU A", "openssl, CPU A", "openssl, CPU B"]);
    expect(title).toBe("rsa, both sides");
    expect(
      panels.map((panel) => [
        panel.title,
        panel.lines.map(({ shortLabel }) => shortLabel),
        panel.slots?.map(({ version, x }) => [version, x]),
      ]),
    ).toEqual([
      ["gnutls", ["CPU A"], [["3.8", 0]]],
      [
        "openssl",
        ["CPU A", "CPU B"],
        [
          ["3.0", 0],
          ["3.5", 1],
        ],
      ],
    ]);
  });

  it("names machines by what people call their CPUs, and by their pools where there are several", () => {
    const xeon = "Intel(R) Xeon(R) Processor, SMT off, on KVM, family 6/207, stepping 8";
    const on = (pool: string, cpu_model: string) =>
      aTrend({ host_kind: { pool, cpu_model } }, [[1, 1_000_000]]);
    const labels = (...lines: Trend[]) =>
      trendsModel({ ...trends, lines }, {}).lines.map(({ label }) => label);
    expect(labels(on("local", xeon), on("local", "AMD EPYC 9R14, SMT on"))).toEqual([
      "Xeon 6/207",
      "EPYC 9R14",
    ]);
    expect(labels(on("local", xeon), on("arm", "Neoverse-V1"))).toEqual([
      "local: Xeon 6/207",
      "arm: Neoverse-V1",
    ]);
  });

  it("has one line for a library on a machine through all versions, dashed where the build changes", () => {
    const [old, near, newest] = ["1.1.1w", "3.0.19", "3.5.9"].map((version) => ({
      ...aSubject("openssl", version),
      build_profile: version === "3.0.19" ? "debian" : "source",
    })) as [Subject, Subject, Subject];
    const lines = [
      aTrend({ build_profile_label: "source" }, [
        [0, 1_000_000],
        [2, 1_100_000],
      ]),
      aTrend({ build_profile_label: "debian" }, [[1, 1_400_000]]),
    ];
    const { lines: drawn } = trendsModel({ ...trends, subjects: [old, near, newest], lines }, {});
    expect(drawn).toHaveLength(1);
    const [line] = drawn;
    const versions = (places: TrendPlace[]) => places.map(({ subject }) => subject.version);
    expect(versions(line?.points ?? [])).toEqual(["1.1.1w", "3.0.19", "3.5.9"]);
    expect(line?.runs.map(versions)).toEqual([["1.1.1w"], ["3.0.19"], ["3.5.9"]]);
    expect(line?.joins.map(versions)).toEqual([
      ["1.1.1w", "3.0.19"],
      ["3.0.19", "3.5.9"],
    ]);
  });

  it("sets builds of one version beside each other, and one alone straight above its name", () => {
    const builds = ["a", "b"].map((build_profile) => ({ ...aSubject("openssl", "2"), build_profile }));
    const lines = [
      aTrend({ build_profile_label: "a" }, [
        [0, 1_000_000],
        [1, 1_000_000],
      ]),
      aTrend({ build_profile_label: "b" }, [[2, 1_000_000]]),
    ];
    const [line] = trendsModel(
      { ...trends, subjects: [aSubject("openssl", "1"), ...builds], lines },
      {},
    ).lines;
    expect(line?.points.map(({ x, slot, shape }) => [x, slot, shape])).toEqual([
      [0, 0, 0],
      [1 - 0.06, 1, 0],
      [1 + 0.06, 1, 1],
    ]);
  });

  it("has the costs of invocations where they were asked for", () => {
    const [point] = openssl.points;
    const lines = [{ ...openssl, points: point ? [{ ...point, levels: [500_000, 2_000_000] }] : [] }];
    const [line] = trendsModel({ ...trends, lines }, {}).lines;
    expect(line?.points[0]?.levels).toEqual([2000, 500]);
    expect(hasLevels(line ? [line] : [])).toBe(true);
    expect(hasLevels(trendsModel(trends, {}).lines)).toBe(false);
  });

  it("draws bytes as they are, whatever the axis was set to", () => {
    const lines = [aTrend({ metric: "server_bytes" }, [[1, 1220]])];
    expect(trendsModel({ ...trends, lines }, { show: "cost" }).lines[0]?.points[0]?.y).toBe(1220);
  });

  it("shows rates, with the ends of an interval in order", () => {
    const [place] = trendsModel(trends, {}).lines[1]?.points ?? [];
    expect(place?.y).toBe(1000);
    expect(place?.low).toBeCloseTo(909.1, 1);
    expect(place?.high).toBeCloseTo(1111.1, 1);
  });

  it("divides costs by the first version of each series, or by a version, without which nothing is drawn", () => {
    const first = trendsModel(trends, { show: "relative" });
    expect(first.lines.map(({ points }) => points.map(({ y }) => y))).toEqual([[1], [1, 2], [1]]);
    const based = trendsModel(trends, { show: "relative", base: "3.0" });
    expect(based.lines.map(({ label }) => label)).toEqual(["openssl, CPU A"]);
    expect(based.undrawn).toBe(2);
  });

  it("counts the versions whose release date is not known", () => {
    const { lines, panels, undrawn, markers } = trendsModel(trends, { x: "released" });
    expect(panels.map(({ slots }) => slots)).toEqual([undefined]);
    expect(lines.map(({ points }) => points.length)).toEqual([2, 1]);
    expect(undrawn).toBe(1);
    expect(markers).toEqual([
      { x: Date.parse("2025-04-08") / 1000, text: "3.5: security fixes", library: "openssl" },
    ]);
  });

  it("marks when a pool's machines changed", () => {
    const { markers } = trendsModel(trends, { x: "measured" });
    expect(markers).toEqual([
      { x: Date.parse("2026-01-03T00:00:00Z") / 1000, text: "local: another host kind" },
    ]);
  });

  it("has a chart for each machine", () => {
    const { panels } = trendsModel(trends, { split: "cpu" });
    expect(panels.map(({ title, lines }) => [title, lines.length])).toEqual([
      ["gnutls, CPU A", 1],
      ["openssl, CPU A", 1],
      ["openssl, CPU B", 1],
    ]);
    const dated = trendsModel(trends, { split: "cpu", x: "measured" }).panels;
    expect(dated.map(({ title, lines }) => [title, lines.map(({ shortLabel }) => shortLabel)])).toEqual([
      ["CPU A", ["gnutls", "openssl"]],
      ["CPU B", ["openssl"]],
    ]);
  });
});
