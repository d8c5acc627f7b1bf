// Levels of security: the answers in words, and the measured handshakes of each.
import { Link } from "@tanstack/react-router";
import type { HandshakeView, LevelView } from "@/api/generated";
import { answersOf, type HandshakeRow, handshakeRows, sizesText } from "@/components/forward-secrecy-model";
import { VerdictText } from "@/components/VerdictText";
import { paths } from "@/paths";
import type { HostChoice } from "@/search";
import { Frame } from "@/ui/Frame";

export function SecurityAnswers({ levels }: { levels: LevelView[] }) {
  const missing = levels.flatMap((level) => level.missing ?? []);
  return (
    <>
      <dl className="terms levels">
        {answersOf(levels).map(({ bits, cheapest, adds }) => (
          <div key={bits}>
            <dt>{bits}</dt>
            <dd>{cheapest}</dd>
            <dd>{adds}</dd>
          </div>
        ))}
      </dl>
      {missing.length > 0 && (
        <details>
          <summary>How to measure what is missing</summary>
          <ul className="plain">
            {missing.map((how) => (
              <li key={how}>{how}</li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

export function SecurityLevel({ level, host }: { level: LevelView; host: HostChoice }) {
  if (level.handshakes.length === 0) return null;
  return (
    <section>
      <h2>Handshakes that reach {level.level_bits} bits</h2>
      <p>
        <small>
          Weakest sizes of this level: {sizesText(level)}.
          {level.rsa_title && ` Ratios are relative to ${level.rsa_title}.`}
        </small>
      </p>
      <HandshakeTable
        label={`Handshakes that reach ${level.level_bits} bits`}
        rows={handshakeRows(level.handshakes, level)}
        host={host}
      />
    </section>
  );
}

export function UnrankedHandshakes({ handshakes, host }: { handshakes: HandshakeView[]; host: HostChoice }) {
  if (handshakes.length === 0) return null;
  return (
    <section>
      <h2>Without a level</h2>
      <p>Handshakes of unknown strength, or of fewer than 80 bits.</p>
      <HandshakeTable label="Handshakes without a level" rows={handshakeRows(handshakes, null)} host={host} />
    </section>
  );
}

function HandshakeTable({ label, rows, host }: { label: string; rows: HandshakeRow[]; host: HostChoice }) {
  return (
    <Frame label={label}>
      <table className="numbers tight">
        <thead>
          <tr>
            <th scope="col">Handshake</th>
            <th scope="col">CPU time</th>
            <th scope="col" className="number">
              Relative to RSA key exchange
            </th>
            <th scope="col">Forward secrecy</th>
            <th scope="col">Post-quantum</th>
            <th scope="col">Strength</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Handshake key={row.caseId} row={row} host={host} />
          ))}
        </tbody>
      </table>
    </Frame>
  );
}

function Handshake({ row, host }: { row: HandshakeRow; host: HostChoice }) {
  return (
    <tr>
      <th scope="row">
        <Link {...paths.series({ case: row.caseId, ...host })}>{row.title}</Link>
        {row.role && <small className="below">{row.role}</small>}
      </th>
      <td className="cost">
        <span className="bar" aria-hidden style={{ width: `${row.width}%` }} />
        {row.cost} <small className="whole">{row.interval}</small>
      </td>
      <td className="number">
        {row.against} {row.againstInterval && <small>{row.againstInterval}</small>}
        {row.notCompared && <small className="below">{row.notCompared}</small>}
        {row.againstInterval && row.verdict && (
          <span className="below">
            <VerdictText verdict={row.verdict} resolves={row.resolves} metric="cpu_ns" cautions={[]} />
          </span>
        )}
      </td>
      <td>{row.forwardSecret}</td>
      <td>{row.postQuantum}</td>
      <td>
        {row.strength} <small className="below">{row.limitedBy}</small>
      </td>
    </tr>
  );
}
