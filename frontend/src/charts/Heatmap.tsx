// Cases x subjects as a grid of links: the arrow keys move between cells, and each cell opens its trend.
import { Link } from "@tanstack/react-router";
import { type CSSProperties, type KeyboardEvent, memo, type SyntheticEvent, useRef, useState } from "react";
import type { Metric, SubjectView } from "@/api/generated";
import { paths } from "@/paths";
import type { HostChoice } from "@/search";
import { commitText, shortOrigin, versionText } from "@/subjects";
import { Frame } from "@/ui/Frame";
import type { HeatCell, HeatModel, HeatRow } from "./heatmap-model";

interface Props {
  label: string;
  model: HeatModel;
  metric: Metric;
  host: HostChoice;
}

const HINT =
  "Point to a cell to see its numbers. Select a cell to see its trend, or a version to see its upgrade report.";

export function Heatmap({ label, model, metric, host }: Props) {
  const detail = useRef<HTMLParagraphElement>(null);
  const table = useRef<HTMLTableElement>(null);
  const [stop, setStop] = useState({ row: 0, column: 0 });

  // Written past React: pointing at a cell must not draw all the others again.
  const explain = (event: SyntheticEvent) => {
    const cell = (event.target as Element).closest("a[data-place]");
    if (cell && detail.current) detail.current.textContent = cell.getAttribute("aria-label");
  };
  const walk = (event: KeyboardEvent) => {
    const next = step(event, model.rows.length, model.subjects.length);
    if (!next) return;
    event.preventDefault();
    setStop(next);
    table.current?.querySelector<HTMLElement>(`a[data-place="${next.row} ${next.column}"]`)?.focus();
  };
  const note = (
    <p className="detail" ref={detail} aria-hidden>
      {HINT}
    </p>
  );
  return (
    <Frame label={label} note={note}>
      <table
        ref={table}
        // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: the arrow keys walk its cells
        role="grid"
        className="heatmap"
        aria-label={label}
        onMouseOver={explain}
        onFocus={explain}
        onKeyDown={walk}
      >
        <Head model={model} host={host} />
        <tbody>
          {model.rows.map((row, index) => (
            <Row
              key={row.caseView.id}
              {...{ row, index, metric }}
              pool={host.pool}
              cpu={host.cpu}
              stop={stop.row === index ? stop.column : -1}
            />
          ))}
        </tbody>
      </table>
    </Frame>
  );
}

function Head({ model, host }: { model: HeatModel; host: HostChoice }) {
  return (
    <thead>
      <tr>
        <th scope="col" rowSpan={2}>
          Case
        </th>
        {model.groups.map((group) => (
          <th key={group.library} scope="colgroup" colSpan={group.subjects.length} className="starts">
            <span>{group.library}</span>
          </th>
        ))}
      </tr>
      <tr>
        {model.subjects.map((subject, column) => (
          <th
            key={subject.subject}
            scope="col"
            className={starts(model.subjects, column)}
            title={[subject.build_profile_label, subject.commit && commitText(subject.commit)]
              .filter(Boolean)
              .join("; ")}
          >
            <Version subject={subject} prior={model.priors.get(subject.subject)} host={host} />{" "}
            <small>{shortOrigin(subject)}</small>
          </th>
        ))}
      </tr>
    </thead>
  );
}

interface VersionProps {
  subject: SubjectView;
  prior: SubjectView | undefined;
  host: HostChoice;
}

/** A link to the report of the upgrade to this version. */
function Version({ subject, prior, host }: VersionProps) {
  const name = versionText(subject);
  if (!prior) return name;
  return (
    <Link
      {...paths.upgrade(subject.library, prior.subject, subject.subject, host)}
      title={`Upgrade report: ${versionText(prior)} → ${name}`}
    >
      {name}
    </Link>
  );
}

interface RowProps extends HostChoice {
  row: HeatRow;
  index: number;
  metric: Metric;
  /** the column that the tab key reaches, or -1 */
  stop: number;
}

const Row = memo(function Row({ row, index, metric, pool, cpu, stop }: RowProps) {
  const [main, ...rest] = row.caseView.title.split(", ");
  const subjects = row.cells.map((cell) => cell.subject);
  return (
    <tr>
      <th scope="row">
        {main} <small>{rest.join(", ")}</small>
      </th>
      {row.cells.map((cell, column) => (
        <td
          key={cell.subject.subject}
          className={`${cell.tone} ${starts(subjects, column)}`}
          style={shade(cell)}
        >
          <Link
            {...paths.series({ case: cell.caseView.id, metric, pool, cpu })}
            data-place={`${index} ${column}`}
            tabIndex={stop === column ? 0 : -1}
            aria-label={cell.sentence}
          >
            <b>
              {cell.headline}
              {cell.cautions.length > 0 && <sup>†</sup>}
            </b>
            <small>{cell.note}</small>
          </Link>
        </td>
      ))}
    </tr>
  );
});

function step(
  event: KeyboardEvent,
  rows: number,
  columns: number,
): { row: number; column: number } | undefined {
  const place = (event.target as Element).getAttribute("data-place")?.split(" ").map(Number);
  if (!place || event.altKey || event.ctrlKey || event.metaKey) return undefined;
  const [row = 0, column = 0] = place;
  switch (event.key) {
    case "ArrowUp":
      return { row: Math.max(0, row - 1), column };
    case "ArrowDown":
      return { row: Math.min(rows - 1, row + 1), column };
    case "ArrowLeft":
      return { row, column: Math.max(0, column - 1) };
    case "ArrowRight":
      return { row, column: Math.min(columns - 1, column + 1) };
    case "Home":
      return { row, column: 0 };
    case "End":
      return { row, column: columns - 1 };
    default:
      return undefined;
  }
}

/** The first column of a library has a rule before it. */
function starts(subjects: SubjectView[], column: number): string {
  return subjects[column - 1]?.library === subjects[column]?.library ? "" : "starts";
}

function shade(cell: HeatCell): CSSProperties {
  return { "--strength": `${Math.round(cell.strength * 100)}%` } as CSSProperties;
}
