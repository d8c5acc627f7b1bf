// The frozen subject of a run: whether the machine itself moved.
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { SentinelView } from "@/api/generated";
import { count, dateTime, moveInWords, percent, percentInterval } from "@/format";
import { paths } from "@/paths";

/** Only there when the machine moved: a reader must not take that for a library's doing. */
export function SentinelNotice({ sentinel }: { sentinel: SentinelView | null }) {
  const move = sentinel?.move;
  if (!sentinel || !move?.moved) return null;
  return (
    <div className="note moved" role="note" aria-label="The machine moved">
      <p>
        <b>
          The machine became {moveInWords(move.ratio)} since run{" "}
          <Link {...paths.run(move.since_run)}>{move.since_run}</Link>: not a library’s doing.
        </b>
      </p>
      <p>
        The cost of the sentinel, a frozen {sentinel.library} {sentinel.version}, changed by{" "}
        {percent(move.ratio)} {percentInterval(move.low, move.high)} since {dateTime(move.since)}, over{" "}
        {count(move.cases, "case")}.
      </p>
    </div>
  );
}

export function sentinelFact(sentinel: SentinelView | null): ReactNode {
  if (!sentinel) return "none";
  const { library, version, kit_id, move } = sentinel;
  return (
    <>
      {library} {version}, kit <code>{kit_id}</code>;{" "}
      {move ? (
        <>
          {move.moved ? "the machine moved" : "the machine has not moved"}{" "}
          {percentInterval(move.low, move.high)} since{" "}
          <Link {...paths.run(move.since_run)}>{dateTime(move.since)}</Link>
        </>
      ) : (
        "no earlier run to compare with"
      )}
    </>
  );
}
