// The table of stacks: a row for each library, a column for each kind of connection.
import { Link } from "@tanstack/react-router";
import type { Stack, StackCell, StackColumn, Stacks, Workload, WorkloadCost } from "@/api/generated";
import { bytes, cost, day, factor, interval, plainInterval } from "@/format";
import { paths } from "@/paths";
import { site } from "@/published";
import { Frame } from "@/ui/Frame";
import { MoveText } from "./MoveText";
import { costOf, headingsOf, measuredText, runsOf, standingText } from "./stacks-model";

export const SERVER = "server_cpu_ns";

export function StacksTable({ answer }: { answer: Stacks }) {
  const { stacks, columns, workload } = answer;
  return (
    <Frame label="Server CPU time by library">
      <table className="numbers history stacks">
        <thead>
          <tr>
            <th scope="col" rowSpan={2}>
              Library
            </th>
            {workload && (
              <th scope="col" rowSpan={2}>
                Mix
                <small className="below">
                  {workload.certificate}, {workload.resumed_percent}% resumed
                </small>
              </th>
            )}
            {headingsOf(columns).map(({ heading, columns }) => (
              <th key={heading} scope="colgroup" colSpan={columns}>
                {heading}
              </th>
            ))}
          </tr>
          <tr>
            {columns.map(({ case: { id, title: whole }, title }) => (
              <th key={id} scope="col" title={whole}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {stacks.map((stack, place) => (
            <Row key={stack.subject.name} {...{ answer, stack, place, columns, workload }} />
          ))}
        </tbody>
      </table>
    </Frame>
  );
}

interface RowProps {
  answer: Stacks;
  stack: Stack;
  place: number;
  columns: StackColumn[];
  workload: Workload | null;
}

function Row({ answer, stack: { subject, end }, place, columns, workload }: RowProps) {
  const mix = workload && costOf(workload.costs, subject.name);
  return (
    <tr>
      <th scope="row">
        {end.label}
        <small className="below">{end.source}</small>
      </th>
      {mix && <MixCell mix={mix} answer={answer} />}
      {columns.map((column) => {
        const cell = column.cells[place];
        return cell && <Cell key={column.case.id} {...{ answer, column, cell }} library={subject.library} />;
      })}
    </tr>
  );
}

function MixCell({ mix, answer }: { mix: WorkloadCost; answer: Stacks }) {
  return (
    <td className={standingClass(mix)}>
      {mix.cpu_ns ? (
        <>
          {cost(mix.cpu_ns.value, SERVER)} <small className="below">{interval(mix.cpu_ns, SERVER)}</small>
        </>
      ) : null}
      <Standing cell={mix} answer={answer} />
      {mix.standing !== "missing" && mix.reason && <small className="below">{mix.reason}</small>}
    </td>
  );
}

interface CellProps {
  answer: Stacks;
  column: StackColumn;
  cell: StackCell;
  library: string;
}

function Cell({ answer, column: { case: shown }, cell, library }: CellProps) {
  const { cpu_ns, background_cpu_ns, has_own_threads, held_bytes, sent_bytes, scaling } = cell;
  if (!cpu_ns) {
    return (
      <td className="absent" title={cell.reason ?? undefined}>
        {standingText(cell)}
      </td>
    );
  }
  const isOlder = cell.run_id !== runsOf(answer.columns)[0];
  return (
    <td className={standingClass(cell)} title={measuredText(cell)}>
      <Link {...paths.trends({ case: [shown.id], library: [library], metric: SERVER })}>
        {cost(cpu_ns.value, SERVER)}
      </Link>{" "}
      <small className="below">{interval(cpu_ns, SERVER)}</small>
      <Standing cell={cell} answer={answer} caseId={shown.id} />
      {background_cpu_ns && has_own_threads && (
        <small className="below">
          + {cost(background_cpu_ns.value, SERVER)} of its own threads, both sides
        </small>
      )}
      <small className="below">
        {held_bytes ? `${bytes(held_bytes.value)} held` : "heap not measured"}
        {sent_bytes && <>, {bytes(sent_bytes.value)} sent</>}
        {has_own_threads === null && ", own threads not measured"}
      </small>
      {isOlder && cell.measured_at && <small className="below">{day(cell.measured_at.slice(0, 10))}</small>}
      {scaling && (
        <small className="below">
          {factor(scaling.value)} {plainInterval(scaling)} the rate of one thread
        </small>
      )}
    </td>
  );
}

interface StandingProps {
  cell: StackCell | (WorkloadCost & { run_id?: null });
  answer: Stacks;
  /** absent: a mix, which pages that compare cases do not have */
  caseId?: string;
}

function Standing({ cell, answer, caseId }: StandingProps) {
  const { ratio, against, standing } = cell;
  const words = standingText(cell);
  const base = answer.stacks.find(({ subject }) => subject.name === against);
  const move = ratio && <MoveText move={ratio} isNarrow />;
  return (
    <>
      {words && (
        <b
          className={standing === "cheapest" ? "verdict less below" : "below"}
          title={cell.reason ?? undefined}
        >
          {words}
        </b>
      )}
      {move && base && (
        <span className="below">
          {caseId && !site ? (
            <Link {...comparison(answer, base.subject.name, cell, caseId)}>{move}</Link>
          ) : (
            move
          )}{" "}
          <small>
            vs {base.end.label}
            {cell.caveats?.map((caveat) => `, ${caveat}`)}
          </small>
        </span>
      )}
    </>
  );
}

function comparison(
  { host_kind: kind }: Stacks,
  base: string,
  { subject, run_id }: StandingProps["cell"],
  caseId: string,
) {
  const on = { pool: kind?.pool, cpu: kind?.cpu_model, case: caseId, run: run_id ?? undefined };
  return paths.compare({ subject: base, ...on }, { subject, ...on });
}

function standingClass({ standing }: StackCell | WorkloadCost): string | undefined {
  return standing === "cheapest" || standing === "equal" ? "best" : undefined;
}
