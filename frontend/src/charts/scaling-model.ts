// From a case's scaling curves to what the chart draws: axes, lines, ideals. Pure.
import { nice, ticks } from "d3-array";
import type { Estimate, LoadCase, ScalingCase, ScalingLine, Subject } from "@/api/generated";

export interface CurvePoint {
  /** threads, or connections at once */
  at: number;
  rate: number;
  low: number | null;
  high: number | null;
  /** the rate of one thread while the others sleep; null where it was not measured, and for connections at once */
  alone: number | null;
}

export interface Curve {
  subject: Subject;
  /** the library's place among all libraries: decides the colour */
  hue: number;
  /** the subject's place among its library's: decides the marker */
  shape: number;
  points: CurvePoint[];
  /** the rate that as many threads would make as each makes alone; null where that was not measured, and for
   * connections at once, which share one thread */
  ideal: { from: { at: number; rate: number }; to: { at: number; rate: number } } | null;
}

export interface ScalingModel {
  /** of what the rate is, and over what */
  words: { rate: string; at: string };
  /** a step to the right doubles, as connections at once do */
  doubling: boolean;
  places: number[];
  /** a rate, from 0 to above everything that was measured */
  top: number;
  ticks: number[];
  curves: Curve[];
}

const TICKS = 4;

export function scalingModel({ lines }: Pick<ScalingCase, "lines">, subjects: Subject[]): ScalingModel {
  const measured = lines.map(({ subject, points }) => ({
    subject,
    points: points.map(({ threads, rate, alone }) => curvePoint(threads, rate, alone)),
  }));
  const words = { rate: "handshakes per second", at: "threads" };
  return { words, doubling: false, ...drawn(measured, subjects, idealOf) };
}

export function loadModel({ lines }: Pick<LoadCase, "lines">, subjects: Subject[]): ScalingModel {
  const measured = lines.map(({ subject, points }) => ({
    subject,
    points: points.map(({ concurrency, rate }) => curvePoint(concurrency, rate)),
  }));
  const words = { rate: "connections per second", at: "connections at once" };
  return { words, doubling: true, ...drawn(measured, subjects, () => null) };
}

function drawn(
  lines: { subject: string; points: CurvePoint[] }[],
  subjects: Subject[],
  ideal: (points: CurvePoint[]) => Curve["ideal"],
) {
  const libraries = [...new Set(subjects.map((candidate) => candidate.library))];
  const places = [...new Set(lines.flatMap((line) => line.points.map(({ at }) => at)))].sort((a, b) => a - b);
  const curves = subjects.flatMap((subject): Curve[] => {
    const line = lines.find((candidate) => candidate.subject === subject.name);
    if (!line) return [];
    const sameLibrary = subjects.filter((candidate) => candidate.library === subject.library);
    return [
      {
        subject,
        hue: libraries.indexOf(subject.library),
        shape: sameLibrary.indexOf(subject),
        points: line.points,
        ideal: ideal(line.points),
      },
    ];
  });
  const [, top] = nice(0, Math.max(...curves.flatMap(highest)), TICKS);
  return { places, top, ticks: ticks(0, top, TICKS), curves };
}

/** Shown instead of the coherency if the scaling law could not be fitted completely. */
export function coherencyGap({ contention, coherency }: ScalingLine): string | null {
  if (coherency) return null;
  return contention ? "needs at least three thread counts" : "no fit";
}

function curvePoint(at: number, rate: Estimate, alone: Estimate | null = null): CurvePoint {
  return { at, rate: rate.value, low: rate.low, high: rate.high, alone: alone?.value ?? null };
}

function idealOf(points: CurvePoint[]): Curve["ideal"] {
  const last = points.at(-1);
  if (!last?.alone) return null;
  return { from: { at: 1, rate: last.alone }, to: { at: last.at, rate: last.alone * last.at } };
}

function highest({ points, ideal }: Curve): number[] {
  return [...points.map((point) => point.high ?? point.rate), ideal?.to.rate ?? 0];
}
