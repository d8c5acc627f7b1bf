// The batches of a cell by invocation: the range of the axis, its ticks, and what was left out in words. Pure.
import { ticks } from "d3-array";
import type { Distribution, InvocationBatches } from "@/api/generated";
import { count } from "@/format";

export interface BatchesModel {
  low: number;
  high: number;
  ticks: number[];
}

/** About as many. */
const TICKS = 3;
/** At each end, as a share of what is drawn. */
const ROOM = 0.05;
/** Without this minimum, the last digits of nearly equal values would fill the picture. */
const LEAST = 0.002;

export function batchesModel(invocations: InvocationBatches[]): BatchesModel {
  const values = invocations.flatMap(({ batches, level }) => [
    level,
    ...batches.filter((value) => value !== null),
  ]);
  const [first, last] = [Math.min(...values), Math.max(...values)];
  const room = Math.max(ROOM * (last - first), LEAST * last, Number.EPSILON);
  const [low, high] = [Math.max(0, first - room), last + room];
  return { low, high, ticks: ticks(low, high, TICKS) };
}

/** "400 batches in 10 invocations. 12 batches were left out since another program interrupted them." */
export function batchesText({ invocations, left_out, disturbed, removed }: Distribution): string {
  const all = invocations.flatMap(({ batches }) => batches);
  const absent = all.filter((value) => value === null).length;
  const sentences = [
    `${count(all.length - absent, "batch", "batches")} in ${count(invocations.length, "invocation")}.`,
    absent > 0 &&
      `${count(absent, "batch was", "batches were")} left out, since another program interrupted ${absent === 1 ? "it" : "them"}.`,
    disturbed > 0 &&
      `${count(disturbed, "invocation has", "invocations have")} no numbers: too few of the batches were undisturbed.`,
    removed > 0 &&
      `The batches of ${count(removed, "invocation")} were removed because of their age. Their levels are kept.`,
    left_out > 0 && `${count(left_out, "later invocation")} not shown.`,
  ];
  return sentences.filter(Boolean).join(" ");
}
