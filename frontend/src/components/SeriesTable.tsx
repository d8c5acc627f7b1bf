// The trend as a table: the exact results of every version and build, with their run.
import type { Cell, Matrix, Series, SeriesLine, SeriesPoint } from "@/api/generated";
import { cautionsOf } from "@/charts/cautions";
import { changePointText } from "@/charts/change-points";
import { choiceText } from "@/charts/heatmap-model";
import * as format from "@/format";
import { commitText, endText, versionText } from "@/subjects";
import { Frame } from "@/ui/Frame";
import { BatchesLink } from "./BatchesLink";
import { RunLink } from "./RunLink";
import { VerdictText } from "./VerdictText";

interface Props {
  series: Series;
  /** of the same metric and host: has the changes */
  matrix: Matrix | undefined;
}

export function SeriesTable({ series, matrix }: Props) {
  const time = format.isRate(series.metric);
  const cells = (matrix?.cells ?? []).filter((cell) => cell.case_id === series.case.id);
  const rows = series.lines
    .flatMap((line) => line.points.map((point) => ({ line, point })))
    .sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
  return (
    <Frame label={`Results of ${series.case.title}`}>
      <table className="numbers history">
        <thead>
          <tr>
            <th scope="col">Version</th>
            <th scope="col">Build</th>
            {time && (
              <th scope="col" className="number">
                Rate
              </th>
            )}
            <th scope="col" className="number">
              {format.costTitle(series.metric)}
            </th>
            <th scope="col" className="number">
              95% confidence interval
            </th>
            <th scope="col" className="number">
              Invocations
            </th>
            <th scope="col" className="number">
              Change in cost
            </th>
            <th scope="col">Verdict</th>
            <th scope="col">Run</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ line, point }) => (
            <Row
              key={`${point.subject} ${point.run_id}`}
              {...{ series, line, point, time }}
              cell={cells.find((cell) => cell.subject === point.subject && cell.run_id === point.run_id)}
            />
          ))}
        </tbody>
      </table>
    </Frame>
  );
}

interface RowProps {
  series: Series;
  line: SeriesLine;
  point: SeriesPoint;
  time: boolean;
  cell: Cell | undefined;
}

function Row({ series, line, point, time, cell }: RowProps) {
  const { metric } = series;
  const { estimate } = point;
  const change = cell?.change;
  const cautions = change ? cautionsOf(change) : [];
  const step = line.change_points.find((changePoint) => line.points[changePoint.index] === point);
  return (
    <tr>
      <th scope="row">
        {line.library} {versionText(point)}
        {point.commit && <small className="below">{commitText(point.commit)}</small>}
        {cell?.negotiated && <small className="below">negotiated {choiceText(cell.negotiated)}</small>}
        {step && <small className="below">change point: {changePointText(step, metric)}</small>}
      </th>
      <td className="profile">{line.build_profile_label}</td>
      {time && <td className="number">{format.rate(estimate.value)}/s</td>}
      <td className="number">{format.cost(estimate.value, metric)}</td>
      <td className="number">{format.interval(estimate, metric)}</td>
      <td className="number">
        <BatchesLink
          search={{
            subject: point.subject,
            case: series.case.id,
            metric: series.metric,
            pool: series.host_kind.pool,
            cpu: series.host_kind.cpu_model,
            run: point.run_id,
          }}
          label={`${estimate.invocations}: batches of each`}
        >
          {estimate.invocations}
        </BatchesLink>
      </td>
      <td className="number">
        {change ? (
          <>
            {format.percent(change.ratio)} <small>{format.percentInterval(change.low, change.high)}</small>{" "}
            <small className="below">from {endText(change.before)}</small>
          </>
        ) : (
          "–"
        )}
      </td>
      <td>
        {change ? (
          <VerdictText
            verdict={change.verdict}
            resolves={change.resolves}
            metric={metric}
            cautions={cautions}
          />
        ) : (
          "–"
        )}
      </td>
      <td className="whole">
        <RunLink runId={point.run_id} search={{ metric }}>
          {format.dateTime(point.measured_at)}
        </RunLink>
      </td>
    </tr>
  );
}

function orderOf({ line, point }: { line: SeriesLine; point: SeriesPoint }): string {
  return `${line.library} ${point.version_key} ${line.build_profile_label}`;
}
