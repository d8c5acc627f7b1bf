import { describe, expect, it } from "vitest";
import type { HistoryLine } from "@/api/generated";
import { sparkLines, sparkText } from "./sparkline-model";

const LINE: HistoryLine = {
  library: "openssl",
  build_profile_label: "shared",
  host_kind: { pool: "local", cpu_model: "a CPU" },
  versions: ["1", "2", "3", "4", "5"],
  base: 0,
  other: 4,
};

describe("a small history", () => {
  it("reaches from the lowest to the highest cost, and is interrupted where nothing was measured", () => {
    const [line] = sparkLines([{ line: 0, values: [1000, 3000, null, 2000, 2000] }], [LINE]);
    expect(line?.parts).toEqual([
      [
        [0, 0],
        [0.25, 1],
      ],
      [
        [0.75, 0.5],
        [1, 0.5],
      ],
    ]);
    expect([line?.base, line?.other]).toEqual([
      [0, 0],
      [1, 0.5],
    ]);
  });

  it("has no mark of an end that is not in it, or has no cost", () => {
    const [line] = sparkLines([{ line: 0, values: [null, 1, 1, 1, 1] }], [{ ...LINE, other: null }]);
    expect([line?.base, line?.other]).toEqual([undefined, undefined]);
  });

  it("has one scale for two lines", () => {
    const lines = sparkLines(
      [0, 1].map((line) => ({ line, values: [1000 * (line + 1)] })),
      [LINE, LINE],
    );
    expect(lines.map(({ parts }) => parts)).toEqual([[[[0.5, 0]]], [[[0.5, 1]]]]);
  });

  it("says where it begins and ends", () => {
    expect(sparkText([{ line: 0, values: [null, 3000, null, null, 2000] }], [LINE])).toBe(
      "2 versions, 2 to 5: 3.00 µs to 2.00 µs",
    );
    expect(sparkText([{ line: 0, values: [1000, null, null, null, null] }], [LINE])).toBe("one version");
  });
});
