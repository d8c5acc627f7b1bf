// The linear scale of changes of a count, fewer to the left and more to the right, and its named ticks. Pure.
import { ticks } from "d3-array";

export interface ChangeScale {
  /** 0 to 1, from the left */
  place: (change: number) => number;
  /** changes that the axis names, from the left; 0 is among them */
  ticks: number[];
}

/** At each end, as a share of what is drawn: half the name of a tick on a phone. */
const ROOM = 0.07;
/** About as many: names of more would touch on a phone. */
const TICKS = 3;

/** Linear, so that bars of two functions add up as their amounts do. */
export function changeScale(changes: readonly number[]): ChangeScale {
  const first = Math.min(0, ...changes);
  const last = Math.max(0, ...changes);
  const span = last - first || 1;
  const room = span * ROOM;
  const place = (change: number) => (change - first + room) / (span + 2 * room);
  // Counts are whole.
  return { place, ticks: ticks(first - room, last + room, TICKS).filter(Number.isInteger) };
}
