// The caveats of a change. Pure.
import type { Change, SpreadMove } from "@/api/generated";
import { share } from "@/format";

export function cautionsOf({ paired, warnings, spread }: Change): string[] {
  const caveats = paired || warnings.length > 0 ? warnings : ["not interleaved"];
  return [...spreadText(spread), ...caveats];
}

/** "costs vary more from invocation to invocation: 1.2% → 4.1%"; nothing if that did not change. */
export function spreadText(spread: SpreadMove | null | undefined): string[] {
  if (!spread || spread.verdict === "unresolved") return [];
  const change = `${share(spread.before)} → ${share(spread.after)}`;
  return [`costs vary ${spread.verdict} from invocation to invocation: ${change}`];
}
