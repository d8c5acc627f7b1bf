import { expect, test } from "vitest";
import { panned, type Range, zoomed } from "./zoom";

const WHOLE: Range = [0, 100];

test("zooming keeps the place that is pointed to, and stays within the axis", () => {
  expect(zoomed(WHOLE, WHOLE, 25, 0.5)).toEqual([12.5, 62.5]);
  expect(zoomed([12.5, 62.5], WHOLE, 25, 2)).toEqual(WHOLE);
  expect(zoomed([0, 50], WHOLE, 50, 1.5)).toEqual([0, 75]);
  expect(zoomed([60, 100], WHOLE, 60, 10)).toEqual(WHOLE);
});

test("zooming ends at a hundredth of the axis", () => {
  expect(zoomed([40, 42], WHOLE, 41, 0.1)).toEqual([40.5, 41.5]);
});

test("panning moves by a share of what is shown, and ends at the ends of the axis", () => {
  expect(panned([20, 40], WHOLE, 0.5)).toEqual([30, 50]);
  expect(panned([20, 40], WHOLE, -5)).toEqual([0, 20]);
  expect(panned([20, 40], WHOLE, 5)).toEqual([80, 100]);
  expect(panned(WHOLE, WHOLE, 0.5)).toEqual(WHOLE);
});
