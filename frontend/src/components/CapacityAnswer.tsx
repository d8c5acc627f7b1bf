// What a mix needs on each CPU: the result in a sentence, the parts with their costs, and parts without results.

import { Link } from "@tanstack/react-router";
import type { CpuNeed, MissingCell, MixReport, PartChange } from "@/api/generated";
import { CONTENTS, type PartRow, partRows } from "@/components/capacity-model";
import { HostName } from "@/components/HostName";
import { hostLabel } from "@/components/HostSelect";
import { VerdictText } from "@/components/VerdictText";
import { paths } from "@/paths";
import { Code } from "@/ui/Code";
import { Frame } from "@/ui/Frame";
import { Empty } from "@/ui/Notes";
import { MoveText } from "./MoveText";

export function CapacityAnswer({ report }: { report: MixReport }) {
  const { name, contains } = CONTENTS[report.cost];
  return (
    <>
      {report.cpus.map((cpu) => (
        <Cpu key={hostLabel(cpu.host_kind)} cpu={cpu} />
      ))}
      {report.missing.length > 0 && <Missing missing={report.missing} specText={report.spec_text} />}
      <p>
        <small>
          {report.server === "-"
            ? `Costs are the CPU time that a ${name} takes the server (${contains}), in memory, with 95% confidence intervals. Sockets, the kernel and the application come on top.`
            : `Costs are the CPU time that a connection takes ${report.server}, kernel included, with 95% confidence intervals. The application comes on top.`}
        </small>
      </p>
    </>
  );
}

function Cpu({ cpu }: { cpu: CpuNeed }) {
  const rows = partRows(cpu);
  return (
    <section>
      <h2>
        <HostName kind={cpu.host_kind} />
      </h2>
      <p className="answer">{cpu.sentence}</p>
      <Frame label={`Parts on ${hostLabel(cpu.host_kind)}`}>
        <table className="numbers tight">
          <thead>
            <tr>
              <th scope="col">Case</th>
              <th scope="col" className="number">
                Share
              </th>
              {cpu.versions.map(({ end }) => (
                <th key={end.subject} scope="col" className="number">
                  {end.label}
                </th>
              ))}
              {cpu.change && (
                <th scope="col" className="number">
                  Change
                </th>
              )}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <Row key={row.caseId} row={row} cpu={cpu} />
            ))}
          </tbody>
        </table>
      </Frame>
      {cpu.warnings.map((warning) => (
        <p key={warning}>
          <small>{warning}</small>
        </p>
      ))}
    </section>
  );
}

function Row({ row, cpu }: { row: PartRow; cpu: CpuNeed }) {
  return (
    <tr>
      <th scope="row">
        <Link {...paths.series({ case: row.caseId, pool: cpu.host_kind.pool, cpu: cpu.host_kind.cpu_model })}>
          {row.title}
        </Link>
      </th>
      <td className="number">{row.share}</td>
      {row.costs.map(({ cost, interval, load }, place) => (
        <td key={cpu.versions[place]?.end.subject} className="number">
          {cost} <small className="below">{interval}</small>
          <small className="below">{load}</small>
        </td>
      ))}
      {cpu.change && <td className="number">{row.change ? <Changed change={row.change} /> : "–"}</td>}
    </tr>
  );
}

function Changed({ change: { move, verdict, resolves, warnings } }: { change: PartChange }) {
  return (
    <>
      {move && <MoveText move={move} isNarrow />}
      <span className="below">
        <VerdictText verdict={verdict} resolves={resolves} metric="server_cpu_ns" cautions={warnings} />
      </span>
    </>
  );
}

function Missing({ missing, specText }: { missing: MissingCell[]; specText: string | null }) {
  return (
    <Empty title="Not all parts have results">
      <ul className="plain">
        {missing.map((cell) => (
          <li key={`${cell.version} ${hostLabel(cell.host_kind)} ${cell.case_id}`}>
            {cell.title}: {cell.version} on <HostName kind={cell.host_kind} />: {cell.reason}
          </li>
        ))}
      </ul>
      {specText !== null && (
        <details>
          <summary>A spec that measures them</summary>
          <p>
            Save it as <code>mix-spec.yaml</code>, then run <code>kexbench run mix-spec.yaml</code>.
          </p>
          <Code>{specText}</Code>
        </details>
      )}
    </Empty>
  );
}
