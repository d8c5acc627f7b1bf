// The largest changes of a library's life between neighbouring versions, up and down.
import { Link } from "@tanstack/react-router";
import type { HostKind, LifeChange } from "@/api/generated";
import * as format from "@/format";
import { paths } from "@/paths";
import { site } from "@/published";
import { endText } from "@/subjects";
import { Frame } from "@/ui/Frame";
import { libraryTitle } from "./libraries";
import { MoveText } from "./MoveText";
import { VerdictText } from "./VerdictText";

export function LifeChanges({ changes, hostKind }: { changes: LifeChange[]; hostKind: HostKind }) {
  const host = { pool: hostKind.pool, cpu: hostKind.cpu_model };
  return (
    <Frame label="Largest changes of a library's life">
      <table className="numbers tight">
        <thead>
          <tr>
            {["What", "Upgrade", "Before and after", "Change", "Verdict", "Case"].map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {changes.map(({ case: caseView, metric, title, before, cell }) => {
            const { change, estimate } = cell;
            if (!change || !estimate) return null;
            return (
              <tr key={`${caseView.id} ${metric} ${cell.subject}`}>
                <th scope="row">{title}</th>
                <td>
                  {libraryTitle(cell.subject.split("@")[0] ?? "")} {endText(change.before)} →{" "}
                  {endText(change.after)}
                </td>
                <td className="number">{format.costs(before, estimate.value, metric)}</td>
                <td className="number">
                  <MoveText move={change} isNarrow />
                </td>
                <td>
                  <VerdictText verdict={change.verdict} resolves={change.resolves} metric={metric} />
                </td>
                <td>
                  {site ? (
                    caseView.title
                  ) : (
                    <Link {...paths.series({ case: caseView.id, metric, ...host })}>{caseView.title}</Link>
                  )}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </Frame>
  );
}
