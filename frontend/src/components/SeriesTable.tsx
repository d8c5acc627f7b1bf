// The trend as a table: the exact results of every version and build, with their run.
import type { Cell, Matrix } from "@/api/generated";
import { caveatsOf, changePointText } from "@/charts/change-words";
import { choiceText } from "@/charts/heatmap-model";
import { changesOf, type DrawnLine, type TrendPlace } from "@/charts/trends-model";
import * as format from "@/format";
import { commitText, endText, versionText } from "@/subjects";
import { Frame } from "@/ui/Frame";
import { BatchesLink } from "./BatchesLink";
import { MoveText } from "./MoveText";
import { RunLink } from "./RunLink";
import { VerdictText } from "./VerdictText";

interface Props {
  title: string;
  /** of one case and host */
  lines: DrawnLine[];
  /** of the same metric and host: has the changes */
  matrix: Matrix | undefined;
}

export function SeriesTable({ title, lines, matrix }: Props) {
  const time = lines.some(({ place }) => format.isRate(place.metric));
  const [{ place } = { place: undefined }] = lines;
  const cells = (matrix?.cells ?? []).filter((cell) => cell.case_id === place?.case_id);
  return (
    <Frame label={title}>
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
              {place && format.costTitle(place.metric)}
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
          {lines.flatMap((line) =>
            line.points.map((shown) => (
              <Row
                key={`${shown.subject.name} ${shown.point.run_id}`}
                {...{ line, shown, time }}
                cell={cells.find(
                  ({ subject, run_id }) => subject === shown.subject.name && run_id === shown.point.run_id,
                )}
              />
            )),
          )}
        </tbody>
      </table>
    </Frame>
  );
}

interface RowProps {
  line: DrawnLine;
  shown: TrendPlace;
  time: boolean;
  cell: Cell | undefined;
}

function Row({ line, shown: { point, subject }, time, cell }: RowProps) {
  const { case_id, host_kind, metric } = line.place;
  const change = cell?.change;
  const step = changesOf(line).find(({ build, change: { index } }) => build.points[index] === point)?.change;
  return (
    <tr>
      <th scope="row">
        {line.place.library} {versionText(subject)}
        {subject.commit && <small className="below">{commitText(subject.commit)}</small>}
        {cell?.negotiated && <small className="below">negotiated {choiceText(cell.negotiated)}</small>}
        {step && <small className="below">change point: {changePointText(step, metric)}</small>}
      </th>
      <td className="profile">{subject.build_profile_label}</td>
      {time && <td className="number">{format.rate(point.value)}/s</td>}
      <td className="number">{format.cost(point.value, metric)}</td>
      <td className="number">{format.interval(point, metric)}</td>
      <td className="number">
        <BatchesLink
          search={{
            subject: subject.name,
            case: case_id,
            metric,
            pool: host_kind.pool,
            cpu: host_kind.cpu_model,
            run: point.run_id,
          }}
          label={`${point.invocations}: batches of each`}
        >
          {point.invocations}
        </BatchesLink>
      </td>
      <td className="number">
        {change ? (
          <>
            <MoveText move={change} /> <small className="below">from {endText(change.before)}</small>
          </>
        ) : (
          "–"
        )}
      </td>
      <td>{change ? <VerdictText {...change} metric={metric} cautions={caveatsOf(change)} /> : "–"}</td>
      <td className="whole">
        <RunLink runId={point.run_id} search={{ metric }}>
          {format.dateTime(point.measured_at)}
        </RunLink>
      </td>
    </tr>
  );
}
