// From the API's series to what the trend chart draws: places on an ordinal axis, lines, connectors. Pure.
import type { ChangePoint, Series, SeriesPoint } from "@/api/generated";
import { type Show, unitOf } from "@/format";
import { placeOf, versionText } from "@/subjects";
import { joinedBuilds } from "./builds";

/** A version of a library or one of its commits: one place on the axis, whatever its builds. */
export interface Slot {
  library: string;
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

export interface PlotLine {
  label: string;
  library: string;
  /** the library's place among the libraries: decides the colour */
  hue: number;
  /** the build's place among the library's builds: decides the marker */
  shape: number;
  points: PlotPoint[];
  changes: ChangePoint[];
}

/** A solid part of a library's line: neighbouring versions of one build. */
export interface Run {
  hue: number;
  points: PlotPoint[];
}

/** A dashed part: neighbouring versions of different builds. */
export interface Connector {
  hue: number;
  from: PlotPoint;
  to: PlotPoint;
}

/** A change point of a line, between two of its points. */
export interface Step {
  hue: number;
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

export function seriesModel(series: Series, show: Show): SeriesModel {
  const slots = slotsOf(series);
  const libraries = [...new Set(slots.map((slot) => slot.library))];
  const lines = libraries.flatMap((library, hue) => {
    const builds = series.lines.filter((line) => line.library === library);
    return builds.map((line, shape): PlotLine => {
      const points = line.points.map((point) => {
        const slot = slots.find(
          (candidate) => candidate.library === library && candidate.place === placeOf(point),
        );
        const sharing = builds.filter((build) =>
          build.points.some((other) => placeOf(other) === placeOf(point)),
        );
        const offset = (sharing.indexOf(line) - (sharing.length - 1) / 2) * DODGE;
        const drawn = plotPoint(point, (slot?.x ?? 0) + offset, scaleOf(series, show));
        return { ...drawn, build: line.build_profile, slot: slot?.x ?? 0 };
      });
      const label = `${library}, ${line.build_profile_label}`;
      return { label, library, hue, shape, points, changes: line.change_points };
    });
  });
  const joined = libraries.map((library, hue) => {
    const own = lines.filter((line) => line.library === library);
    return {
      hue,
      ...joinedBuilds(
        own.flatMap(({ points }) => points),
        ({ slot }) => slot,
      ),
    };
  });
  const runs = joined.flatMap(({ hue, runs }) => runs.map((points) => ({ hue, points })));
  const connectors = joined.flatMap(({ hue, joins }) => joins.map(([from, to]) => ({ hue, from, to })));
  const throughSentinel = series.lines.some((line) => line.through_sentinel);
  return { slots, lines, runs, connectors, steps: lines.flatMap(stepsOf), throughSentinel };
}

/** From the metric's unit to the axis: handshakes per second, microseconds, bytes or a count. */
function scaleOf(series: Series, show: Show): (value: number) => number {
  if (unitOf(series.metric) !== "ns") return (value) => value;
  return show === "rate" ? (ns) => 1e9 / ns : (ns) => ns / 1e3;
}

function slotsOf(series: Series): Slot[] {
  const slots = new Map<string, Omit<Slot, "x">>();
  for (const line of series.lines) {
    for (const point of line.points) {
      const place = placeOf(point);
      const named = { library: line.library, version: versionText(point), versionKey: point.version_key };
      slots.set(`${line.library} ${place}`, { ...named, place });
    }
  }
  const ordered = [...slots.values()].sort(
    (a, b) => compare(a.library, b.library) || compare(a.versionKey, b.versionKey),
  );
  let x = 0;
  return ordered.map((slot, index) => {
    const previous = ordered[index - 1];
    if (previous) x += previous.library === slot.library ? 1 : 1.5;
    return { ...slot, x };
  });
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

function stepsOf({ hue, points, changes }: PlotLine): Step[] {
  return changes.flatMap((change) => {
    const [before, after] = [points[change.index - 1], points[change.index]];
    return before && after ? [{ hue, x: (before.x + after.x) / 2, change }] : [];
  });
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
