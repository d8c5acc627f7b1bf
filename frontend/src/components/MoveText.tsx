// A change in percent with its interval. The verdict stands beside it.
import type { Ratio } from "@/api/generated";
import { percent, percentInterval } from "@/format";

/** `isNarrow`: the interval stands below the number */
export function MoveText({ move, isNarrow = false }: { move: Ratio; isNarrow?: boolean }) {
  return (
    <>
      {percent(move.ratio)} <small className={isNarrow ? "below" : undefined}>{percentInterval(move)}</small>
    </>
  );
}
