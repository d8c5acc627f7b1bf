// The cells of an alert: what each costs more, and whose CPU time it is.
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
  const [one] = cells;
  return (
    <>
      <p>
        CPU time of a handshake, both sides together, with 95% intervals
        {!several && one && `, on ${hostLabel(one)}`}.
      </p>
      <MoveChart
        label="What costs more"
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
