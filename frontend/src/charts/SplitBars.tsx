// Who pays: the client's and the server's share of a handshake, per version.
import type { Series } from "@/api/generated";
import * as format from "@/format";

interface Props {
  client: Series;
  server: Series;
}

interface Split {
  subject: string;
  label: string;
  clientNs: number;
  serverNs: number;
}

export function SplitBars({ client, server }: Props) {
  const splits = splitsOf(client, server);
  const longest = Math.max(...splits.map((one) => one.clientNs + one.serverNs));
  return (
    <div className="splits">
      <p className="key">
        <i className="client" aria-hidden /> client <i className="server" aria-hidden /> server, CPU time per
        handshake
      </p>
      <ul>
        {splits.map(({ subject, label, clientNs, serverNs }) => {
          const share = Math.round((100 * serverNs) / (clientNs + serverNs));
          return (
            <li key={subject}>
              <span className="name">{label}</span>
              <span className="bar" aria-hidden>
                <i className="client" style={{ width: `${(100 * clientNs) / longest}%` }} />
                <i className="server" style={{ width: `${(100 * serverNs) / longest}%` }} />
              </span>
              <span className="value">
                client {format.time(clientNs)}, server {format.time(serverNs)} ({share}%)
              </span>
            </li>
          );
        })}
      </ul>
    </div>
  );
}

export function splitsOf(client: Series, server: Series): Split[] {
  const serverNs = new Map(
    server.lines.flatMap((line) =>
      line.points.map((point) => [point.subject, point.estimate.value] as const),
    ),
  );
  return client.lines
    .flatMap((line) => line.points.map((point) => ({ line, point })))
    .sort((a, b) => order(a.line.library, b.line.library) || order(a.point.version_key, b.point.version_key))
    .flatMap(({ line, point }) => {
      const other = serverNs.get(point.subject);
      if (other === undefined) return [];
      const source = point.subject.split("~")[1];
      const label = `${line.library} ${point.version}${source ? ` (${source})` : ""}`;
      return [{ subject: point.subject, label, clientNs: point.estimate.value, serverNs: other }];
    });
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
