// Cases x subjects as a grid of links: the arrow keys move between cells, and each cell opens its trend.
import { Link } from "@tanstack/react-router";
import {
  type CSSProperties,
  Fragment,
  type KeyboardEvent,
  memo,
  type SyntheticEvent,
  useEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import type { Metric, Subject } from "@/api/generated";
import { count } from "@/format";
import { paths } from "@/paths";
import type { HostChoice } from "@/search";
import { commitText, shortOrigin, versionText } from "@/subjects";
import { Frame } from "@/ui/Frame";
import { type HeatCell, type HeatModel, type HeatRow, hasCaveat } from "./heatmap-model";
import { caseLine, denseGroupText, denseText, type GroupCell, type MatrixLine } from "./matrix-view";

interface Props {
  label: string;
  model: HeatModel;
  metric: Metric;
  host: HostChoice;
  /** absent: a line for each case */
  lines?: MatrixLine[] | undefined;
  /** many narrow columns */
  isDense?: boolean;
  /** opens or closes a group of lines */
  flip?: (group: string) => void;
}

const HINT =
  "Point to a cell to see its numbers. Select a cell to see its trend, or a version to see its upgrade report.";

export function Heatmap({ label, model, metric, host, lines, isDense = false, flip }: Props) {
  const detail = useRef<HTMLParagraphElement>(null);
  const table = useRef<HTMLTableElement>(null);
  const [stop, setStop] = useState({ row: 0, column: 0 });

  // On a narrow screen the newest versions matter most. Of several libraries, no end is more important.
  const isOneLibrary = model.groups.length === 1;
  useEffect(() => {
    const frame = table.current?.parentElement;
    if (frame && isOneLibrary) frame.scrollLeft = frame.scrollWidth;
  }, [isOneLibrary]);

  // Written past React: pointing at a cell must not draw all the others again.
  const explain = (event: SyntheticEvent) => {
    const cell = (event.target as Element).closest("a[data-place]");
    if (cell && detail.current) detail.current.textContent = cell.getAttribute("aria-label");
  };
  const all = useMemo(() => lines ?? model.rows.map(caseLine), [lines, model.rows]);
  // An open group has no cells of its own: the arrow keys pass it.
  const withCells = all.filter((line) => line.kind === "case" || !line.isOpen);
  const walk = (event: KeyboardEvent) => {
    const next = step(event, withCells.length, model.subjects.length);
    if (!next) return;
    event.preventDefault();
    setStop(next);
    table.current?.querySelector<HTMLElement>(`a[data-place="${next.row} ${next.column}"]`)?.focus();
  };
  const note = (
    <p className="detail" ref={detail} aria-hidden data-not-drawn="">
      {HINT}
    </p>
  );
  return (
    <Frame label={label} note={note}>
      <table
        ref={table}
        // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: the arrow keys walk its cells
        role="grid"
        className={isDense ? "heatmap dense" : "heatmap"}
        aria-label={label}
        onMouseOver={explain}
        onFocus={explain}
        onKeyDown={walk}
      >
        <Head model={model} host={host} />
        <tbody>
          {all.map((line) => {
            const index = withCells.indexOf(line);
            const place = { index, stop: stop.row === index ? stop.column : -1 };
            return line.kind === "case" ? (
              <Row
                key={line.row.caseView.id}
                {...{ metric, isDense }}
                {...place}
                row={line.row}
                title={line.title}
                pool={host.pool}
                cpu={host.cpu}
              />
            ) : (
              <GroupRow key={line.group} {...place} {...{ line, model, host, isDense, flip }} />
            );
          })}
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
            key={subject.name}
            scope="col"
            className={starts(model.subjects, column)}
            title={[subject.build_profile_label, subject.commit && commitText(subject.commit)]
              .filter(Boolean)
              .join("; ")}
          >
            <Version subject={subject} prior={model.priors.get(subject.name)} host={host} />{" "}
            <small>{shortOrigin(subject)}</small>
            {!model.versus && from(model.priors.get(subject.name))}
          </th>
        ))}
      </tr>
    </thead>
  );
}

/** The other end of the column's changes. */
function from(prior: Subject | undefined) {
  return prior && <small className="below">from {versionText(prior)}</small>;
}

