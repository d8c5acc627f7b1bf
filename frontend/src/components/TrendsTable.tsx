// The trends as a table: where each begins and ends, and its change points with their judged sizes.
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { changePointText } from "@/charts/change-words";
import { changesOf, type DrawnLine, type TrendPlace } from "@/charts/trends-model";
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
  const { place, points, label, builds } = line;
  const byVersion = [...points].sort((a, b) => a.point.subject - b.point.subject);
  const first = byVersion[0];
  const newest = byVersion.at(-1);
  const { pool, cpu_model: cpu } = place.host_kind;
  return (
    <tr>
      <th scope="row" title={cpu}>
        <Link {...paths.series({ case: place.case_id, metric: place.metric, pool, cpu })}>{label}</Link>
        {[...new Set(builds.map((build) => build.build_profile_label))].map((build) => (
          <small key={build} className="below">
            {build}
          </small>
        ))}
        {!site && first && newest && first !== newest && (
          <small className="below">
            <Link
              {...paths.compare(
                { subject: first.subject.name, pool, cpu },
                { subject: newest.subject.name, pool, cpu },
              )}
            >
              Compare first and newest
            </Link>
          </small>
        )}
      </th>
      <td className="number">{first && <Value place={first} line={line} />}</td>
      <td className="number">{newest && <Value place={newest} line={line} />}</td>
      <td className="number">{newest && format.headlineInterval(newest.point, place.metric)}</td>
      <td>{changesOf(line).length === 0 ? "–" : <Steps line={line} />}</td>
    </tr>
  );
}

function Value({ place, line }: { place: TrendPlace; line: DrawnLine }) {
  const { case_id, host_kind, metric } = line.place;
  return (
    <>
      <BatchesLink
        search={{
          subject: place.subject.name,
          case: case_id,
          metric,
          pool: host_kind.pool,
          cpu: host_kind.cpu_model,
          run: place.point.run_id,
        }}
      >
        {format.headline(place.point.value, metric)}
      </BatchesLink>
      <small className="below">{versionText(place.subject)}</small>
    </>
  );
}

function Steps({ line }: { line: DrawnLine }) {
  return changesOf(line).map(({ change }) => {
    return (
      <span key={change.after.subject} className="below">
        {change.after.version}: {changePointText(change, line.place.metric)}{" "}
        {change.move && <small>{format.percentInterval(change.move)}</small>}
      </span>
    );
  });
}
