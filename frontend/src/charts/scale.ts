// The scale of colours of changes: symmetric, diverging, and full at a fifth more or less. Pure.

/** A cost that changed by this factor has the full colour. */
export const FULL_AT_VERSION = 1.2;
/** Between cases of one subject costs differ by much more. */
export const FULL_AT_CASE = 4;

/** 0 is no colour, 1 the full colour; a halved and a doubled cost are equally strong. */
export function strength(ratio: number, fullAt = FULL_AT_VERSION): number {
  if (!(ratio > 0)) return 0;
  return Math.min(1, Math.abs(Math.log(ratio)) / Math.log(fullAt));
}
