// Published tables beside the measured ones, and where the order of their rows differs.
import type { ReferenceRowView, ReferenceTableView, RunDetail, SideCosts, SwapView } from "@/api/generated";
import { significant, time } from "@/format";
import { Frame } from "@/ui/Frame";

type Names = Map<string, string>;

export function ReferenceSection({ run }: { run: RunDetail }) {
  if (!run.reference) return null;
  const cases: Names = new Map(run.cases.map((one) => [one.id, one.title]));
  const subjects: Names = new Map(run.subjects.map((one) => [one.subject, `${one.library} ${one.version}`]));
  return (
    <section>
      <h2>Beside {run.reference.title}</h2>
      <p>Handshakes per second as published, per CPU-second as measured.</p>
      {run.reference.tables.map((table) => (
        <PublishedTable key={table.title} {...{ table, cases, subjects }} />
      ))}
      <Swaps tables={run.reference.tables} {...{ cases, subjects }} />
      {run.reference.notes && <p>{run.reference.notes}</p>}
    </section>
  );
}

function PublishedTable({
  table,
  cases,
  subjects,
}: {
  table: ReferenceTableView;
  cases: Names;
  subjects: Names;
}) {
  const rows = table.columns[0]?.rows ?? [];
  return (
    <>
      <h3>{table.title}</h3>
      <p>Below each rate its ratio to {cases.get(table.baseline) ?? table.baseline}.</p>
      <Frame label={table.title}>
        <table className="numbers">
          <thead>
            <tr>
              <th scope="col">Case</th>
              <th scope="col" className="number">
                Published
              </th>
              {table.columns.map(({ subject }) => (
                <th key={subject} scope="col" className="number">
                  {subjects.get(subject) ?? subject}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((published, position) => (
              <tr key={published.case_id}>
                <th scope="row">{cases.get(published.case_id) ?? published.case_id}</th>
                <td className="number">
                  {significant(published.published_rate)}
                  <br />
                  <small>{published.published_ratio.toFixed(2)}</small>
                </td>
                {table.columns.map(({ subject, rows: measured }) => (
                  <Measured key={subject} row={measured[position]} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Frame>
    </>
  );
}

function Measured({ row }: { row: ReferenceRowView | undefined }) {
  if (!row?.rate) return <td className="number">none</td>;
  return (
    <td className="number">
      {significant(row.rate)}
      <br />
      <small>{ratioText(row)}</small>
    </td>
  );
}

export function ratioText({ ratio, ratio_low, ratio_high }: Partial<ReferenceRowView>): string {
  if (ratio == null) return "no ratio";
  const bounds =
    ratio_low == null || ratio_high == null || ratio_low === ratio_high
      ? ""
      : ` [${ratio_low.toFixed(2)}, ${ratio_high.toFixed(2)}]`;
  return ratio.toFixed(2) + bounds;
}

function Swaps({ tables, cases, subjects }: { tables: ReferenceTableView[]; cases: Names; subjects: Names }) {
  const swaps = tables.flatMap(({ columns }) =>
    columns.flatMap((column) => column.swaps.map((swap) => ({ subject: column.subject, swap }))),
  );
  if (swaps.length === 0) return <p>All rows stand in the published order.</p>;
  return (
    <>
      <h3>Where the order differs</h3>
      <ul>
        {swaps.map(({ subject, swap }) => (
          <li key={`${subject} ${swap.faster_here} ${swap.slower_here}`}>
            <b>{subjects.get(subject) ?? subject}</b>: {swapText(swap, cases)}
          </li>
        ))}
      </ul>
    </>
  );
}

export function swapText(swap: SwapView, cases: Names): string {
  const name = (id: string) => cases.get(id) ?? id;
  return (
    `${name(swap.faster_here)} is ${swap.ratio.toFixed(2)} times as fast as ${name(swap.slower_here)}; ` +
    `it costs ${costs(swap.faster_costs)} against ${costs(swap.slower_costs)}.`
  );
}

function costs(sides: SideCosts | null): string {
  if (!sides) return "an unknown amount, client and server not told apart";
  const { client_cpu_ns, server_cpu_ns } = sides;
  return `${time(client_cpu_ns + server_cpu_ns)} (client ${time(client_cpu_ns)}, server ${time(server_cpu_ns)})`;
}
