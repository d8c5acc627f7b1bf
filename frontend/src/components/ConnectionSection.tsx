// What a connection costs beyond its handshake, part by part and for each side.
import type { ConnectionCosts, Estimate, PartView, RunDetail } from "@/api/generated";
import { costText } from "@/components/connection-costs";
import { Frame } from "@/ui/Frame";

type Names = Map<string, string>;

export function ConnectionSection({ run }: { run: RunDetail }) {
  if (run.connections.length === 0) return null;
  const subjects: Names = new Map(
    run.subjects.map(({ name, library, version }) => [name, `${library} ${version}`]),
  );
  return (
    <section>
      <h2>What a connection costs</h2>
      <p>
        CPU time of each side with half its 95% interval; of transfers, the data per CPU-second. Verification,
        tickets, contexts and trust anchors are differences between two cases of this run. Wall is the time
        per handshake, all threads together.
      </p>
      {run.connections.map((connection) => (
        <Connection key={connection.title} {...{ connection, subjects }} />
      ))}
    </section>
  );
}

function Connection({ connection, subjects }: { connection: ConnectionCosts; subjects: Names }) {
  return (
    <Frame label={connection.title}>
      <table className="numbers">
        <caption>{connection.title}</caption>
        <thead>
          <tr>
            <th scope="col">Part</th>
            <th scope="col">Side</th>
            {[...subjects].map(([subject, name]) => (
              <th key={subject} scope="col" className="number">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {connection.parts.map((part) => (
            <Part key={`${part.kind} ${part.case_id}`} {...{ part, subjects }} />
          ))}
        </tbody>
      </table>
    </Frame>
  );
}

function Part({ part, subjects }: { part: PartView; subjects: Names }) {
  const costs = new Map(part.costs.map((cost) => [cost.subject, cost]));
  const hasWall = part.kind === "handshake" || part.kind === "threads";
  const row = (side: "client" | "server" | "wall") =>
    [...subjects.keys()].map((subject) => (
      <td key={subject} className="number">
        <Cost part={part} estimate={costs.get(subject)?.[side] ?? null} />
      </td>
    ));
  return (
    <>
      <tr>
        <th scope="rowgroup" rowSpan={hasWall ? 3 : 2}>
          {part.label}
        </th>
        <th scope="row">client</th>
        {row("client")}
      </tr>
      <tr>
        <th scope="row">server</th>
        {row("server")}
      </tr>
      {hasWall && (
        <tr>
          <th scope="row">wall</th>
          {row("wall")}
        </tr>
      )}
    </>
  );
}

function Cost({ part, estimate }: { part: PartView; estimate: Estimate | null }) {
  return estimate ? costText(part, estimate) : "no result";
}
