import { describe, expect, it } from "vitest";
import type { Trend, Trends } from "@/api/generated";
import { aCase, aChangePoint, aSubject } from "@/testing/build";
import { changePointText } from "./change-points";
import { trendsModel } from "./trends-model";

const subjects = [aSubject("gnutls", "3.8"), aSubject("openssl", "3.0"), aSubject("openssl", "3.5")];

function aTrend(trend: Partial<Trend>, costs: [place: number, ns: number][]): Trend {
  return {
    case_id: "rsa",
    host_kind: { pool: "local", cpu_model: "CPU A" },
    metric: "cpu_ns",
    library: "openssl",
    build_profile_label: "shared",
    points: costs.map(([subject, value]) => ({
      subject,
      run_id: "r",
      measured_at: `2026-01-0${subject + 1}T00:00:00Z`,
      value,
      low: value * 0.9,
      high: value * 1.1,
      invocations: 10,
    })),
    change_points: [],
    through_sentinel: false,
    ...trend,
  };
}

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
  it("names series by what they differ in, and puts the versions of libraries side by side", () => {
    const { lines, slots } = trendsModel(trends, {});
    expect(lines.map(({ label }) => label)).toEqual([
      "gnutls, local: CPU A",
      "openssl, local: CPU A",
      "openssl, local: CPU B",
    ]);
    expect(trendsModel(trends, {}).title).toBe("rsa, both sides");
    expect(slots?.map(({ version, x }) => [version, x])).toEqual([
      ["3.8", 0],
      ["3.0", 1.5],
      ["3.5", 2.5],
    ]);
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
    expect(based.lines.map(({ label }) => label)).toEqual(["openssl, local: CPU A"]);
    expect(based.undrawn).toBe(2);
  });

  it("counts the versions whose release date is not known", () => {
    const { lines, slots, undrawn, markers } = trendsModel(trends, { x: "released" });
    expect(slots).toBeUndefined();
    expect(lines.map(({ points }) => points.length)).toEqual([2, 1]);
    expect(undrawn).toBe(1);
    expect(markers).toEqual([{ x: Date.parse("2025-04-08") / 1000, text: "3.5: security fixes" }]);
  });

  it("marks when a pool's machines changed", () => {
    const { markers } = trendsModel(trends, { x: "measured" });
    expect(markers).toEqual([
      { x: Date.parse("2026-01-03T00:00:00Z") / 1000, text: "local: another host kind" },
    ]);
  });

  it("has a chart for each machine", () => {
    const { panels } = trendsModel(trends, { split: "cpu" });
    expect(panels[0]?.lines.map(({ shortLabel }) => shortLabel)).toEqual(["gnutls", "openssl"]);
    expect(panels.map(({ title, lines }) => [title, lines.length])).toEqual([
      ["local: CPU A", 2],
      ["local: CPU B", 1],
    ]);
  });
});

describe("a change point", () => {
  it("has one number in the chart and in the table, or says why it has none", () => {
    expect(changePointText(aChangePoint({ ratio: 2.15 }), "cpu_ns")).toBe("115% more time");
    expect(changePointText(aChangePoint({ ratio: 1.01, verdict: "unresolved" }), "cpu_ns")).toBe(
      "1.0% more time, unresolved",
    );
    expect(changePointText(aChangePoint({ ratio: null, verdict: "apart" }), "cpu_ns")).toBe("not compared");
    expect(changePointText(aChangePoint({ ratio: null, verdict: "unlike" }), "cpu_ns")).toBe(
      "not comparable",
    );
  });
});
