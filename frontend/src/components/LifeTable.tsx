// One case of a library's life: a row for each metric, a column for each version.
import { Link } from "@tanstack/react-router";
import type { Ageing, Cell, HostKind, LifeCase, Metric, MetricGroup, Subject } from "@/api/generated";
import * as format from "@/format";
import { paths } from "@/paths";
import { site } from "@/published";
import { Frame } from "@/ui/Frame";
import { subjectTitle } from "./libraries";
import { MoveText } from "./MoveText";
import { VerdictText } from "./VerdictText";

interface Props {
  shown: LifeCase;
  subjects: Subject[];
  hostKind: HostKind;
}

const AGE: MetricGroup = "Age of a context";

export function LifeTable({ shown: { case: caseView, sections, ageing }, subjects, hostKind }: Props) {
  const host = { pool: hostKind.pool, cpu: hostKind.cpu_model };
  return (
    <Frame label={`Life of a connection: ${caseView.title}`} rows={() => csvRows(sections, subjects)}>
      <table className="numbers tight">
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
            {group === AGE && ageing.some(Boolean) && (
              <tr>
                <th scope="row">CPU time that a million connections add to each later one</th>
                {ageing.map((each, place) => (
                  <AgeingCell key={subjects[place]?.name} ageing={each} />
                ))}
              </tr>
            )}
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
        <>
          <small className="below">
            <MoveText move={change} isNarrow />
          </small>
          <small className="below">
            from {change.before.label}:{" "}
            <VerdictText verdict={change.verdict} resolves={change.resolves} metric={metric} />
          </small>
        </>
      )}
    </td>
  );
}

function AgeingCell({ ageing }: { ageing: Ageing | null }) {
  if (!ageing) return <td className="absent">not measured</td>;
  const { slope, growth, connections } = ageing;
  return (
    <td className="number">
      {format.time(slope.value)}
      <small className="below">{format.interval(slope, "cpu_ns")}</small>
      <small className="below">
        {growth}, by {format.amount(connections)} connections
      </small>
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
