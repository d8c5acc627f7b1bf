// The heatmap as a sortable table with every number.
import { Link } from "@tanstack/react-router";
import type { CaseView, Metric, SideMove } from "@/api/generated";
import { choiceText, type HeatCell, type HeatModel } from "@/charts/heatmap-model";
import * as format from "@/format";
import { paths } from "@/paths";
import type { CellView, HostChoice, Sort } from "@/search";
import { componentText, endText, originText, versionText } from "@/subjects";
import { Frame, SortHeader } from "@/ui/Frame";
import { cellRows } from "./cell-rows";
import { MoveText } from "./MoveText";
import { VerdictText } from "./VerdictText";

interface Props {
  label: string;
  model: HeatModel;
  metric: Metric;
  host: HostChoice;
  choice: CellView;
  /** the case that all cases are compared with, instead of with the version that each names */
  versus?: CaseView | undefined;
  sortBy: (choice: Pick<CellView, "sort" | "order">) => void;
}

export function CellTable({ label, model, metric, host, choice, versus, sortBy }: Props) {
  const time = format.isRate(metric);
  const rows = cellRows(model, choice);
  const sentinel = rows.some((row) => row.cell?.to_sentinel);
  const sides =
    !versus && rows.some(({ cell }) => cell?.change?.client || cell?.change?.server || cell?.sides_outcome);
  const header = (column: Sort, title: string, className?: string) => {
    const isActive = (choice.sort ?? "case") === column;
    const order = isActive ? (choice.order === "desc" ? "descending" : "ascending") : undefined;
    const sort = () => sortBy({ sort: column, order: order === "ascending" ? "desc" : undefined });
    return <SortHeader {...{ title, className, order, sort }} />;
  };
  return (
    <Frame label={label}>
      <table className="numbers">
        <thead>
          <tr>
            {header("case", "Case")}
            {header("subject", "Library")}
            {time && (
              <th scope="col" className="number">
                Rate
              </th>
            )}
            {header("cost", format.costTitle(metric), "number")}
            {header("invocations", "Invocations", "number")}
            {versus ? (
              <th scope="col">Cost relative to {versus.title}</th>
            ) : (
              <>
                {header("change", "Change in cost", "number")}
                {header("verdict", "Verdict")}
                {sides && (
                  <>
                    <th scope="col" className="number">
                      Client
                    </th>
                    <th scope="col" className="number">
                      Server
                    </th>
                  </>
                )}
              </>
            )}
            {sentinel && (
              <th scope="col" className="number">
                Sentinel ratio
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map((cell) => (
            <Row
              key={`${cell.caseView.id} ${cell.subject.name}`}
              {...{ cell, metric, host, time, sentinel, sides }}
              compared={Boolean(versus)}
              withoutChange={model.priors.has(cell.subject.name) ? "too few invocations" : "first version"}
            />
          ))}
        </tbody>
      </table>
    </Frame>
  );
}

interface RowProps {
  cell: HeatCell;
  metric: Metric;
  host: HostChoice;
  time: boolean;
  /** whether any row has a ratio to the sentinel */
  sentinel: boolean;
  /** whether any row has a client/server split */
  sides: boolean;
  /** compared with a case, instead of with the version that each names */
  compared: boolean;
  /** shown instead of a verdict if there is no comparison */
  withoutChange: string;
}

function Row({ cell: shown, metric, host, time, sentinel, sides, compared, withoutChange }: RowProps) {
  const { caseView, subject, cell, note, cautions } = shown;
  const estimate = cell?.estimate;
  const absent = cell?.sides_outcome ? "no result" : "–";
  const dependencies = cell?.change?.components.map(componentText).join(", ");
  return (
    <tr>
      <th scope="row">
        <Link {...paths.series({ case: caseView.id, metric, ...host })}>{caseView.title}</Link>
      </th>
      <td>
        {subject.library} {versionText(subject)} <small>{originText(subject)}</small>
        {cell?.negotiated && <small className="below">negotiated {choiceText(cell.negotiated)}</small>}
      </td>
      {estimate ? (
        <>
          {time && <td className="number">{format.rate(estimate.value)}/s</td>}
          <td className="number">
            {format.cost(estimate.value, metric)}{" "}
            <small className="below">{format.interval(estimate, metric)}</small>
          </td>
          <td className="number">{estimate.invocations}</td>
        </>
      ) : (
        <td colSpan={time ? 3 : 2} className="absent">
          {cell?.outcome?.reason ?? "no result"}{" "}
          {cell?.outcome?.detail && <small>{cell.outcome.detail}</small>}
        </td>
      )}
      {compared ? (
        <td>{estimate ? note : "–"}</td>
      ) : (
        <>
          <td className="number">
            {cell?.change ? (
              <>
                <MoveText move={cell.change} isNarrow />{" "}
                <small className="below">from {endText(cell.change.before)}</small>
              </>
            ) : (
              "–"
            )}
          </td>
          <td>
            {cell?.change ? (
              <VerdictText {...cell.change} {...{ metric, cautions }} />
            ) : estimate ? (
              cell?.apart_from ? (
                `not compared with ${endText(cell.apart_from)}`
              ) : (
                withoutChange
              )
            ) : (
              cell?.outcome?.kind
            )}
            {dependencies && <small className="below">also changed: {dependencies}</small>}
          </td>
          {sides && (
            <>
              <SideCell side={cell?.change?.client} absent={absent} metric={metric} />
              <SideCell side={cell?.change?.server} absent={absent} metric={metric} />
            </>
          )}
        </>
      )}
      {sentinel && (
        <td className="number">
          {cell?.to_sentinel ? (
            <>
              {format.factor(cell.to_sentinel.ratio)}{" "}
              <small className="below">{format.plainInterval(cell.to_sentinel)}</small>
            </>
          ) : (
            "–"
          )}
        </td>
      )}
    </tr>
  );
}

interface SideProps {
  side: SideMove | null | undefined;
  /** shown instead */
  absent: string;
  metric: Metric;
}

/** The change of one side with its own interval and verdict. */
function SideCell({ side, absent, metric }: SideProps) {
  if (!side) return <td className="number">{absent}</td>;
  return (
    <td className="number">
      <MoveText move={side} isNarrow />{" "}
      <small className="below">
        <VerdictText verdict={side.verdict} metric={metric} />
      </small>
    </td>
  );
}
