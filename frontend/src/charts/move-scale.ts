// The logarithmic scale of cost changes, and its named ticks. Pure.
import type { Ratio } from "@/api/generated";

export interface MoveScale {
  /** 0 to 1, from the left */
  place: (ratio: number) => number;
  /** ratios that the axis names, from the left; 1 is among them */
  ticks: number[];
}

/** At each end, as a share of what is drawn. */
const ROOM = 0.04;
/** Closer than this, names of two ticks would touch. */
const APART = 0.13;
/** Without this minimum, a tiny change would fill the picture. */
const LEAST = 0.01;
const PERCENTS = [0, 100, 50, 20, 10, 5, 2, 1, 0.5, 200, 500, 1000, 2000, 5000];

/** Logarithmic: a halved cost is as far from an unchanged one as a doubled one. */
export function moveScale(moves: Ratio[]): MoveScale {
  const ends = moves.flatMap(({ ratio, low, high }) => [ratio, low, high]).filter((bound) => bound > 0);
  const first = Math.log(Math.min(1 - LEAST, ...ends));
  const last = Math.log(Math.max(1 + LEAST, ...ends));
  const room = (last - first) * ROOM;
  const place = (ratio: number) => {
    const share = (Math.log(ratio) - first + room) / (last - first + 2 * room);
    return Math.min(1, Math.max(0, share));
  };
  return { place, ticks: ticksBetween(Math.exp(first - room), Math.exp(last + room), place) };
}

function ticksBetween(low: number, high: number, place: MoveScale["place"]): number[] {
  const ticks: number[] = [];
  for (const percent of PERCENTS) {
    for (const ratio of [1 + percent / 100, 1 - percent / 100]) {
      const isFree = ticks.every((other) => Math.abs(place(other) - place(ratio)) >= APART);
      if (ratio >= low && ratio <= high && isFree) ticks.push(ratio);
    }
  }
  return ticks.sort((a, b) => a - b);
}
