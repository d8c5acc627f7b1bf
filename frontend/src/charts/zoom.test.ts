import type uPlot from "uplot";
import { expect, test } from "vitest";
import { carried, keepZoom, panned, type Range, type Zoom, zoomed } from "./zoom";

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

const slotsOf = (...keys: string[]) => keys.map((key, x) => ({ key, x }));

test("the same versions are shown where a new one came between, and at the end", () => {
  const [before, after] = [slotsOf("a", "b", "c", "d"), slotsOf("a", "new", "b", "c", "d", "e")];
  expect(carried({ range: [0.6, 2.4], slots: before }, [-0.5, 5.5], after)).toEqual([1.6, 3.4]);
  expect(carried({ range: [-0.4, 0.4], slots: before }, [-0.5, 5.5], after)).toEqual([-0.4, 0.4]);
});

test("dates are kept as they are", () => {
  const kept = { range: [20, 40] as Range, slots: undefined };
  expect(carried(kept, [0, 200], undefined)).toEqual([20, 40]);
});

test("what is kept stays within the axis, and is all of an axis that became shorter", () => {
  const [before, after] = [slotsOf("a", "b", "c", "d"), slotsOf("d")];
  expect(carried({ range: [0.6, 2.4], slots: before }, [-0.5, 0.5], after)).toEqual([-0.5, 0.5]);
  expect(
    carried({ range: [0.6, 2.4], slots: before }, [-0.5, 5.5], slotsOf("c", "d", "e", "f", "g", "b")),
  ).toEqual([-0.5, 5.5]);
  expect(carried({ range: [80, 100], slots: undefined }, [0, 90], undefined)).toEqual([70, 90]);
});

/** As much of a chart as zooming takes. */
function aPlot([min, max]: Range = WHOLE) {
  const x = { min, max };
  const hooks: uPlot.Hooks.Arrays = {};
  const plot = { scales: { x }, hooks } as unknown as uPlot;
  plot.setScale = (key, range) => {
    Object.assign(x, range);
    for (const hook of hooks.setScale ?? []) hook?.(plot, key);
  };
  const shown = () => [x.min, x.max];
  return { plot, shown };
}

function keptAfter(choice: string, ranges: Range[]): { current: Zoom | undefined } {
  const zoom = { current: undefined };
  const { plot } = aPlot();
  keepZoom(plot, { choice, whole: WHOLE, slots: undefined }, zoom);
  for (const [min, max] of ranges) plot.setScale("x", { min, max });
  return zoom;
}

test("the next chart of a choice shows what was shown, as that of another choice does not", () => {
  for (const [choice, expected] of [
    ["a", [20, 40]],
    ["b", WHOLE],
  ] as const) {
    const zoom = keptAfter("a", [[20, 40]]);
    const { plot, shown } = aPlot();
    keepZoom(plot, { choice, whole: WHOLE, slots: undefined }, zoom);
    expect(shown()).toEqual(expected);
  }
});

test("a chart that shows everything shows what comes as well", () => {
  const zoom = keptAfter("a", [[20, 40], WHOLE]);
  const { plot, shown } = aPlot([0, 120]);
  keepZoom(plot, { choice: "a", whole: [0, 120], slots: undefined }, zoom);
  expect(shown()).toEqual([0, 120]);
});
