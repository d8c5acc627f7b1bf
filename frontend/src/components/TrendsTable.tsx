// The trends as a table: where each begins and ends, and its change points with their judged sizes.
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { changePointText } from "@/charts/change-points";
import type { DrawnLine, TrendPlace } from "@/charts/trends-model";
import * as format from "@/format";
import { paths } from "@/paths";
import { site } from "@/published";
import { versionText } from "@/subjects";
import { Frame } from "@/ui/Frame";
import { BatchesLink } from "./BatchesLink";

/** A longer table is opened on request. */
const LONG = 40;

export function TrendsTable({ lines }: { lines: DrawnLine[] }) {
  const [isOpen, setOpen] = useState(lines.length <= LONG);
  return (
    <section>
      <h2>Series</h2>
      <p>Select a series to see the numbers of each version{!site && ", or a number to see its batches"}.</p>
      <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>Table of {format.count(lines.length, "series", "series")}</summary>
        {isOpen && (
          <Frame label="Series">
            <table className="numbers history">
              <thead>
                <tr>
                  <th scope="col">Series</th>
                  <th scope="col" className="number">
                    First
                  </th>
                  <th scope="col" className="number">
                    Newest
                  </th>
                  <th scope="col" className="number">
                    95% confidence interval
                  </th>
                  <th scope="col">Change points</th>
                </tr>
              </thead>
              <tbody>
                {lines.map((line) => (
                  <Row key={line.key} line={line} />
                ))}
              </tbody>
            </table>
          </Frame>
        )}
      </details>
    </section>
  );
}

function Row({ line }: { line: DrawnLine }) {
  const { trend, points, label } = line;
  const byVersion = [...points].sort((a, b) => a.point.subject - b.point.subject);
  const first = byVersion[0];
  const newest = byVersion.at(-1);
  const { pool, cpu_model: cpu } = trend.host_kind;
  return (
    <tr>
      <th scope="row">
        <Link {...paths.series({ case: trend.case_id, metric: trend.metric, pool, cpu })}>{label}</Link>
        <small className="below">{trend.build_profile_label}</small>
        {!site && first && newest && first !== newest && (
          <small className="below">
            <Link
              {...paths.compare(
                { subject: first.subject.subject, pool, cpu },
                { subject: newest.subject.subject, pool, cpu },
              )}
            >
              Compare first and newest
            </Link>
          </small>
        )}
      </th>
      <td className="number">{first && <Value place={first} line={line} />}</td>
      <td className="number">{newest && <Value place={newest} line={line} />}</td>
      <td className="number">{newest && format.interval(newest.point, trend.metric)}</td>
      <td>{trend.change_points.length === 0 ? "–" : <Steps line={line} />}</td>
    </tr>
  );
}

function Value({ place, line: { trend } }: { place: TrendPlace; line: DrawnLine }) {
  return (
    <>
      <BatchesLink
        search={{
          subject: place.subject.subject,
          case: trend.case_id,
          metric: trend.metric,
          pool: trend.host_kind.pool,
          cpu: trend.host_kind.cpu_model,
          run: place.point.run_id,
        }}
      >
        {format.headline(place.point.value, trend.metric)}
      </BatchesLink>
      <small className="below">{versionText(place.subject)}</small>
    </>
  );
}

function Steps({ line: { trend, points } }: { line: DrawnLine }) {
  return trend.change_points.map((change) => {
    const subject = trend.points[change.index]?.subject;
    const place = points.find(({ point }) => point.subject === subject);
    return (
      <span key={change.index} className="below">
        {place && versionText(place.subject)}: {changePointText(change, trend.metric)}{" "}
        {change.ratio !== null && <small>{format.percentInterval(change.low, change.high)}</small>}
      </span>
    );
  });
}
