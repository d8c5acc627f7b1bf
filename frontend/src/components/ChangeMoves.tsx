// A chart of changed cells, the largest change first: both sides together, the client and the server.

import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { ComparedCell } from "@/api/generated";
import { sidesText } from "@/charts/change-words";
import { MoveChart, type MoveLine } from "@/charts/MoveChart";
import { changeInWords, count, percentInterval } from "@/format";
import { paths } from "@/paths";
import { ChartFrame } from "@/ui/ChartFrame";
import { isOnSeveral, keyOf, marksOf } from "./change-model";
import { captionOf } from "./chart-caption";
import { HostName } from "./HostName";

/** A chart of more rows would be hard to read. */
const DRAWN = 20;

interface Props {
  cells: ComparedCell[];
  /** the versions in words */
  subjects: string;
}

export function ChangeMoves({ cells, subjects }: Props) {
  const left = cells.length - DRAWN;
  return (
    <>
      <CaseMoves
        title="Changed cases"
        {...{ subjects }}
        cells={cells.slice(0, DRAWN)}
        drawn={(cell) => ({
          marks: marksOf(cell),
          words: cell.move && (
            <>
              <b className={`verdict ${cell.verdict}`}>{changeInWords(cell.move.ratio, "cpu_ns")}</b>{" "}
              {percentInterval(cell.move)}
              <small className="below">{sidesText(cell)}</small>
            </>
          ),
        })}
      >
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
      </CaseMoves>
      {left > 0 && <p>The table lists {count(left, "more comparison")} with smaller changes.</p>}
    </>
  );
}

interface CaseMovesProps<C> {
  title: string;
  /** the versions in words */
  subjects: string;
  cells: C[];
  drawn: (cell: C) => Pick<MoveLine, "marks" | "words">;
  /** above the chart */
  children?: ReactNode;
}

type Place = Pick<ComparedCell, "case_id" | "title" | "host_kind">;

/** A row for each cell, which leads to its case. */
export function CaseMoves<C extends Place>({ title, subjects, cells, drawn, children }: CaseMovesProps<C>) {
  const hosts = cells.map(({ host_kind }) => host_kind);
  const several = isOnSeveral(hosts);
  return (
    <ChartFrame caption={captionOf({ title, subjects, hosts })}>
      {children}
      <MoveChart
        label={title}
        lines={cells.map((cell) => ({
          key: keyOf(cell),
          name: (
            <>
              <Link
                {...paths.series({
                  case: cell.case_id,
                  pool: cell.host_kind.pool,
                  cpu: cell.host_kind.cpu_model,
                })}
              >
                {cell.title}
              </Link>
              {several && (
                <small className="below">
                  <HostName kind={cell.host_kind} />
                </small>
              )}
            </>
          ),
          ...drawn(cell),
        }))}
      />
    </ChartFrame>
  );
}
