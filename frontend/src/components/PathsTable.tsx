// What a user waits for: a group for each path, a row for each case and version, with bars of round trips.
import { Link } from "@tanstack/react-router";
import type { Estimate, HostKind, PathCell, Percentiles, Subject } from "@/api/generated";
import { choiceText } from "@/charts/heatmap-model";
import { milliseconds, millisecondsInterval } from "@/format";
import { paths } from "@/paths";
import { site } from "@/published";
import { ChartFrame } from "@/ui/ChartFrame";
import { Frame } from "@/ui/Frame";
import { captionOf, subjectsText } from "./chart-caption";
import { subjectTitle } from "./libraries";
import {
  type Block,
  blocksOf,
  countedOf,
  type PathGroup,
  type PathRow,
  pathName,
  roundTripsText,
  uncountedText,
} from "./paths-model";

const TITLE = "Time until a handshake is done, by path";
const COLUMNS = ["Round trips", "Handshake, median", "95th percentile", "99th percentile", "Answer, median"];

interface Props {
  groups: PathGroup[];
  subjects: Subject[];
  hostKind: HostKind;
}

export function PathsTable({ groups, subjects, hostKind }: Props) {
  const cells = groups.flatMap(({ rows }) => rows.flatMap(({ cells }) => cells));
  const most = Math.max(1, ...cells.map((cell) => sumOf(blocksOf(cell))));
  const several = subjects.length > 1;
  return (
    <ChartFrame caption={captionOf({ title: TITLE, subjects: subjectsText(subjects), hosts: [hostKind] })}>
      <p className="key">
        Round trips: <i className="block connect" aria-hidden /> TCP connects{" "}
        <i className="block exchange" aria-hidden /> TLS <i className="block further" aria-hidden /> a flight
        does not fit
        {cells.some((cell) => blocksOf(cell).some(({ kind }) => kind === "unexpected")) && (
          <>
            {" "}
            <i className="block unexpected" aria-hidden /> not predicted
          </>
        )}
      </p>
      <Frame label={TITLE} rows={() => csvRows(groups, subjects)}>
        <table className="numbers history tight by-path">
          <thead>
            <tr>
              <th scope="col">Case</th>
              {several && <th scope="col">Version</th>}
              {COLUMNS.map((column) => (
                <th key={column} scope="col">
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          {groups.map(({ path, rows }) => (
            <tbody key={path.text}>
              <tr>
                <th scope="rowgroup" colSpan={COLUMNS.length + 1 + Number(several)}>
                  <span className="path-name">
                    {sentenceCase(pathName(path))}
                    <small className="below uncounted">{uncountedText(rows)}</small>
                  </span>
                </th>
              </tr>
              {rows.map((row) => (
                <CaseRows key={row.case.case.id} {...{ row, subjects, several, most, hostKind }} />
              ))}
            </tbody>
          ))}
        </table>
      </Frame>
    </ChartFrame>
  );
}

interface CaseProps {
  row: PathRow;
  subjects: Subject[];
  several: boolean;
  /** round trips of the longest bar */
  most: number;
  hostKind: HostKind;
}

function CaseRows({ row: { case: shown, cells }, subjects, several, most, hostKind }: CaseProps) {
  return cells.map((cell, place) => {
    const subject = subjects.find(({ name }) => name === cell.subject);
    return (
      <tr key={cell.subject}>
        {place === 0 && (
          <th scope="row" rowSpan={cells.length}>
            {shown.title}
          </th>
        )}
        {several && (
          <td className="whose">
            {subject && subjectTitle(subject)}
            {cell.negotiated && <small className="below">negotiated {choiceText(cell.negotiated)}</small>}
          </td>
        )}
        {cell.handshake ? (
          <Numbers
            {...{ cell, most }}
            handshake={cell.handshake}
            trends={{
              case: [shown.case.id],
              library: subject && [subject.library],
              host: [`${hostKind.pool}: ${hostKind.cpu_model}`],
            }}
          />
        ) : (
          <td className="absent why-none" colSpan={COLUMNS.length}>
            {cell.outcome ? `${cell.outcome.kind}: ${cell.outcome.reason}` : "no number"}
          </td>
        )}
      </tr>
    );
  });
}

interface NumbersProps {
  cell: PathCell;
  handshake: Percentiles;
  most: number;
  trends: Parameters<typeof paths.trends>[0];
}

function Numbers({ cell, handshake, most, trends }: NumbersProps) {
  const { predicted, answer, reason, agreement } = cell;
  const waited = countedOf(cell);
  const median = milliseconds(handshake.p50.value);
  return (
    <>
      <td className="bars">
        <Bar blocks={blocksOf(cell)} most={most} isMeasured={waited !== undefined} />
        {waited === undefined ? "not counted" : roundTripsText(predicted?.connecting ?? 0, waited)}
        <small className="below">
          {predicted
            ? `predicted ${predicted.connecting + predicted.before_request}, ${milliseconds(predicted.handshake_ns, 3)}`
            : "not predicted: sizes of flights or protocol unknown"}
        </small>
        {predicted?.steps
          .filter(({ is_further }) => is_further)
          .map(({ kind, text }) => (
            <small key={kind} className="below excess">
              {sentenceCase(text)}
            </small>
          ))}
        {agreement === "differs" && <small className="below excess">{sentenceCase(reason ?? "")}</small>}
      </td>
      <td className="number">
        {site ? (
          <b>{median}</b>
        ) : (
          <Link {...paths.trends({ ...trends, metric: "path_handshake_p50_ns", show: "cost" })}>
            <b>{median}</b>
          </Link>
        )}
        <Interval of={handshake.p50} />
        {cell.computing_ns !== null && (
          <small className="below">{milliseconds(cell.computing_ns, 3)} computing</small>
        )}
      </td>
      <Time of={handshake.p95} />
      <Time of={handshake.p99} />
      {answer ? <Time of={answer.p50} /> : <td className="absent">not measured</td>}
    </>
  );
}

function Time({ of }: { of: Estimate }) {
  return (
    <td className="number">
      {milliseconds(of.value)}
      <Interval of={of} />
    </td>
  );
}

function Interval({ of }: { of: Estimate }) {
  return <small className="below">{millisecondsInterval(of)}</small>;
}

function Bar({ blocks, most, isMeasured }: { blocks: Block[]; most: number; isMeasured: boolean }) {
  return (
    <span className={isMeasured ? "blocks" : "blocks foretold"} aria-hidden>
      {blocks.flatMap(({ kind, roundTrips }) =>
        Array.from({ length: Math.ceil(roundTrips) }, (_, place) => (
          <i
            // biome-ignore lint/suspicious/noArrayIndexKey: blocks of one kind are alike
            key={`${kind} ${place}`}
            className={`block ${kind}`}
            style={{ width: `${(100 * Math.min(1, roundTrips - place)) / most}%` }}
          />
        )),
      )}
    </span>
  );
}

function sumOf(blocks: Block[]): number {
  return blocks.reduce((sum, { roundTrips }) => sum + roundTrips, 0);
}

function sentenceCase(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** With the bounds of each interval in columns of their own, in milliseconds. */
function csvRows(groups: PathGroup[], subjects: Subject[]): string[][] {
  const times = ["median", "95th percentile", "99th percentile", "answer, median"];
  const head = times.flatMap((time) => [time, `${time}, low`, `${time}, high`].map((name) => `${name} (ms)`));
  const titles = new Map(subjects.map((subject) => [subject.name, subjectTitle(subject)]));
  const lines = groups.flatMap(({ path, rows }) =>
    rows.flatMap(({ case: shown }) =>
      shown.cells
        .filter(({ run_id }) => run_id)
        .map(({ subject, handshake, answer, round_trips, predicted, outcome }) => [
          path.text,
          shown.title,
          titles.get(subject) ?? "",
          ...[handshake?.p50, handshake?.p95, handshake?.p99, answer?.p50].flatMap((time) =>
            [time?.value, time?.low, time?.high].map((ns) => plain(ns && ns / 1e6)),
          ),
          plain(predicted?.connecting),
          plain(round_trips?.value),
          plain(predicted?.before_request),
          outcome?.reason ?? "",
        ]),
    ),
  );
  const counts = ["round trips of TCP", "round trips before the request", "predicted"];
  return [["path", "case", "version", ...head, ...counts, "outcome"], ...lines];
}

function plain(value: number | null | undefined): string {
  return value === null || value === undefined ? "" : `${value}`;
}
