import { describe, expect, it } from "vitest";
import { columnScales } from "./scorecard-model";

const figure = (value: number, low = value, high = value) => ({ text: String(value), value, low, high });
const name = { text: "a method" };

describe("the scales of a scorecard’s columns", () => {
  it("reach from none to the largest figure or bound of each column", () => {
    const rows = [{ cells: [name, figure(0.5, 0.4, 0.6)] }, { cells: [name, figure(0.8, 0.7, 1)] }];
    const [first, second] = columnScales(rows);
    expect(first).toBeUndefined();
    expect([0, 0.5, 1].map((figure) => second?.(figure))).toEqual([0, 0.5, 1]);
  });

  it("reach below none where a figure does", () => {
    const [scale] = columnScales([{ cells: [figure(-1)] }, { cells: [figure(1)] }]);
    expect([-1, 0, 1].map((figure) => scale?.(figure))).toEqual([0, 0.5, 1]);
  });

  it("are none where there is nothing to compare", () => {
    expect(columnScales([{ cells: [figure(1)] }, { cells: [name] }])).toEqual([undefined]);
    expect(columnScales([{ cells: [figure(0)] }, { cells: [figure(0)] }])).toEqual([undefined]);
    expect(columnScales([])).toEqual([]);
  });

  it("leave a bound that nobody knows out", () => {
    const rows = [{ cells: [{ text: "3", value: 3, low: 2, high: null }] }, { cells: [figure(4)] }];
    expect(columnScales(rows)[0]?.(4)).toBe(1);
  });
});
