// Many lines on one canvas: those of one style are one path, and only what is in sight is drawn. As uPlot's own series,
// 200 lines take twice as long for each frame.
import { bisector } from "d3-array";
import uPlot from "uplot";
import type { TrendPlace } from "./trends-model";
import type { DrawnRun } from "./trends-plot";

export interface LineStyle {
  stroke: string;
  dash: number[];
}

export function crowdPainter(
  runs: DrawnRun[],
  isLog: boolean,
  styleOf: (run: DrawnRun) => LineStyle,
): (plot: uPlot) => void {
  const scaled = isLog ? Math.log10 : (y: number) => y;
  const paths = new Map<string, { style: LineStyle; lines: { points: TrendPlace[]; ys: number[] }[] }>();
  for (const run of runs) {
    const style = styleOf(run);
    const key = `${style.stroke} ${style.dash}`;
    const path = paths.get(key) ?? { style, lines: [] };
    path.lines.push({ points: run.points, ys: run.points.map(({ y }) => scaled(y)) });
    paths.set(key, path);
  }
  return ({ ctx, bbox, scales }) => {
    const [from = 0, to = 1] = [scales.x?.min, scales.x?.max];
    const [low = 0, high = 1] = [scales.y?.min, scales.y?.max].map((end) => end && scaled(end));
    const [perX, perY] = [bbox.width / (to - from), bbox.height / (high - low)];
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.lineWidth = uPlot.pxRatio;
    for (const { style, lines: own } of paths.values()) {
      ctx.strokeStyle = style.stroke;
      ctx.setLineDash(style.dash.map((length) => length * uPlot.pxRatio));
      ctx.beginPath();
      for (const { points, ys } of own) {
        const start = Math.max(0, firstFrom(points, from) - 1);
        for (let index = start; index < points.length; index++) {
          const { x } = points[index] as TrendPlace;
          const left = bbox.left + (x - from) * perX;
          const top = bbox.top + (high - (ys[index] as number)) * perY;
          if (index === start) ctx.moveTo(left, top);
          else ctx.lineTo(left, top);
          if (x > to) break;
        }
      }
      ctx.stroke();
    }
    ctx.restore();
  };
}

/** The index of the first place at or after x; places are in order. */
export const firstFrom = bisector((place: { x: number }) => place.x).left;
