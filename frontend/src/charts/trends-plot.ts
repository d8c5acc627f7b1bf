// The uPlot options of a chart with many trends, all on one canvas, which thousands of points need.
import uPlot from "uplot";
import { dateTime, day } from "@/format";
import { changePointText } from "./change-words";
import { crowdPainter, firstFrom } from "./crowd";
import { type Palette, SHAPES } from "./palette";
import { labelsInSight, trendLabels } from "./trend-labels";
import {
  changesOf,
  type DrawnLine,
  hasLevels,
  type Marker,
  type TrendPlace,
  type TrendsPanel,
} from "./trends-model";
import { type Range, zoomByWheel } from "./zoom";

export type TrendsHover = { line: DrawnLine; place: TrendPlace; left: number; top: number } | null;

/** A solid part of a line. */
export interface DrawnRun {
  line: DrawnLine;
  points: TrendPlace[];
}

interface Settings {
  lines: DrawnLine[];
  slots: TrendsPanel["slots"];
  markers: Marker[];
  palette: Palette;
  width: number;
  yLabel: string;
  isLog: boolean;
  hover: (hover: TrendsHover) => void;
}

const HEIGHT = 340;
const FONT = "12px system-ui, sans-serif";
const REACH_PX = 30;
const DAY_S = 24 * 60 * 60;
/** More bands or words than those of so many lines hide each other. The table has all numbers. */
export const FEW = 12;
export const DASHES: number[][] = [[], [7, 4], [2, 3], [10, 3, 2, 3]];

interface TrendsPlot {
  options: uPlot.Options;
  data: uPlot.AlignedData;
  /** of the horizontal axis, without zoom */
  whole: Range;
}

export function trendsPlot(settings: Settings): TrendsPlot {
  const { lines, slots, markers, palette, width, yLabel, isLog, hover } = settings;
  const xs = [...new Set(lines.flatMap((line) => line.points.map((place) => place.x)))].sort((a, b) => a - b);
  const runs = lines.flatMap((line) => line.runs.map((points): DrawnRun => ({ line, points })));
  const hasBands = lines.length <= FEW;
  const hue = (line: DrawnLine) => palette.hues[line.hue % palette.hues.length] ?? palette.text;
  const [least, greatest] = [xs[0] ?? 0, xs.at(-1) ?? 0];
  const room = slots ? 0.5 : Math.max((greatest - least) * 0.03, DAY_S / 2);
  const whole: Range = [least - room, greatest + room];
  const labels = slots && trendLabels(slots, width - 80);
  let sight = labelsInSight(slots ?? [], whole, width - 80);
  const dash = (line: DrawnLine) => DASHES[line.dash % DASHES.length] ?? [];
  const drawCrowd = hasBands
    ? undefined
    : crowdPainter(runs, isLog, ({ line }) => ({ stroke: hue(line), dash: dash(line) }));
  const [steps, ends] = [stepsOf(lines), extent(lines, hasBands)];
  const isDetailed = hasLevels(lines);
  const axis = { stroke: palette.text, font: FONT, labelFont: FONT };
  const options: uPlot.Options = {
    width,
    height: HEIGHT,
    legend: { show: false },
    cursor: { drag: { x: true, y: false }, y: false, points: { show: false } },
    scales: {
      // uPlot names the ends of the data when it shows everything.
      x: { time: !slots, range: (_, min, max) => (min === least && max === greatest ? whole : [min, max]) },
      y: isLog ? { distr: 3 } : { range: () => ends },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        ticks: { show: false },
        ...(labels && slots
          ? {
              splits: (_: uPlot, __: number, from: number, to: number) => {
                sight = labelsInSight(slots, [from, to], width - 80);
                return sight.xs;
              },
              values: () => sight.texts,
              rotate: () => sight.rotate,
              size: labels.size, // of all: a chart whose height changes would jump
            }
          : {
              space: 130,
              values: (_: uPlot, splits: number[]) => splits.map((at) => dateText(at, greatest - least)),
            }),
      },
      {
        ...axis,
        label: yLabel,
        size: 64,
        grid: { stroke: palette.line, width: 1 },
        ticks: { show: false },
        values: (_, splits) =>
          splits.map((value) =>
            value === null ? "" : value.toLocaleString("en-US", { maximumFractionDigits: 3 }),
          ),
      },
    ],
    series: [
      {},
      ...runs.flatMap(({ line, points }): uPlot.Series[] => [
        {
          stroke: hue(line),
          width: 2,
          dash: dash(line),
          ...(drawCrowd && { paths: () => null }),
          points: { show: !isDetailed && (hasBands || points.length === 1), size: 6, fill: hue(line) },
        },
        ...(hasBands
          ? [
              { stroke: "transparent", points: { show: false } },
              { stroke: "transparent", points: { show: false } },
            ]
          : []),
      ]),
    ],
    bands: hasBands
      ? runs.map(({ line }, index) => ({
          series: [3 * index + 3, 3 * index + 2],
          fill: `color-mix(in srgb, ${hue(line)} 18%, transparent)`,
        }))
      : [],
    hooks: {
      ready: [(plot) => zoomByWheel(plot, whole)],
      draw: [
        (plot) => drawCrowd?.(plot),
        (plot) => drawJoins(plot, lines, hue, isDetailed),
        (plot) => drawMarkers(plot, markers, palette),
        (plot) => drawSteps(plot, steps, { lines: lines.length, palette, hue }),
        (plot) => hasBands && drawMarks(plot, lines, hue, isDetailed),
      ],
      setCursor: [(plot) => hover(nearest(plot, lines))],
    },
  };
  const columns = runs.flatMap(({ points }) => {
    const at = new Map(points.map((place) => [place.x, place]));
    const values = [xs.map((x) => at.get(x)?.y)];
    return hasBands ? [...values, xs.map((x) => at.get(x)?.low), xs.map((x) => at.get(x)?.high)] : values;
  });
  return { options, data: [xs, ...columns] as uPlot.AlignedData, whole };
}