interface VersionProps {
  subject: Subject;
  prior: Subject | undefined;
  host: HostChoice;
}

/** A link to the report of the upgrade to this version. */
function Version({ subject, prior, host }: VersionProps) {
  const name = versionText(subject);
  if (!prior) return name;
  return (
    <Link
      {...paths.upgrade(subject.library, prior.name, subject.name, host)}
      title={`Upgrade report: ${versionText(prior)} → ${name}`}
    >
      {name}
    </Link>
  );
}

interface GroupRowProps {
  line: Extract<MatrixLine, { kind: "group" }>;
  index: number;
  stop: number;
  model: HeatModel;
  host: HostChoice;
  isDense: boolean;
  flip: ((group: string) => void) | undefined;
}

function GroupRow({ line, index, stop, model, host, isDense, flip }: GroupRowProps) {
  const { group, common, cases, isOpen, cells } = line;
  const parts = group.split(", ");
  return (
    <tr className="group">
      <th scope="row" className="name">
        <button type="button" aria-expanded={isOpen} onClick={() => flip?.(group)}>
          {parts.map((part, index) => (
            <Fragment key={part}>
              <span className="whole">
                {index === 0 && <span aria-hidden>{isOpen ? "▾ " : "▸ "}</span>}
                {part}
                {index < parts.length - 1 && ","}
              </span>{" "}
            </Fragment>
          ))}
          <small>{[common, count(cases, "case")].filter(Boolean).join(", ")}</small>
        </button>
      </th>
      {isOpen ? (
        <td colSpan={cells.length} className="missing" />
      ) : (
        cells.map((cell, column) => (
          <td
            key={cell.subject.name}
            className={`${cell.tone} ${starts(model.subjects, column)}`}
            style={shade(cell)}
          >
            <Link
              {...upgradeOrOverview(cell, model, host)}
              data-place={`${index} ${column}`}
              tabIndex={stop === column ? 0 : -1}
              aria-label={cell.sentence}
            >
              <b>{isDense ? denseGroupText(cell) : cell.headline}</b>
              {!isDense && <small>{cell.note}</small>}
            </Link>
          </td>
        ))
      )}
    </tr>
  );
}

/** A group's cell opens the report of the upgrade; the first version of a library has none. */
function upgradeOrOverview({ subject }: GroupCell, { priors }: HeatModel, host: HostChoice) {
  const prior = priors.get(subject.name);
  return prior
    ? paths.upgrade(subject.library, prior.name, subject.name, host)
    : paths.upgrades({ library: subject.library });
}

interface RowProps extends HostChoice {
  row: HeatRow;
  index: number;
  metric: Metric;
  isDense: boolean;
  title: string[];
  /** the column that the tab key reaches, or -1 */
  stop: number;
}

const Row = memo(function Row({ row, index, metric, isDense, title, pool, cpu, stop }: RowProps) {
  const [main, ...rest] = title;
  const subjects = row.cells.map((cell) => cell.subject);
  return (
    <tr>
      <th scope="row" className="name">
        {main} <small>{rest.join(", ")}</small>
      </th>
      {row.cells.map((cell, column) => (
        <td
          key={cell.subject.name}
          className={`${cell.tone} ${starts(subjects, column)}`}
          style={shade(cell)}
        >
          <Link
            {...paths.series({ case: cell.caseView.id, metric, pool, cpu })}
            data-place={`${index} ${column}`}
            data-cell={`${cell.caseView.id} ${cell.subject.name}`}
            tabIndex={stop === column ? 0 : -1}
            aria-label={cell.sentence}
          >
            <b>
              {isDense ? denseText(cell) : cell.headline}
              {hasCaveat(cell) && <sup>†</sup>}
            </b>
            {!isDense && <small>{cell.note}</small>}
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
function starts(subjects: Subject[], column: number): string {
  return subjects[column - 1]?.library === subjects[column]?.library ? "" : "starts";
}

function shade(cell: Pick<HeatCell, "strength">): CSSProperties {
  return { "--strength": `${Math.round(cell.strength * 100)}%` } as CSSProperties;
}
