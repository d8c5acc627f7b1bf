// The trend's uPlot options: lines and bands are uPlot's, marks are drawn over them.
import uPlot from "uplot";
import type { ChangePoint } from "@/api/generated";
import type { Palette } from "./palette";
import type { PlotLine, PlotPoint, Run, SeriesModel } from "./series-model";
import { trendLabels } from "./trend-labels";

export type Hover = { point: PlotPoint; line: PlotLine; left: number; top: number } | null;

interface PlotSettings {
  model: SeriesModel;
  palette: Palette;
  width: number;
  yLabel: string;
  stepText: (change: ChangePoint) => string;
  hover: (hover: Hover) => void;
}

const HEIGHT = 360;
export const FONT = "12px system-ui, sans-serif";
const REACH_PX = 40;

export function trendPlot(settings: PlotSettings): { options: uPlot.Options; data: uPlot.AlignedData } {
  const { model, palette, width, yLabel, stepText, hover } = settings;
  const xs = [...new Set(model.lines.flatMap((line) => line.points.map((point) => point.x)))].sort(
    (a, b) => a - b,
  );
  const hue = palette.hues[0] ?? palette.text;
  const slots = model.slots.map((slot) => slot.x);
  const last = slots.at(-1) ?? 0;
  const labels = trendLabels(model.slots, width - 80);
  const axis = { stroke: palette.text, font: FONT, labelFont: FONT };
  const options: uPlot.Options = {
    width,
    height: HEIGHT,
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, y: false, points: { show: false } },
    scales: { x: { time: false, range: [-0.5, last + 0.5] }, y: { range: () => extent(model) } },
    axes: [
      {
        ...axis,
        splits: () => slots,
        values: () => labels.texts,
        grid: { show: false },
        ticks: { show: false },
        rotate: labels.rotate,
        size: labels.size,
      },
      {
        ...axis,
        label: yLabel,
        size: 64,
        grid: { stroke: palette.line, width: 1 },
        ticks: { show: false },
        values: (_, splits) => splits.map((value) => value.toLocaleString("en-US")),
      },
    ],
    series: [
      {},
      ...model.runs.flatMap((): uPlot.Series[] => [
        { stroke: hue, width: 2, points: { show: false } },
        { stroke: "transparent", points: { show: false } },
        { stroke: "transparent", points: { show: false } },
      ]),
    ],
    bands: model.runs.map((_, index) => ({
      series: [3 * index + 3, 3 * index + 2],
      fill: `color-mix(in srgb, ${hue} 18%, transparent)`,
    })),
    hooks: {
      draw: [(plot) => drawMarks(plot, model, hue), (plot) => drawSteps(plot, model, hue, stepText)],
      setCursor: [(plot) => hover(nearest(plot, model))],
    },
  };
  return { options, data: [xs, ...model.runs.flatMap((run) => aligned(run, xs))] as uPlot.AlignedData };
}

/** `undefined` is another line's place and is joined over; null is an interval that is missing. */
function aligned(run: Run, xs: number[]): (number | null | undefined)[][] {
  const at = new Map(run.points.map((point) => [point.x, point]));
  return [xs.map((x) => at.get(x)?.y), xs.map((x) => at.get(x)?.low), xs.map((x) => at.get(x)?.high)];
}

/** All that is drawn, with room around it; noise of a flat history is not blown up to full height. */
function extent(model: SeriesModel): [number, number] {
  const values = model.lines.flatMap((line) =>
    line.points.flatMap((point) => [point.y, point.low ?? point.y, point.high ?? point.y, ...point.medians]),
  );
  const low = Math.min(...values);
  const high = Math.max(...values);
  const room = Math.max((high - low) * 0.12, high * 0.02);
  return [Math.max(0, low - room), high + room];
}

function drawMarks(plot: uPlot, model: SeriesModel, hue: string): void {
  const { ctx } = plot;
  const ratio = uPlot.pxRatio;
  const x = (point: PlotPoint) => plot.valToPos(point.x, "x", true);
  const y = (value: number) => plot.valToPos(value, "y", true);
  ctx.save();
  ctx.lineWidth = 1.5 * ratio;
  ctx.setLineDash([5 * ratio, 5 * ratio]);
  ctx.strokeStyle = hue;
  ctx.fillStyle = hue;
  for (const { from, to } of model.connectors) {
    stroke(ctx, [x(from), y(from.y)], [x(to), y(to.y)]);
  }
  ctx.setLineDash([]);
  for (const line of model.lines) {
    for (const point of line.points) {
      ctx.globalAlpha = 0.35;
      for (const value of point.medians) {
        ctx.beginPath();
        ctx.arc(x(point) + 7 * ratio, y(value), 1.8 * ratio, 0, 2 * Math.PI);
        ctx.fill();
      }
      ctx.globalAlpha = 1;
      if (point.low !== null && point.high !== null) {
        const half = 4 * ratio;
        stroke(ctx, [x(point), y(point.low)], [x(point), y(point.high)]);
        stroke(ctx, [x(point) - half, y(point.low)], [x(point) + half, y(point.low)]);
        stroke(ctx, [x(point) - half, y(point.high)], [x(point) + half, y(point.high)]);
      }
      marker(ctx, line.shape, x(point), y(point.y), 4.5 * ratio);
    }
  }
  ctx.restore();
}

/** Upright, so that neighbours have room: the line and its words along it. */
function drawSteps(
  plot: uPlot,
  model: SeriesModel,
  hue: string,
  text: (change: ChangePoint) => string,
): void {
  const { ctx, bbox } = plot;
  const ratio = uPlot.pxRatio;
  ctx.save();
  ctx.lineWidth = 1.5 * ratio;
  ctx.setLineDash([1.5 * ratio, 3 * ratio]);
  ctx.font = FONT.replace("12", String(12 * ratio));
  ctx.textAlign = "right";
  ctx.textBaseline = "bottom"; // beside the line, whatever was written before
  ctx.strokeStyle = hue;
  ctx.fillStyle = hue;
  for (const step of model.steps) {
    const x = plot.valToPos(step.x, "x", true);
    stroke(ctx, [x, bbox.top], [x, bbox.top + bbox.height]);
    ctx.save();
    ctx.translate(x - 4 * ratio, bbox.top);
    ctx.rotate(-Math.PI / 2);
    ctx.fillText(text(step.change), 0, 0);
    ctx.restore();
  }
  ctx.restore();
}

export type Spot = [number, number];

export function stroke(ctx: CanvasRenderingContext2D, from: Spot, to: Spot): void {
  ctx.beginPath();
  ctx.moveTo(...from);
  ctx.lineTo(...to);
  ctx.stroke();
}

/** A build's marker: the same shapes, in the same order, stand in the legend. */
function marker(ctx: CanvasRenderingContext2D, shape: number, x: number, y: number, size: number): void {
  ctx.beginPath();
  switch (shape % 3) {
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

function nearest(plot: uPlot, model: SeriesModel): Hover {
  const { left = -1, top = -1 } = plot.cursor;
  if (left < 0 || top < 0) return null;
  let best: Hover = null;
  let distance = REACH_PX;
  for (const line of model.lines) {
    for (const point of line.points) {
      const px = plot.valToPos(point.x, "x");
      const py = plot.valToPos(point.y, "y");
      const away = Math.hypot(px - left, py - top);
      if (away < distance) {
        distance = away;
        best = {
          point,
          line,
          left: px + plot.bbox.left / uPlot.pxRatio,
          top: py + plot.bbox.top / uPlot.pxRatio,
        };
      }
    }
  }
  return best;
}