function dateText(at: number, span: number): string {
  const iso = new Date(at * 1000).toISOString();
  return span > 4 * DAY_S ? day(iso.slice(0, 10)) : dateTime(iso);
}

/** All that is drawn, with room around it. */
function extent(lines: DrawnLine[], hasBands: boolean): [number, number] {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { points } of lines) {
    for (const place of points) {
      low = Math.min(low, (hasBands ? place.low : null) ?? place.y, ...place.levels);
      high = Math.max(high, (hasBands ? place.high : null) ?? place.y, ...place.levels);
    }
  }
  const room = Math.max((high - low) * 0.1, high * 0.02);
  return [Math.max(0, low - room), high + room];
}

type Spot = [number, number];

function stroke(ctx: CanvasRenderingContext2D, from: Spot, to: Spot): void {
  ctx.beginPath();
  ctx.moveTo(...from);
  ctx.lineTo(...to);
  ctx.stroke();
}

/** Of each version: its build's marker, its interval, and beside it every invocation. Without details, the intervals that
 * no band has. */
function drawMarks(
  { ctx, bbox, valToPos }: uPlot,
  lines: DrawnLine[],
  hue: (line: DrawnLine) => string,
  isDetailed: boolean,
): void {
  const ratio = uPlot.pxRatio;
  const half = 4 * ratio;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.lineWidth = 1.5 * ratio;
  for (const line of lines) {
    ctx.strokeStyle = ctx.fillStyle = hue(line);
    const places = isDetailed ? line.points : line.runs.filter(({ length }) => length === 1).flat();
    for (const { x: at, y, low, high, levels, shape } of places) {
      const x = valToPos(at, "x", true);
      ctx.globalAlpha = 0.35;
      for (const level of levels) {
        ctx.beginPath();
        ctx.arc(x + 7 * ratio, valToPos(level, "y", true), 1.8 * ratio, 0, 2 * Math.PI);
        ctx.fill();
      }
      ctx.globalAlpha = 1;
      if (low !== null && high !== null) {
        const [bottom, top] = [low, high].map((end) => valToPos(end, "y", true)) as Spot;
        stroke(ctx, [x, bottom], [x, top]);
        for (const end of [bottom, top]) stroke(ctx, [x - half, end], [x + half, end]);
      }
      if (isDetailed) marker(ctx, shape, x, valToPos(y, "y", true), 4.5 * ratio);
    }
  }
  ctx.restore();
}

/** A build's marker: the same shapes, in the same order, stand in the legend. */
function marker(ctx: CanvasRenderingContext2D, shape: number, x: number, y: number, size: number): void {
  ctx.beginPath();
  switch (shape % SHAPES.length) {
    case 0:
      ctx.arc(x, y, size, 0, 2 * Math.PI);
      break;
    case 1:
      ctx.rect(x - size, y - size, 2 * size, 2 * size);
      break;
    default:
      ctx.moveTo(x, y - 1.3 * size);
      ctx.lineTo(x + 1.2 * size, y + size);
      ctx.lineTo(x - 1.2 * size, y + size);
  }
  ctx.fill();
}

