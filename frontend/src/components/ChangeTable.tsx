// Compared cells with both ends' CPU time, client's and server's, and a small history. Many are grouped.

import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { ComparedCell, Comparison, Metric, Ratio, SideMove } from "@/api/generated";
import { absentSide, caveatsOf, coresText, dependencyText, isJudged } from "@/charts/change-words";
import { flipped } from "@/charts/matrix-view";
import { Sparkline } from "@/charts/Sparkline";
import { count, significant } from "@/format";
import { paths } from "@/paths";
import { type ChangesView, NO_GROUP } from "@/search";
import { Frame, SortHeader } from "@/ui/Frame";
import { BatchesLink } from "./BatchesLink";
import { type ChangeRow, changeGroups, changesCsv, isOnSeveral, LONG, tallyText } from "./change-model";
import { HostName } from "./HostName";
import { MoveText } from "./MoveText";
import { RunLink } from "./RunLink";
import { VerdictText } from "./VerdictText";

interface Props {
  label: string;
  rows: ChangeRow[];
  comparison: Comparison;
  view: ChangesView;
  change: (next: ChangesView) => void;
}

const NS_PER_US = 1e3;

export function ChangeTable({ label, rows, comparison, view, change }: Props) {
  const groups = changeGroups(rows, view.open);
  const names = groups.map(({ name }) => name);
  const open = groups.filter(({ isOpen }) => isOpen).map(({ name }) => name);
  const several = isOnSeveral(rows.map(({ cell }) => cell.host_kind));
  const hasHistory = rows.some(({ cell }) => cell.history?.length);
  const hasCores = rows.some(({ cell }) => coresText(cell));
  return (
    <>
      {rows.length > LONG && (
        <p className="actions">
          <button type="button" onClick={() => change({ open: names })}>
            Show all cells
          </button>
          <button type="button" onClick={() => change({ open: [NO_GROUP] })}>
            Show groups only
          </button>
        </p>
      )}
      <Frame label={label} rows={() => changesCsv(rows)}>
        <table className="numbers history tight compare">
          <thead>
            <tr>
              <SortHeader
                title="Case"
                order={view.sort ? undefined : "ascending"}
                sort={() => change({ sort: undefined })}
              />
              <SortHeader
                title="Change in CPU time"
                order={view.sort && "descending"}
                sort={() => change({ sort: "change" })}
                className="number"
              />
              <th scope="col">Verdict</th>
              {hasHistory && <th scope="col">History</th>}
              <th scope="col" className="number">
                Client
              </th>
              <th scope="col" className="number">
                Server
              </th>
              {hasCores && (
                <th scope="col" className="number">
                  Server cores for 10,000 connections/s
                </th>
              )}
              <th scope="col">Runs</th>
            </tr>
          </thead>
          {groups.map(({ name, rows: own, hasLine, isOpen }) => (
            <tbody key={name}>
              {hasLine && (
                <tr>
                  <th scope="rowgroup" className="group">
                    <button
                      type="button"
                      aria-expanded={isOpen}
                      onClick={() => change({ open: flipped(names, rows.length, open, name) })}
                    >
                      <span aria-hidden>{isOpen ? "▾" : "▸"}</span> {name}{" "}
                      <small>({count(own.length, "cell")})</small>
                    </button>
                  </th>
                  <td colSpan={5 + Number(hasHistory) + Number(hasCores)}>
                    {tallyText(own.map(({ cell }) => cell))}
                  </td>
                </tr>
              )}
              {isOpen &&
                own.map((row) => (
                  <Row key={row.key} {...{ row, comparison, several, hasHistory, hasCores }} />
                ))}
            </tbody>
          ))}
        </table>
      </Frame>
    </>
  );
}

interface RowProps {
  row: ChangeRow;
  comparison: Comparison;
  /** whether rows of several host kinds are shown */
  several: boolean;
  /** whether any row has it */
  hasHistory: boolean;
  hasCores: boolean;
}

function Row({ row: { cell, caseView, otherCase }, comparison, several, hasHistory, hasCores }: RowProps) {
  const { pool, cpu_model: cpu } = cell.other_host_kind;
  const { history = [] } = cell;
  const dependencies = dependencyText([cell]);
  return (
    <tr>
      <th scope="row">
        <Link {...paths.series({ case: cell.case_id, pool, cpu })}>{caseView.title}</Link>
        {otherCase && <small className="below">→ {otherCase.title}</small>}
        {several && (
          <small className="below">
            <HostName kind={cell.other_host_kind} />
          </small>
        )}
      </th>
      <SideCell {...{ cell, comparison }} side="both" metric="cpu_ns" move={cell.move} />
      <td>
        <VerdictText {...cell} metric="cpu_ns" cautions={caveatsOf(cell)} />
        {dependencies && <small className="below">also changed: {dependencies}</small>}
      </td>
      {hasHistory && (
        <td>{history.length > 0 && <Sparkline history={history} lines={comparison.lines} />}</td>
      )}
      {(["client", "server"] as const).map((side) => (
        <SideCell key={side} {...{ cell, comparison, side }} metric={`${side}_cpu_ns`} move={cell[side]}>
          <SideVerdict move={cell[side]} metric={`${side}_cpu_ns`} />
        </SideCell>
      ))}
      {hasCores && <td className="number">{coresText(cell)}</td>}
      <td>
        {cell.run_ids.map((runId) => (
          <RunLink key={runId} runId={runId} className="below whole" />
        ))}
        <small className="below">{count(cell.invocations, "invocation")}</small>
      </td>
    </tr>
  );
}

/** A cell without a verdict says so once, for both sides together. */
function SideVerdict({ move, metric }: { move: SideMove | null; metric: Metric }) {
  if (!move || !isJudged(move.verdict)) return null;
  return (
    <small className="below">
      <VerdictText verdict={move.verdict} metric={metric} />
    </small>
  );
}

interface SideProps {
  cell: ComparedCell;
  comparison: Comparison;
  side: "both" | "client" | "server";
  metric: Metric;
  move: Ratio | null;
  /** the verdict, where the row has no other column for it */
  children?: ReactNode;
}

/** The change, its interval and verdict, and both costs, each leading to its batches. */
function SideCell({ cell, comparison, side, metric, move, children }: SideProps) {
  const costs = cell.estimates[side];
  if (!costs) return <td className="number">{absentSide(cell)}</td>;
  const ends = [
    { end: comparison.base, case: cell.case_id, kind: cell.host_kind, run: cell.run_ids[0] },
    { end: comparison.other, case: cell.other_case_id, kind: cell.other_host_kind, run: cell.run_ids.at(-1) },
  ] as const;
  const [base, other] = ends.map(({ end, case: caseId, kind, run }, place) => (
    <BatchesLink
      key={place === 0 ? "base" : "other"}
      search={{
        subject: end?.subject.name ?? "",
        case: caseId,
        metric: metric === "cpu_ns" ? undefined : metric,
        pool: kind.pool,
        cpu: kind.cpu_model,
        run,
      }}
    >
      {significant((costs[place]?.value ?? 0) / NS_PER_US, 4)}
    </BatchesLink>
  ));
  return (
    <td className="number">
      {move ? <MoveText move={move} /> : <small>too few invocations</small>}
      {children}
      <small className="below">
        {base} → {other} µs
      </small>
    </td>
  );
}
