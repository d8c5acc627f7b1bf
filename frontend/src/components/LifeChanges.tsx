// The largest changes of a library's life between neighbouring versions, up and down.
import { Link } from "@tanstack/react-router";
import type { HostKind, LifeChange } from "@/api/generated";
import * as format from "@/format";
import { paths } from "@/paths";
import { site } from "@/published";
import { Frame } from "@/ui/Frame";
import { MoveText } from "./MoveText";
import { VerdictText } from "./VerdictText";

export function LifeChanges({ changes, hostKind }: { changes: LifeChange[]; hostKind: HostKind }) {
  const host = { pool: hostKind.pool, cpu: hostKind.cpu_model };
  return (
    <Frame label="Largest changes of a library's life">
      <table className="numbers tight">
        <thead>
          <tr>
            {["What", "Upgrade", "Change"].map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {changes.map(({ case: caseView, metric, title, ends, before, after, move, verdict, resolves }) => {
            return (
              <tr key={`${caseView.id} ${metric} ${ends[1].subject}`}>
                <th scope="row">
                  {title}
                  <small className="below">
                    {site ? (
                      caseView.title
                    ) : (
                      <Link {...paths.series({ case: caseView.id, metric, ...host })}>{caseView.title}</Link>
                    )}
                  </small>
                </th>
                <td>
                  {ends[0].label} → {ends[1].label}
                </td>
                <td className="number">
                  {move && <MoveText move={move} isNarrow />}
                  <small className="below">{format.costs(before, after, metric)}</small>
                  <small className="below">
                    <VerdictText verdict={verdict} resolves={resolves} metric={metric} />
                  </small>
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </Frame>
  );
}
