// The cells of an alert: how much slower each is, and on which side.
import type { AlertCell } from "@/api/generated";
import { changeInWords, percentInterval } from "@/format";
import { sideText } from "./alert-model";
import { CaseMoves } from "./ChangeMoves";
import { bySize, isOnSeveral } from "./change-model";
import { HostName } from "./HostName";

interface Props {
  cells: AlertCell[];
  /** the versions in words */
  subjects: string;
}

export function AlertCells({ cells, subjects }: Props) {
  const located = cells.map(({ pool, cpu_model, ...cell }) => ({ ...cell, host_kind: { pool, cpu_model } }));
  const [first] = located;
  return (
    <>
      <p>
        CPU time per handshake, client and server together, with 95% confidence intervals
        {!isOnSeveral(located.map(({ host_kind }) => host_kind)) && first && (
          <>
            , on <HostName kind={first.host_kind} />
          </>
        )}
        .
      </p>
      <CaseMoves
        title="Slower cases"
        subjects={subjects}
        cells={bySize(located)}
        drawn={({ move, side }) => ({
          marks: [{ ink: "more", move }],
          words: (
            <>
              <b className="verdict more">{changeInWords(move.ratio, "cpu_ns")}</b> {percentInterval(move)}
              <small className="below">{sideText(side)}</small>
            </>
          ),
        })}
      />
    </>
  );
}
