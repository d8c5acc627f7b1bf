import { describe, expect, it } from "vitest";
import { moveScale } from "./move-scale";

const move = (low: number, ratio: number, high: number) => ({ low, ratio, high });

describe("the scale of moves", () => {
  it("holds every interval, and no change, in their order", () => {
    const { place } = moveScale([move(1.04, 1.05, 1.06), move(0.9, 0.95, 0.99)]);
    const places = [0.9, 0.95, 0.99, 1, 1.04, 1.05, 1.06].map(place);
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(places[0]).toBeGreaterThan(0);
    expect(places.at(-1)).toBeLessThan(1);
  });

  it("has a halved and a doubled cost equally far from an unchanged one", () => {
    const { place } = moveScale([move(0.5, 0.5, 0.5), move(2, 2, 2)]);
    expect(place(1) - place(0.5)).toBeCloseTo(place(2) - place(1));
  });

  it("names no change and round ones, with room between the names", () => {
    for (const moves of [[], [move(1.04, 1.05, 1.06)], [move(0.4, 0.5, 0.6), move(3, 4, 12)]]) {
      const { place, ticks } = moveScale(moves);
      expect(ticks).toContain(1);
      expect(ticks.length).toBeGreaterThan(1);
      const gaps = ticks.slice(1).map((tick, index) => place(tick) - place(ticks[index] ?? 0));
      expect(Math.min(...gaps)).toBeGreaterThanOrEqual(0.13);
    }
  });

  it("does not blow up what is next to nothing", () => {
    const { place } = moveScale([move(0.9999, 1, 1.0001)]);
    expect(place(1.0001) - place(0.9999)).toBeLessThan(0.02);
  });
});
