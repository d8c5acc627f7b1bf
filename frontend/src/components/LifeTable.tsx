// One case of a library's life: a row for each metric, a column for each version.
import { Link } from "@tanstack/react-router";
import type { Cell, HostKind, LifeCase, Metric, Subject } from "@/api/generated";
import * as format from "@/format";
import { paths } from "@/paths";
import { site } from "@/published";
import { endText } from "@/subjects";
import { Frame } from "@/ui/Frame";
import { subjectTitle } from "./libraries";
import { MoveText } from "./MoveText";
import { VerdictText } from "./VerdictText";

interface Props {
  shown: LifeCase;
  subjects: Subject[];
  hostKind: HostKind;
}

export function LifeTable({ shown: { case: caseView, sections }, subjects, hostKind }: Props) {
  const host = { pool: hostKind.pool, cpu: hostKind.cpu_model };
  return (
    <Frame label={`Life of a connection: ${caseView.title}`} rows={() => csvRows(sections, subjects)}>
      <table className="numbers tight life">
        <thead>
          <tr>
            <th scope="col">Metric</th>
            {subjects.map((subject) => (
              <th key={subject.name} scope="col" className="number">
                {subjectTitle(subject)}
              </th>
            ))}
          </tr>
        </thead>
        {sections.map(({ group, lines }) => (
          <tbody key={group}>
            <tr>
              <th scope="rowgroup" colSpan={subjects.length + 1}>
                <span className="path-name">{group}</span>
              </th>
            </tr>
            {lines.map(({ metric, title, cells }) => (
              <tr key={metric}>
                <th scope="row">
                  {site ? (
                    title
                  ) : (
                    <Link {...paths.series({ case: caseView.id, metric, ...host })}>{title}</Link>
                  )}
                </th>
                {cells.map((cell, place) => (
                  <LifeCell key={subjects[place]?.name} cell={cell} metric={metric} />
                ))}
              </tr>
            ))}
          </tbody>
        ))}
      </table>
    </Frame>
  );
}

function LifeCell({ cell, metric }: { cell: Cell | null; metric: Metric }) {
  const estimate = cell?.estimate;
  if (!estimate) return <td className="absent">{cell?.outcome?.kind ?? "not measured"}</td>;
  const { change } = cell;
  return (
    <td className="number">
      {format.cost(estimate.value, metric)}
      <small className="below">{format.interval(estimate, metric)}</small>
      {change && (
        <small className="below">
          <MoveText move={change} /> from {endText(change.before)}:{" "}
          <VerdictText verdict={change.verdict} resolves={change.resolves} metric={metric} />
        </small>
      )}
    </td>
  );
}

/** With the bounds of each interval in columns of their own, in the metric's unit. */
function csvRows(sections: LifeCase["sections"], subjects: Subject[]): string[][] {
  const head = subjects.flatMap((subject) =>
    ["", ", low", ", high"].map((bound) => `${subjectTitle(subject)}${bound}`),
  );
  const rows = sections.flatMap(({ group, lines }) =>
    lines.map(({ metric, title, cells }) => [
      group,
      title,
      format.unitOf(metric),
      ...cells.flatMap((cell) =>
        [cell?.estimate?.value, cell?.estimate?.low, cell?.estimate?.high].map((value) => `${value ?? ""}`),
      ),
    ]),
  );
  return [["kind", "metric", "unit", ...head], ...rows];
}
