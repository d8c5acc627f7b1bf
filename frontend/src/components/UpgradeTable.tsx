// A table of cells of an upgrade with all their numbers.

import { Link } from "@tanstack/react-router";
import type { Move, UpgradeCell } from "@/api/generated";
import { percent, percentInterval } from "@/format";
import { paths } from "@/paths";
import { Frame } from "@/ui/Frame";
import { HostName } from "./HostName";
import { RunLink } from "./RunLink";
import {
  absentSide,
  caveatsOf,
  coresText,
  dependencyText,
  isOnSeveral,
  keyOf,
  type Verdict,
  verdictText,
  verdictWord,
} from "./upgrade-model";

export function UpgradeTable({ label, cells }: { label: string; cells: UpgradeCell[] }) {
  const several = isOnSeveral(cells);
  return (
    <Frame label={label}>
      <table className="numbers history tight">
        <thead>
          <tr>
            <th scope="col">Case</th>
            <th scope="col">Verdict</th>
            <th scope="col" className="number">
              Change in CPU time
            </th>
            <th scope="col" className="number">
              Client
            </th>
            <th scope="col" className="number">
              Server
            </th>
            <th scope="col" className="number">
              Server cores for 10,000 connections/s
            </th>
            <th scope="col" className="number">
              Invocations
            </th>
            <th scope="col">Runs</th>
          </tr>
        </thead>
        <tbody>
          {cells.map((cell) => (
            <Row key={keyOf(cell)} cell={cell} several={several} />
          ))}
        </tbody>
      </table>
    </Frame>
  );
}

function Row({ cell, several }: { cell: UpgradeCell; several: boolean }) {
  const caveats = caveatsOf(cell);
  const dependencies = dependencyText([cell]);
  return (
    <tr>
      <th scope="row">
        <Link {...paths.series({ case: cell.case_id, pool: cell.pool, cpu: cell.cpu_model })}>
          {cell.title}
        </Link>
        {several && (
          <small className="below">
            <HostName kind={cell} />
          </small>
        )}
      </th>
      <td>
        <span className={`verdict ${cell.verdict}`}>{verdictText(cell)}</span>
        {caveats.length > 0 && <small> † {caveats.join("; ")}</small>}
        {dependencies && <small className="below">also changed: {dependencies}</small>}
      </td>
      <Moved move={cell.move} />
      <Moved move={cell.client} verdict={cell.client?.verdict} absent={absentSide(cell)} />
      <Moved move={cell.server} verdict={cell.server?.verdict} absent={absentSide(cell)} />
      <td className="number">{coresText(cell)}</td>
      <td className="number">{cell.invocations}</td>
      <td>
        {cell.run_ids.map((runId) => (
          <RunLink key={runId} runId={runId} className="below whole" />
        ))}
      </td>
    </tr>
  );
}

interface MovedProps {
  move: Move | null;
  /** of a side; the verdict of both sides together has its own column */
  verdict?: Verdict | undefined;
  /** shown instead of a missing number */
  absent?: string;
}

function Moved({ move, verdict, absent = "–" }: MovedProps) {
  if (!move) return <td className="number">{absent}</td>;
  return (
    <td className="number">
      {percent(move.ratio)} <small className="below">{percentInterval(move.low, move.high)}</small>
      {verdict && <small className={`below verdict ${verdict}`}>{verdictWord(verdict)}</small>}
    </td>
  );
}
