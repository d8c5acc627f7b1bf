// The cells of an alert: how much slower each is, and on which side.
import { Link } from "@tanstack/react-router";
import type { AlertCell } from "@/api/generated";
import { MoveChart } from "@/charts/MoveChart";
import { changeInWords, percentInterval } from "@/format";
import { paths } from "@/paths";
import { sideText } from "./alert-model";
import { hostLabel } from "./HostSelect";
import { bySize, isOnSeveral, keyOf } from "./upgrade-model";

export function AlertCells({ cells }: { cells: AlertCell[] }) {
  const several = isOnSeveral(cells);
  const [first] = cells;
  return (
    <>
      <p>
        CPU time per handshake, client and server together, with 95% confidence intervals
        {!several && first && `, on ${hostLabel(first)}`}.
      </p>
      <MoveChart
        label="Slower cases"
        lines={bySize(cells).map((cell) => ({
          key: keyOf(cell),
          name: (
            <>
              <Link {...paths.series({ case: cell.case_id, pool: cell.pool, cpu: cell.cpu_model })}>
                {cell.title}
              </Link>
              {several && <small className="below">{hostLabel(cell)}</small>}
            </>
          ),
          marks: [{ ink: "more", move: cell.move }],
          words: (
            <>
              <b className="verdict more">{changeInWords(cell.move.ratio, "cpu_ns")}</b>{" "}
              {percentInterval(cell.move.low, cell.move.high)}
              <small className="below">{sideText(cell.side)}</small>
            </>
          ),
        }))}
      />
    </>
  );
}
