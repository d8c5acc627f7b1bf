// The linear scale of changes of a count, fewer to the left and more to the right, and its named ticks. Pure.

export interface ChangeScale {
  /** 0 to 1, from the left */
  place: (change: number) => number;
  /** changes that the axis names, from the left; 0 is among them */
  ticks: number[];
}

/** At each end, as a share of what is drawn: half the name of a tick on a phone. */
const ROOM = 0.07;
/** Closer than this, names of two ticks would touch on a phone. */
const APART = 0.18;
const NICE = [1, 2, 5, 10];

/** Linear, so that bars of two functions add up as their instructions do. */
export function changeScale(changes: readonly number[]): ChangeScale {
  const first = Math.min(0, ...changes);
  const last = Math.max(0, ...changes);
  const span = last - first || 1;
  const room = span * ROOM;
  const place = (change: number) => (change - first + room) / (span + 2 * room);
  const step = niceStep(APART * (span + 2 * room));
  const ticks: number[] = [];
  for (let tick = Math.ceil((first - room) / step); tick * step <= last + room; tick += 1) {
    ticks.push(tick * step);
  }
  return { place, ticks };
}

/** The smallest 1, 2 or 5 times a power of ten that is at least `least`. Counts are whole, so it is at least 1. */
function niceStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  const factor = NICE.find((nice) => nice * power >= least) ?? 10;
  return Math.max(1, factor * power);
}
