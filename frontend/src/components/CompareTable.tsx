// Compared cells with both ends' CPU time, client's and server's, and a small history. Many are grouped.

import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { ComparedCell, ComparedSide, Comparison, Metric } from "@/api/generated";
import { flipped } from "@/charts/matrix-view";
import { Sparkline } from "@/charts/Sparkline";
import { count, percent, percentInterval, share, significant } from "@/format";
import { paths } from "@/paths";
import { type CompareSearch, NO_GROUP } from "@/search";
import { componentText } from "@/subjects";
import { Frame } from "@/ui/Frame";
import { BatchesLink } from "./BatchesLink";
import { type CompareRow, compareCsv, compareGroups, LONG, tallyText } from "./compare-model";
import { HostName } from "./HostName";
import { RunLink } from "./RunLink";
import { absentSide, isOnSeveral, verdictWord } from "./upgrade-model";

interface Props {
  label: string;
  rows: CompareRow[];
  comparison: Comparison;
  search: CompareSearch;
  change: (next: CompareSearch) => void;
}

const NS_PER_US = 1e3;

export function CompareTable({ label, rows, comparison, search, change }: Props) {
  const groups = compareGroups(rows, search.open);
  const names = groups.map(({ name }) => name);
  const open = groups.filter(({ isOpen }) => isOpen).map(({ name }) => name);
  const several = isOnSeveral(rows.map(({ cell }) => cell.base));
  const hasHistory = rows.some(({ cell }) => cell.history.length > 0);
  const sortBy = (sort: CompareSearch["sort"]) => change({ sort });
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
      <Frame label={label} rows={() => compareCsv(rows)}>
        <table className="numbers history tight compare">
          <thead>
            <tr>
              <SortHeader
                title="Case"
                active={!search.sort}
                order="ascending"
                sort={() => sortBy(undefined)}
              />
              <SortHeader
                title="Change in CPU time"
                active={search.sort === "change"}
                order="descending"
                sort={() => sortBy("change")}
                className="number"
              />
              {hasHistory && <th scope="col">History</th>}
              <th scope="col" className="number">
                Client
              </th>
              <th scope="col" className="number">
                Server
              </th>
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
                  <td colSpan={hasHistory ? 5 : 4}>{tallyText(own)}</td>
                </tr>
              )}
              {isOpen &&
                own.map((row) => <Row key={row.key} {...{ row, comparison, several, hasHistory }} />)}
            </tbody>
          ))}
        </table>
      </Frame>
    </>
  );
}

interface SortProps {
  title: string;
  active: boolean;
  order: "ascending" | "descending";
  sort: () => void;
  className?: string;
}

function SortHeader({ title, active, order, sort, className }: SortProps) {
  return (
    <th scope="col" className={className} aria-sort={active ? order : undefined}>
      <button type="button" onClick={sort}>
        {title} <span aria-hidden>{active ? (order === "descending" ? "▼" : "▲") : "↕"}</span>
      </button>
    </th>
  );
}

interface RowProps {
  row: CompareRow;
  comparison: Comparison;
  /** whether rows of several host kinds are shown */
  several: boolean;
  /** whether any row has a history */
  hasHistory: boolean;
}

function Row({ row: { cell, caseView, otherCase }, comparison, several, hasHistory }: RowProps) {
  const { base, other } = cell;
  return (
    <tr>
      <th scope="row">
        <Link {...paths.series({ case: cell.case_id, pool: other.pool, cpu: other.cpu_model })}>
          {caseView.title}
        </Link>
        {otherCase && <small className="below">→ {otherCase.title}</small>}
        {several && (
          <small className="below">
            <HostName kind={other} />
          </small>
        )}
      </th>
      <SideCell {...{ cell, comparison }} metric="cpu_ns" side={cell.both} />
      {hasHistory && (
        <td>{cell.history.length > 0 && <Sparkline history={cell.history} lines={comparison.lines} />}</td>
      )}
      <SideCell {...{ cell, comparison }} metric="client_cpu_ns" side={cell.client} />
      <SideCell {...{ cell, comparison }} metric="server_cpu_ns" side={cell.server} />
      <td>
        {[...new Set([base.run_id, other.run_id])].map((runId) => (
          <RunLink key={runId} runId={runId} className="below" />
        ))}
      </td>
    </tr>
  );
}

/** The cell's verdict with what weakens it. */
function Verdict({ cell: { both, resolves, warnings, components } }: { cell: ComparedCell }) {
  const caveats = [
    ...(both.verdict === "unresolved" && resolves !== null ? [`resolution ${share(resolves)}`] : []),
    ...warnings.map((warning) => `† ${warning}`),
    ...(components.length > 0 ? [`also changed: ${components.map(componentText).join(", ")}`] : []),
  ];
  return (
    <>
      <span className={`below verdict ${both.verdict ?? "absent"}`}>
        {both.verdict ? verdictWord(both.verdict) : "no verdict"}
      </span>
      {caveats.map((caveat) => (
        <small key={caveat} className="below">
          {caveat}
        </small>
      ))}
    </>
  );
}

interface SideProps {
  cell: ComparedCell;
  comparison: Comparison;
  metric: Metric;
  side: ComparedSide | null;
}

/** The change, its interval and verdict, and both costs, each leading to its batches. */
function SideCell({ cell, comparison, metric, side }: SideProps) {
  if (!side) return <td className="number">{absentSide(cell)}</td>;
  const { ratio, verdict } = side;
  const cost = (end: "base" | "other"): ReactNode => (
    <BatchesLink
      search={{
        subject: comparison[end]?.subject.subject ?? "",
        case: end === "base" ? cell.case_id : cell.other_case_id,
        metric: metric === "cpu_ns" ? undefined : metric,
        pool: cell[end].pool,
        cpu: cell[end].cpu_model,
        run: cell[end].run_id,
      }}
    >
      {significant(side[end].value / NS_PER_US, 4)}
    </BatchesLink>
  );
  return (
    <td className="number">
      {ratio ? (
        <>
          {percent(ratio.ratio)} <small>{percentInterval(ratio.low, ratio.high)}</small>
        </>
      ) : (
        <small>too few invocations</small>
      )}
      {metric === "cpu_ns" ? (
        <Verdict cell={cell} />
      ) : (
        verdict && <small className={`below verdict ${verdict}`}>{verdictWord(verdict)}</small>
      )}
      <small className="below">
        {cost("base")} → {cost("other")} µs
      </small>
    </td>
  );
}
