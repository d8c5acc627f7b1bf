// The cells of an alert: how much slower each is, and on which side.

import { Link } from "@tanstack/react-router";
import type { AlertCell } from "@/api/generated";
import { MoveChart } from "@/charts/MoveChart";
import { changeInWords, percentInterval } from "@/format";
import { paths } from "@/paths";
import { ChartFrame } from "@/ui/ChartFrame";
import { sideText } from "./alert-model";
import { captionOf } from "./chart-caption";
import { HostName } from "./HostName";
import { bySize, isOnSeveral, keyOf } from "./upgrade-model";

interface Props {
  cells: AlertCell[];
  /** the versions in words */
  subjects: string;
}

export function AlertCells({ cells, subjects }: Props) {
  const several = isOnSeveral(cells);
  const [first] = cells;
  return (
    <>
      <p>
        CPU time per handshake, client and server together, with 95% confidence intervals
        {!several && first && (
          <>
            , on <HostName kind={first} />
          </>
        )}
        .
      </p>
      <ChartFrame caption={captionOf({ title: "Slower cases", subjects, hosts: cells })}>
        <MoveChart
          label="Slower cases"
          lines={bySize(cells).map((cell) => ({
            key: keyOf(cell),
            name: (
              <>
                <Link {...paths.series({ case: cell.case_id, pool: cell.pool, cpu: cell.cpu_model })}>
                  {cell.title}
                </Link>
                {several && (
                  <small className="below">
                    <HostName kind={cell} />
                  </small>
                )}
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
      </ChartFrame>
    </>
  );
}
