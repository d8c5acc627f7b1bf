import { describe, expect, it } from "vitest";
import { changeScale } from "./change-scale";

describe("the scale of changes of a count", () => {
  it("holds every change, and no change, in their order", () => {
    const { place } = changeScale([-525_766, -147_382, 133_385]);
    const places = [-525_766, -147_382, 0, 133_385].map(place);
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(places[0]).toBeGreaterThan(0);
    expect(places.at(-1)).toBeLessThan(1);
  });

  it("is linear", () => {
    const { place } = changeScale([-100, 300]);
    expect(place(200) - place(100)).toBeCloseTo(place(0) - place(-100));
  });

  it("names no change and round ones, with room between the names", () => {
    for (const changes of [[], [0], [3], [-57_523, 109_042], [-525_766, 133_385], [-9e9, -1]]) {
      const { place, ticks } = changeScale(changes);
      expect(ticks).toContain(0);
      const gaps = ticks.slice(1).map((tick, index) => place(tick) - place(ticks[index] ?? 0));
      expect(Math.min(1, ...gaps)).toBeGreaterThanOrEqual(0.18);
      expect(ticks.length).toBeLessThan(8);
    }
  });
});
