// A chart of the changed cells of an upgrade: both sides together, the client and the server.

import { Link } from "@tanstack/react-router";
import type { UpgradeCell } from "@/api/generated";
import { MoveChart } from "@/charts/MoveChart";
import { changeInWords, count, percentInterval } from "@/format";
import { paths } from "@/paths";
import { ChartFrame } from "@/ui/ChartFrame";
import { captionOf } from "./chart-caption";
import { HostName } from "./HostName";
import { isOnSeveral, keyOf, marksOf, sidesText } from "./upgrade-model";

/** A chart of more rows would be hard to read. */
const DRAWN = 40;

interface Props {
  cells: UpgradeCell[];
  /** the versions in words */
  subjects: string;
}

export function UpgradeMoves({ cells, subjects }: Props) {
  const several = isOnSeveral(cells);
  const left = cells.length - DRAWN;
  return (
    <>
      <ChartFrame caption={captionOf({ title: "Changed cases", subjects, hosts: cells })}>
        <ul className="legend-line">
          <li>
            <i className="mark more" aria-hidden /> <i className="mark less" aria-hidden /> client and server
            together: slower, faster
          </li>
          <li>
            <i className="mark client" aria-hidden /> client
          </li>
          <li>
            <i className="mark server" aria-hidden /> server
          </li>
          <li>Bars: 95% confidence intervals.</li>
        </ul>
        <MoveChart
          label="Changed cases"
          lines={cells.slice(0, DRAWN).map((cell) => ({
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
            marks: marksOf(cell),
            words: cell.move && (
              <>
                <b className={`verdict ${cell.verdict}`}>{changeInWords(cell.move.ratio, "cpu_ns")}</b>{" "}
                {percentInterval(cell.move.low, cell.move.high)}
                <small className="below">{sidesText(cell)}</small>
              </>
            ),
          }))}
        />
      </ChartFrame>
      {left > 0 && <p>The table lists {count(left, "more comparison")} with smaller changes.</p>}
    </>
  );
}
