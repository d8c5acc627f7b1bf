// The part of a chart's horizontal axis that is shown, and the wheel and the keys that change it. Dragging is uPlot's.
import type uPlot from "uplot";

export type Range = [from: number, to: number];

/** The versions of an axis. Where it has dates there are none. */
export type Slots = readonly { key: string; x: number }[] | undefined;

/** What is shown of a chart, for the chart that replaces it. */
export interface Zoom {
  /** what the chart was asked to show */
  choice: string;
  range: Range;
  slots: Slots;
}

/** The smallest part of the axis. */
const LEAST = 0.01;
const STEP = 1.25;
const WHEEL_PX = 100;

/** `at` keeps its place. */
export function zoomed([from, to]: Range, whole: Range, at: number, factor: number): Range {
  const all = whole[1] - whole[0];
  const span = Math.min(Math.max((to - from) * factor, all * LEAST), all);
  const start = at - (span * (at - from)) / (to - from);
  return within([start, start + span], whole);
}

export function panned([from, to]: Range, whole: Range, share: number): Range {
  const by = (to - from) * share;
  return within([from + by, to + by], whole);
}

function within([from, to]: Range, [start, end]: Range): Range {
  const by = Math.max(start - from, 0) + Math.min(end - to, 0);
  return [from + by, to + by];
}

/** The wheel alone scrolls the page: with Ctrl it zooms, as two fingers do on a touchpad, and sideways it pans. */
export function zoomByWheel(plot: uPlot, whole: Range): void {
  plot.over.addEventListener(
    "wheel",
    (event) => {
      const range = shownRange(plot, whole);
      const sideways = event.deltaX || (event.shiftKey ? event.deltaY : 0);
      const next =
        event.ctrlKey || event.metaKey
          ? zoomed(range, whole, plot.posToVal(event.offsetX, "x"), STEP ** (event.deltaY / WHEEL_PX))
          : panned(range, whole, sideways / plot.over.clientWidth);
      if (next[0] === range[0] && next[1] === range[1]) return;
      event.preventDefault();
      show(plot, next);
    },
    { passive: false },
  );
}

/** Whether the key changed what is shown. */
export function zoomByKey(plot: uPlot, whole: Range, key: string): boolean {
  const range = shownRange(plot, whole);
  const middle = (range[0] + range[1]) / 2;
  const next = {
    "+": zoomed(range, whole, middle, 1 / STEP),
    "-": zoomed(range, whole, middle, STEP),
    ArrowLeft: panned(range, whole, -0.1),
    ArrowRight: panned(range, whole, 0.1),
    "0": whole,
  }[key];
  if (next) show(plot, next);
  return next !== undefined;
}

/** Shows what `zoom` has of the same choice, and notes there what is shown from now on. */
export function keepZoom(
  plot: uPlot,
  { choice, whole, slots }: Omit<Zoom, "range"> & { whole: Range },
  zoom: { current: Zoom | undefined },
): void {
  const kept = zoom.current;
  if (kept?.choice === choice) show(plot, carried(kept, whole, slots));
  plot.hooks.setScale = [
    ...(plot.hooks.setScale ?? []),
    (_, scale) => {
      if (scale !== "x") return;
      const range = shownRange(plot, whole);
      zoom.current = isAll(range, whole) ? undefined : { choice, range, slots };
    },
  ];
}

/** The same part of a new axis: versions that came in between move the others. All of it if that part is gone. */
export function carried({ range, slots: before }: Omit<Zoom, "choice">, whole: Range, slots: Slots): Range {
  const [from, to] = range.map((x) => x + shiftAt(x, before, slots)) as Range;
  const isPart = from < to && to - from < whole[1] - whole[0];
  return isPart ? within([from, to], whole) : whole;
}

/** By how much the version nearest to a place has moved. */
function shiftAt(x: number, before: Slots, after: Slots): number {
  const nearest = before?.reduce((best, slot) => (Math.abs(slot.x - x) < Math.abs(best.x - x) ? slot : best));
  const moved = after?.find(({ key }) => key === nearest?.key);
  return nearest && moved ? moved.x - nearest.x : 0;
}

/** But for what sums of fractions lose. */
function isAll([from, to]: Range, [start, end]: Range): boolean {
  return (to - from) / (end - start) > 1 - 1e-9;
}

function shownRange(plot: uPlot, whole: Range): Range {
  return [plot.scales.x?.min ?? whole[0], plot.scales.x?.max ?? whole[1]];
}

function show(plot: uPlot, [min, max]: Range): void {
  plot.setScale("x", { min, max });
}
