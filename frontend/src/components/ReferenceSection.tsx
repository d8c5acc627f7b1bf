// Published figures next to the measured ones, and the cases that rank differently.
import type {
  CaseView,
  MeasuredRatio,
  MeasuredRow,
  Ratio,
  ReferenceRatiosView,
  ReferenceTableView,
  ReferenceView,
  Subject,
  SwapWithCosts,
} from "@/api/generated";
import { significant, time } from "@/format";
import { Frame } from "@/ui/Frame";

type Names = Map<string, string>;

interface Props {
  reference: ReferenceView;
  cases: CaseView[];
  subjects: Subject[];
  /** of its heading */
  level?: 2 | 3;
}

export function ReferenceSection({ reference, cases: caseViews, subjects: subjectViews, level = 2 }: Props) {
  const [Heading, Subheading] = level === 2 ? (["h2", "h3"] as const) : (["h3", "h4"] as const);
  const cases: Names = new Map(caseViews.map((caseView) => [caseView.id, caseView.title]));
  const subjects: Names = new Map(
    subjectViews.map((subject) => [subject.name, `${subject.library} ${subject.version}`]),
  );
  return (
    <section>
      <Heading>Comparison with {reference.title}</Heading>
      {reference.tables.length > 0 && (
        <p>Published rates are handshakes per second. Measured rates are handshakes per CPU-second.</p>
      )}
      {reference.tables.map((table) => (
        <PublishedTable key={table.title} {...{ table, cases, subjects, Subheading }} />
      ))}
      {reference.tables.length > 0 && (
        <Swaps tables={reference.tables} {...{ cases, subjects, Subheading }} />
      )}
      {reference.ratios.map((ratios) => (
        <PublishedRatios key={ratios.title} {...{ ratios, cases, subjects, Subheading }} />
      ))}
      {reference.notes && <p>{reference.notes}</p>}
    </section>
  );
}

const WHOSE = { both: "client and server together", client: "the client", server: "the server" };

interface Shared {
  cases: Names;
  subjects: Names;
  Subheading: "h3" | "h4";
}

/** One column for the published figures, and one for each subject. */
function Head({ first, columns, subjects }: { first: string; columns: string[]; subjects: Names }) {
  return (
    <thead>
      <tr>
        <th scope="col">{first}</th>
        <th scope="col" className="number">
          Published
        </th>
        {columns.map((subject) => (
          <th key={subject} scope="col" className="number">
            {subjects.get(subject) ?? subject}
          </th>
        ))}
      </tr>
    </thead>
  );
}

function PublishedRatios({ ratios, cases, subjects, Subheading }: Shared & { ratios: ReferenceRatiosView }) {
  const columns = Object.entries(ratios.rows);
  const [[, rows] = ["", []]] = columns;
  return (
    <>
      <Subheading>{ratios.title}</Subheading>
      <p>
        How many times as fast the first case is as the second. Measured ratios are of the CPU time of{" "}
        {WHOSE[ratios.side]}, with their 95% confidence intervals.
      </p>
      <Frame label={ratios.title}>
        <table className="numbers">
          <Head first="Cases" columns={Object.keys(ratios.rows)} subjects={subjects} />
          <tbody>
            {rows.map((published, position) => (
              <tr key={`${published.case_id} ${published.relative_to}`}>
                <th scope="row">
                  {cases.get(published.case_id) ?? published.case_id}
                  <br />
                  <small>compared with {cases.get(published.relative_to) ?? published.relative_to}</small>
                </th>
                <td className="number">{published.published_ratio.toFixed(2)}</td>
                {columns.map(([subject, measured]) => (
                  <RatioCell key={subject} row={measured[position]} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Frame>
    </>
  );
}

function RatioCell({ row }: { row: MeasuredRatio | undefined }) {
  if (!row?.ratio) return <td className="number">no result</td>;
  return (
    <td className="number">
      {ratioText(row.ratio)}
      {row.order === "opposite" && (
        <>
          <br />
          <strong>the other way round</strong>
        </>
      )}
      {row.order === "unresolved" && (
        <>
          <br />
          <small>order not certain</small>
        </>
      )}
    </td>
  );
}

function PublishedTable({ table, cases, subjects, Subheading }: Shared & { table: ReferenceTableView }) {
  const columns = Object.entries(table.rows);
  const [[, rows] = ["", []]] = columns;
  return (
    <>
      <Subheading>{table.title}</Subheading>
      <p>The number below each rate is its ratio to {cases.get(table.baseline) ?? table.baseline}.</p>
      <Frame label={table.title}>
        <table className="numbers">
          <Head first="Case" columns={Object.keys(table.rows)} subjects={subjects} />
          <tbody>
            {rows.map((published, position) => (
              <tr key={published.case_id}>
                <th scope="row">{cases.get(published.case_id) ?? published.case_id}</th>
                <td className="number">
                  {significant(published.published_rate)}
                  <br />
                  <small>{published.published_ratio.toFixed(2)}</small>
                </td>
                {columns.map(([subject, measured]) => (
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

function Measured({ row }: { row: MeasuredRow | undefined }) {
  if (!row?.rate) return <td className="number">no result</td>;
  return (
    <td className="number">
      {significant(row.rate.value)}
      <br />
      <small>{ratioText(row.ratio)}</small>
    </td>
  );
}

export function ratioText(measured: Ratio | null): string {
  if (!measured) return "no ratio";
  const { ratio, low, high } = measured;
  const bounds = low === high ? "" : ` [${low.toFixed(2)}, ${high.toFixed(2)}]`;
  return ratio.toFixed(2) + bounds;
}

function Swaps({ tables, cases, subjects, Subheading }: Shared & { tables: ReferenceTableView[] }) {
  const swaps = tables.flatMap((table) =>
    Object.entries(table.swaps).flatMap(([subject, own]) => own.map((swap) => ({ subject, swap }))),
  );
  if (swaps.length === 0) return <p>All cases rank in the published order.</p>;
  return (
    <>
      <Subheading>Different ranking</Subheading>
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

export function swapText(swap: SwapWithCosts, cases: Names): string {
  const name = (id: string) => cases.get(id) ?? id;
  return (
    `${name(swap.faster_here)} is ${swap.ratio.ratio.toFixed(2)} times as fast as ${name(swap.slower_here)}. ` +
    `It costs ${costs(swap.faster_cpu_ns)}, compared with ${costs(swap.slower_cpu_ns)}.`
  );
}

function costs(sides: SwapWithCosts["faster_cpu_ns"]): string {
  if (!sides) return "an unknown amount (no client/server split)";
  const { client = 0, server = 0 } = sides;
  return `${time(client + server)} (client ${time(client)}, server ${time(server)})`;
}
