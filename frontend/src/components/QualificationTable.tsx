// The results of A/A runs for each library and case.
import { Link } from "@tanstack/react-router";
import type { QualificationRow } from "@/api/generated";
import * as format from "@/format";
import { paths } from "@/paths";
import { Frame } from "@/ui/Frame";
import { limitedBy } from "./machine-model";

export function QualificationTable({ label, rows }: { label: string; rows: QualificationRow[] }) {
  return (
    <Frame label={label}>
      <table className="numbers tight">
        <thead>
          <tr>
            <th scope="col">Library</th>
            <th scope="col">Case</th>
            <th scope="col" className="number">
              Resolution
            </th>
            <th scope="col" className="number">
              Smallest detectable change
            </th>
            <th scope="col" className="number">
              Layout floor
            </th>
            <th scope="col" className="number">
              False positive rate
            </th>
            <th scope="col" className="number">
              Coefficient of variation
            </th>
            <th scope="col">A/A run</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row key={`${row.library} ${row.case.id}`} row={row} />
          ))}
        </tbody>
      </table>
    </Frame>
  );
}

function Row({ row }: { row: QualificationRow }) {
  return (
    <tr>
      <td>{row.library}</td>
      <th scope="row">{row.case.title}</th>
      <td className="number">
        <b>{format.share(row.cannot_resolve_below)}</b>{" "}
        <small className="below">limited by {limitedBy(row)}</small>
      </td>
      <td className="number">{format.share(row.smallest_detectable_change)}</td>
      <td className="number">
        {row.layout_floor === null ? "not measured" : format.share(row.layout_floor)}{" "}
        <small className="below">{format.count(row.relinks, "relink")}</small>
      </td>
      <td className="number">
        {row.false_positives === null ? (
          "too few invocations"
        ) : (
          <>
            {format.share(row.false_positives.value)}{" "}
            <small className="below">{format.shareInterval(row.false_positives)}</small>
          </>
        )}
      </td>
      <td className="number">{format.share(row.cv)}</td>
      <td className="whole">
        <Link {...paths.run(row.run_id)}>{format.dateTime(row.measured_at)}</Link>{" "}
        <small className="below">{format.count(row.invocations, "invocation")}</small>
      </td>
    </tr>
  );
}
