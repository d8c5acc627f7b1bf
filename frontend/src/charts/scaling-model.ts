// From a case's scaling curves to what the chart draws: axes, lines, ideals. Pure.
import type { ScalingCase, ScalingLine, ScalingPoint, SubjectView } from "@/api/generated";

export interface CurvePoint {
  threads: number;
  rate: number;
  low: number | null;
  high: number | null;
}

export interface Curve {
  subject: SubjectView;
  /** the library's place among all libraries: decides the colour */
  hue: number;
  /** the subject's place among its library's: decides the marker */
  shape: number;
  points: CurvePoint[];
  /** the rate that as many threads would make as one makes alone; null where one thread was not measured */
  ideal: { from: CurvePoint; to: { threads: number; rate: number } } | null;
}

export interface ScalingModel {
  threads: number[];
  /** handshakes per second, from 0 to above everything that was measured */
  top: number;
  ticks: number[];
  curves: Curve[];
}

const TICKS = 4;

export function scalingModel({ lines }: Pick<ScalingCase, "lines">, subjects: SubjectView[]): ScalingModel {
  const libraries = [...new Set(subjects.map((one) => one.library))];
  const threads = [...new Set(lines.flatMap((line) => line.points.map((one) => one.threads)))].sort(
    (a, b) => a - b,
  );
  const curves = subjects.flatMap((subject): Curve[] => {
    const line = lines.find((one) => one.subject === subject.subject);
    if (!line) return [];
    const own = subjects.filter((one) => one.library === subject.library);
    const points = line.points.map(curvePoint);
    return [
      {
        subject,
        hue: libraries.indexOf(subject.library),
        shape: own.indexOf(subject),
        points,
        ideal: idealOf(points),
      },
    ];
  });
  const step = tickStep(Math.max(...curves.flatMap(highest)));
  const top = step * Math.ceil(Math.max(...curves.flatMap(highest)) / step);
  const ticks = Array.from({ length: Math.round(top / step) + 1 }, (_, index) => index * step);
  return { threads, top, ticks, curves };
}

/** What a reader is told of the coherency, where the law could not be fitted or not wholly. */
export function coherencyGap({ contention, coherency }: ScalingLine): string | null {
  if (coherency) return null;
  return contention ? "two thread counts cannot tell coherency from contention" : "no fit";
}

function curvePoint({ threads, rate }: ScalingPoint): CurvePoint {
  return { threads, rate: rate.value, low: rate.low, high: rate.high };
}

function idealOf(points: CurvePoint[]): Curve["ideal"] {
  const from = points.find((one) => one.threads === 1);
  const last = points.at(-1);
  return from && last ? { from, to: { threads: last.threads, rate: from.rate * last.threads } } : null;
}

function highest({ points, ideal }: Curve): number[] {
  return [...points.map((one) => one.high ?? one.rate), ideal?.to.rate ?? 0];
}

/** 1, 2 or 5 times a power of ten, so that about four steps reach the top. */
function tickStep(top: number): number {
  const power = 10 ** Math.floor(Math.log10(top / TICKS));
  return power * ([1, 2, 5].find((factor) => factor * power * TICKS >= top) ?? 10);
}