/** The dashed parts between different builds, each with an open mark at its end. */
function drawJoins(
  { ctx, bbox, valToPos }: uPlot,
  lines: DrawnLine[],
  hue: (line: DrawnLine) => string,
  isDetailed: boolean,
): void {
  const ratio = uPlot.pxRatio;
  const spot = (place: TrendPlace): Spot => [valToPos(place.x, "x", true), valToPos(place.y, "y", true)];
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.lineWidth = ratio;
  for (const line of lines) {
    ctx.strokeStyle = hue(line);
    for (const [from, to] of line.joins) {
      ctx.setLineDash([3 * ratio, 4 * ratio]);
      stroke(ctx, spot(from), spot(to));
      ctx.setLineDash([]);
      if (!isDetailed) diamond(ctx, spot(to), 7 * ratio); // else the marker says which build it is
    }
  }
  ctx.restore();
}

function diamond(ctx: CanvasRenderingContext2D, [x, y]: Spot, size: number): void {
  ctx.beginPath();
  ctx.moveTo(x, y - size);
  ctx.lineTo(x + size, y);
  ctx.lineTo(x, y + size);
  ctx.lineTo(x - size, y);
  ctx.closePath();
  ctx.stroke();
}

function drawMarkers({ ctx, bbox, valToPos }: uPlot, markers: Marker[], palette: Palette): void {
  const ratio = uPlot.pxRatio;
  ctx.save();
  ctx.strokeStyle = palette.line;
  ctx.fillStyle = palette.faint;
  ctx.lineWidth = ratio;
  ctx.font = FONT.replace("12", String(11 * ratio));
  ctx.textAlign = "left";
  for (const marker of markers) {
    const x = valToPos(marker.x, "x", true);
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    stroke(ctx, [x, bbox.top], [x, bbox.top + bbox.height]);
    upright(ctx, marker.text, x - 3 * ratio, bbox.top + bbox.height - 4 * ratio);
  }
  ctx.restore();
}

interface Step {
  line: DrawnLine;
  text: string;
}

/** By the place at which series changed. */
function stepsOf(lines: DrawnLine[]): Map<number, Step[]> {
  const steps = new Map<number, Step[]>();
  for (const line of lines) {
    for (const { build, change } of changesOf(line)) {
      const [before, after] = [change.index - 1, change.index].map((index) => {
        const subject = build.points[index]?.subject;
        return line.points.find((place) => place.point.subject === subject);
      });
      if (!before || !after) continue;
      const x = (before.x + after.x) / 2;
      const text = changePointText(change, line.place.metric);
      steps.set(x, [...(steps.get(x) ?? []), { line, text }]);
    }
  }
  return steps;
}

interface StepInk {
  /** their number in the chart */
  lines: number;
  palette: Palette;
  hue: (line: DrawnLine) => string;
}

/** A dotted line for each place at which series changed. Words of several would hide each other, so they are counted. */
function drawSteps(
  { ctx, bbox, valToPos }: uPlot,
  steps: Map<number, Step[]>,
  { lines, palette, hue }: StepInk,
): void {
  const ratio = uPlot.pxRatio;
  ctx.save();
  ctx.lineWidth = 1.5 * ratio;
  ctx.setLineDash([1.5 * ratio, 3 * ratio]);
  ctx.font = FONT.replace("12", String(12 * ratio));
  ctx.textAlign = "right";
  for (const [at, changes] of steps) {
    const x = valToPos(at, "x", true);
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    const only = changes.length === 1 ? changes[0] : undefined;
    ctx.strokeStyle = ctx.fillStyle = only ? hue(only.line) : palette.text;
    stroke(ctx, [x, bbox.top], [x, bbox.top + bbox.height]);
    upright(ctx, only ? only.text : `${changes.length} of ${lines} changed`, x - 4 * ratio, bbox.top);
  }
  ctx.restore();
}

function upright(ctx: CanvasRenderingContext2D, text: string, x: number, y: number): void {
  ctx.save();
  ctx.textBaseline = "bottom"; // beside the line, whatever was written before
  ctx.translate(x, y);
  ctx.rotate(-Math.PI / 2);
  ctx.fillText(text, 0, 0);
  ctx.restore();
}

function nearest(plot: uPlot, lines: DrawnLine[]): TrendsHover {
  const { left = -1, top = -1 } = plot.cursor;
  if (left < 0 || top < 0) return null;
  let best: TrendsHover = null;
  let distance = REACH_PX;
  const from = plot.posToVal(left - distance, "x");
  const to = plot.posToVal(left + distance, "x");
  for (const line of lines) {
    const { points } = line;
    for (let index = firstFrom(points, from); (points[index]?.x ?? Infinity) <= to; index++) {
      const place = points[index] as TrendPlace;
      const px = plot.valToPos(place.x, "x");
      const py = plot.valToPos(place.y, "y");
      const away = Math.hypot(px - left, py - top);
      if (away < distance) {
        distance = away;
        best = {
          line,
          place,
          left: px + plot.bbox.left / uPlot.pxRatio,
          top: py + plot.bbox.top / uPlot.pxRatio,
        };
      }
    }
  }
  return best;
}
