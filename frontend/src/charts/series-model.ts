// From the API's series of one library to what the trend chart draws: places on an ordinal axis, lines, connectors. Pure.
import type { ChangePoint, Series, SeriesPoint } from "@/api/generated";
import { type Show, unitOf } from "@/format";
import { placeOf, versionText } from "@/subjects";
import { joinedBuilds } from "./builds";

/** A version or a commit: one place on the axis, whatever its builds. */
export interface Slot {
  /** as it is shown */
  version: string;
  place: string;
  versionKey: string;
  x: number;
}

export interface PlotPoint {
  x: number;
  y: number;
  low: number | null;
  high: number | null;
  medians: number[];
  point: SeriesPoint;
  build: string;
  /** the place of its version, which builds of it share */
  slot: number;
}

/** A build. */
export interface PlotLine {
  label: string;
  /** its place among the builds: decides the marker */
  shape: number;
  points: PlotPoint[];
  changes: ChangePoint[];
}

/** A solid part of the line: neighbouring versions of one build. */
export interface Run {
  points: PlotPoint[];
}

/** A dashed part: neighbouring versions of different builds. */
export interface Connector {
  from: PlotPoint;
  to: PlotPoint;
}

/** A change point of a line, between two of its points. */
export interface Step {
  x: number;
  change: ChangePoint;
}

export interface SeriesModel {
  slots: Slot[];
  lines: PlotLine[];
  runs: Run[];
  connectors: Connector[];
  steps: Step[];
  /** whether the change points of a line are relative to the sentinel; its points never are */
  throughSentinel: boolean;
}

/** The distance between builds of the same version. */
const DODGE = 0.12;

/** The same series, one for each library: versions of two libraries have no common axis. */
export function byLibrary(series: Series): { library: string; series: Series }[] {
  const libraries = [...new Set(series.lines.map(({ library }) => library))].sort(compare);
  return libraries.map((library) => ({
    library,
    series: { ...series, lines: series.lines.filter((line) => line.library === library) },
  }));
}

export function seriesModel(series: Series, show: Show): SeriesModel {
  const slots = slotsOf(series);
  const builds = series.lines;
  const lines = builds.map((line, shape): PlotLine => {
    const points = line.points.map((point) => {
      const slot = slots.find((candidate) => candidate.place === placeOf(point));
      const sharing = builds.filter((build) =>
        build.points.some((other) => placeOf(other) === placeOf(point)),
      );
      const offset = (sharing.indexOf(line) - (sharing.length - 1) / 2) * DODGE;
      const drawn = plotPoint(point, (slot?.x ?? 0) + offset, scaleOf(series, show));
      return { ...drawn, build: line.build_profile, slot: slot?.x ?? 0 };
    });
    return { label: line.build_profile_label, shape, points, changes: line.change_points };
  });
  const { runs, joins } = joinedBuilds(
    lines.flatMap(({ points }) => points),
    ({ slot }) => slot,
  );
  return {
    slots,
    lines,
    runs: runs.map((points) => ({ points })),
    connectors: joins.map(([from, to]) => ({ from, to })),
    steps: lines.flatMap(stepsOf),
    throughSentinel: builds.some((line) => line.through_sentinel),
  };
}

/** From the metric's unit to the axis: handshakes per second, microseconds, bytes or a count. */
function scaleOf(series: Series, show: Show): (value: number) => number {
  if (unitOf(series.metric) !== "ns") return (value) => value;
  return show === "rate" ? (ns) => 1e9 / ns : (ns) => ns / 1e3;
}

function slotsOf(series: Series): Slot[] {
  const slots = new Map<string, Omit<Slot, "x">>();
  for (const point of series.lines.flatMap(({ points }) => points)) {
    const place = placeOf(point);
    slots.set(place, { version: versionText(point), versionKey: point.version_key, place });
  }
  return [...slots.values()]
    .sort((a, b) => compare(a.versionKey, b.versionKey))
    .map((slot, x) => ({ ...slot, x }));
}

function plotPoint(
  point: SeriesPoint,
  x: number,
  scale: (value: number) => number,
): Omit<PlotPoint, "build" | "slot"> {
  const { value, low, high } = point.estimate;
  const ends = low === null || high === null ? null : [scale(low), scale(high)];
  return {
    x,
    y: scale(value),
    low: ends && Math.min(...ends),
    high: ends && Math.max(...ends),
    medians: point.invocation_levels.map(scale),
    point,
  };
}

function stepsOf({ points, changes }: PlotLine): Step[] {
  return changes.flatMap((change) => {
    const [before, after] = [points[change.index - 1], points[change.index]];
    return before && after ? [{ x: (before.x + after.x) / 2, change }] : [];
  });
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
