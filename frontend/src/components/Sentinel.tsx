// The frozen subject of a run, which shows whether the speed of the machine changed.
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { SentinelView } from "@/api/generated";
import { count, dateTime, machineChange, moveText, percentInterval } from "@/format";
import { paths } from "@/paths";

/** Shown only if the machine's speed changed, so that nobody takes it for a change of a library. */
export function SentinelNotice({ sentinel }: { sentinel: SentinelView | null }) {
  const move = sentinel?.move;
  if (!sentinel || !move?.moved) return null;
  return (
    <div className="note moved" role="note" aria-label="Machine speed changed">
      <p>
        <b>
          The machine is {machineChange(move.ratio)} than in run{" "}
          <Link {...paths.run(move.since_run)}>{move.since_run}</Link>. The machine changed, not a library.
        </b>
      </p>
      <p>
        The sentinel is a frozen {sentinel.library} {sentinel.version}. Its cost changed by {moveText(move)}{" "}
        since {dateTime(move.since)}, over {count(move.cases, "case")}.
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
          {move.moved ? "machine speed changed" : "machine speed unchanged"} {percentInterval(move)} since{" "}
          <Link {...paths.run(move.since_run)}>{dateTime(move.since)}</Link>
        </>
      ) : (
        "no earlier run to compare with"
      )}
    </>
  );
}
