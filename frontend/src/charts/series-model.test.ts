import { describe, expect, it } from "vitest";
import type { SeriesLine } from "@/api/generated";
import { aCell, aChangePoint, aLine, anEstimate, aSeries, aSubject } from "@/testing/build";
import { expectGolden } from "@/testing/golden";
import { byLibrary, seriesModel } from "./series-model";
import { splitsOf, withoutSplit } from "./splits";

const flat = anEstimate(1_000_000, 990_000, 1_010_000);

describe("the series' model", () => {
  it("gives every version of a library one place, in version order, on an axis without other libraries", () => {
    const series = aSeries([
      aLine("openssl", "a", [
        ["1", flat],
        ["2", flat],
      ]),
      aLine("gnutls", "a", [["1", flat]]),
      aLine("openssl", "b", [["2", flat]]),
    ]);
    const axes = byLibrary(series).map(({ library, series: own }) => [
      library,
      seriesModel(own, "rate").slots.map(({ version, x }) => [version, x]),
    ]);
    expect(axes).toEqual([
      ["gnutls", [["1", 0]]],
      [
        "openssl",
        [
          ["1", 0],
          ["2", 1],
        ],
      ],
    ]);
  });

  it("sets builds of one version beside each other", () => {
    const series = aSeries([aLine("openssl", "a", [["2", flat]]), aLine("openssl", "b", [["2", flat]])]);
    const [a, b] = seriesModel(series, "rate").lines.map((line) => line.points[0]?.x ?? 0);
    expect(a).toBeLessThan(b ?? 0);
  });

  it("sets a version with a single build straight above its name", () => {
    const series = aSeries([aLine("openssl", "a", [["1", flat]]), aLine("openssl", "b", [["2", flat]])]);
    const { slots, lines } = seriesModel(series, "rate");
    expect(lines.map((line) => line.points[0]?.x)).toEqual(slots.map((slot) => slot.x));
  });

  it("turns the interval round when costs become rates", () => {
    const point = (show: "rate" | "cost") =>
      seriesModel(aSeries([aLine("openssl", "a", [["1", flat]])]), show).lines[0]?.points[0];
    expect(point("cost")).toMatchObject({ y: 1000, low: 990, high: 1010 });
    expect(point("rate")?.y).toBe(1000);
    expect(point("rate")?.low).toBeCloseTo(990.1);
    expect(point("rate")?.high).toBeCloseTo(1010.1);
  });

  it("draws bytes as they are, whatever the axis was set to", () => {
    const series = aSeries([aLine("openssl", "a", [["1", anEstimate(1220)]])], "server_bytes");
    expect(seriesModel(series, "rate").lines[0]?.points[0]?.y).toBe(1220);
  });

  it("marks a step between the last version before it and the first after it, of its own line", () => {
    const step = aChangePoint({ index: 1, ratio: 1.05 });
    const points: [string, typeof flat][] = [
      ["1", flat],
      ["2", flat],
    ];
    const { steps } = seriesModel(aSeries([aLine("openssl", "a", points, [step])]), "rate");
    expect(steps).toEqual([{ x: 0.5, change: step }]);
  });

  it("knows whether steps are of costs relative to the sentinel", () => {
    const line = aLine("openssl", "a", [["1", flat]]);
    const through = { ...line, through_sentinel: true };
    const throughSentinel = (...lines: SeriesLine[]) => seriesModel(aSeries(lines), "rate").throughSentinel;
    expect(throughSentinel(line, line)).toBe(false);
    expect(throughSentinel(line, through)).toBe(true);
  });

  it("joins versions of different builds by a dashed connector only", () => {
    const series = aSeries([
      aLine("openssl", "a", [["1", flat]]),
      aLine("openssl", "b", [
        ["2", flat],
        ["3", flat],
      ]),
    ]);
    const { connectors } = seriesModel(series, "rate");
    expect(connectors.map(({ from, to }) => [from.point.version, to.point.version])).toEqual([["1", "2"]]);
  });

  it("draws no line past the version of another build", () => {
    const series = aSeries([
      aLine("openssl", "a", [
        ["1", flat],
        ["3", flat],
      ]),
      aLine("openssl", "b", [["2", flat]]),
    ]);
    const { runs, connectors } = seriesModel(series, "rate");
    expect(runs.map(({ points }) => points.map(({ point }) => point.version))).toEqual([["1"], ["2"], ["3"]]);
    expect(connectors.map(({ from, to }) => [from.point.version, to.point.version])).toEqual([
      ["1", "2"],
      ["2", "3"],
    ]);
  });
});

describe("the client's and the server's share", () => {
  it("joins the two by subject and leaves out what only one side has", () => {
    const client = aSeries([
      aLine("openssl", "a", [
        ["1", anEstimate(100)],
        ["2", anEstimate(110)],
      ]),
    ]);
    const server = aSeries([aLine("openssl", "a", [["2", anEstimate(300)]])]);
    expect(splitsOf(client, server)).toEqual([
      { subject: "openssl@2~a", label: "openssl 2 (a)", clientNs: 110, serverNs: 300 },
    ]);
  });
});

describe("subjects without a split", () => {
  it("are named with the reason, for this case only", async () => {
    const spoilt = aSubject("openssl", "3.5.4");
    const outcome = {
      kind: "disturbed" as const,
      reason: "other programs ran",
      detail: null,
      invocations: 7,
    };
    const measured = { estimate: flat };
    const matrix = {
      subjects: [spoilt, aSubject("openssl", "3.0.17")],
      cells: [
        aCell("a", spoilt, { estimate: null, outcome }),
        aCell("a", aSubject("openssl", "3.0.17"), measured),
        aCell("b", spoilt, { estimate: null, outcome }),
      ],
    };
    await expectGolden("splits", { "one disturbed subject": withoutSplit(matrix, "a") });
    expect(withoutSplit(undefined, "a")).toEqual([]);
  });
});
