// The client's and the server's share of a handshake's CPU time, per version.
import * as format from "@/format";
import type { Split } from "./splits";

export function SplitBars({ splits }: { splits: Split[] }) {
  const longest = Math.max(...splits.map((split) => split.clientNs + split.serverNs));
  return (
    <div className="splits">
      <p className="key">
        CPU time per handshake: <i className="client" aria-hidden /> client{" "}
        <i className="server" aria-hidden /> server
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
                client {format.time(clientNs)}, server {format.time(serverNs)} ({share}% of the total)
              </span>
            </li>
          );
        })}
      </ul>
    </div>
  );
}
