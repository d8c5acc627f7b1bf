import { expect, it } from "vitest";
import { FULL_AT_CASE, strength } from "./scale";

it("has no colour without a change, and the full colour from a fifth on", () => {
  expect(strength(1)).toBe(0);
  expect(strength(1.2)).toBe(1);
  expect(strength(3)).toBe(1);
});

it("is symmetric: a cost divided and one multiplied by the same are equally strong", () => {
  for (const ratio of [1.01, 1.05, 1.1, 1.19]) expect(strength(ratio)).toBeCloseTo(strength(1 / ratio), 12);
});

it("grows with the change", () => {
  expect(strength(1.1)).toBeGreaterThan(strength(1.05));
  expect(strength(2, FULL_AT_CASE)).toBeCloseTo(0.5);
});

it("has no colour for what is no ratio", () => {
  expect(strength(Number.NaN)).toBe(0);
  expect(strength(0)).toBe(0);
});
