// The positions of version names below a trend, without overlaps. Pure.
import type { Slot } from "./trends-model";
import type { Range } from "./zoom";

const LETTER_WIDTH = 7;
const LABEL_GAP = 12;
/** The angle in degrees of labels that do not fit side by side. */
const ASLANT = 50;
/** If slanted labels are closer than this, some are left out; the table has them all. */
const LABEL_HEIGHT = 16;

export interface TrendLabels {
  /** one per slot; empty if there is no room */
  texts: string[];
  /** degrees, 0 for level */
  rotate: number;
  /** height of the axis in pixels */
  size: number;
}

type Named = Pick<Slot, "version" | "x">;

/** `width`: of the plot without its other axis, in pixels. */
export function trendLabels(slots: readonly Named[], width: number): TrendLabels {
  const versions = slots.map(({ version }) => version);
  const room = Math.max(1, width) / ((slots.at(-1)?.x ?? 0) + 1); // a slot has width 1
  const longest = LETTER_WIDTH * Math.max(0, ...versions.map((version) => version.length));
  if (room >= longest + LABEL_GAP) return { texts: versions, rotate: 0, size: 44 };
  const every = Math.ceil(LABEL_HEIGHT / room);
  return {
    texts: versions.map((text, index) => (index % every === 0 ? text : "")),
    rotate: ASLANT,
    size: 24 + longest * Math.sin((ASLANT * Math.PI) / 180),
  };
}

/** The labels of a part of the axis, without empty ones. */
export function labelsInSight(
  slots: readonly Named[],
  [from, to]: Range,
  width: number,
): { xs: number[]; texts: string[]; rotate: number } {
  const within = slots.filter(({ x }) => x >= from && x <= to);
  const start = within[0]?.x ?? 0;
  const { texts, rotate } = trendLabels(
    within.map((slot) => ({ ...slot, x: slot.x - start })),
    width,
  );
  const labelled = within.flatMap(({ x }, index) => (texts[index] ? [{ x, text: texts[index] }] : []));
  return { xs: labelled.map(({ x }) => x), texts: labelled.map(({ text }) => text), rotate };
}
