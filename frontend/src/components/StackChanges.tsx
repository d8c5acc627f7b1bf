// The newest version of each library against its previous one.
import type { Stacks } from "@/api/generated";
import { caveatsOf } from "@/charts/change-words";
import { Frame } from "@/ui/Frame";
import { MoveText } from "./MoveText";
import { SERVER } from "./StacksTable";
import { VerdictText } from "./VerdictText";

export function StackChanges({ stacks, columns }: Pick<Stacks, "stacks" | "columns">) {
  const changed = columns.filter(({ cells }) => cells.some(({ change }) => change));
  if (changed.length === 0) return null;
  return (
    <section>
      <h2>Each version against its previous one</h2>
      <Frame label="Server CPU time relative to the previous version">
        <table className="numbers history">
          <thead>
            <tr>
              <th scope="col">Library</th>
              {changed.map(({ case: { id }, heading, title }) => (
                <th key={id} scope="col">
                  {title}
                  <small className="below">{heading}</small>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {stacks.map(
              ({ subject, end, previous }, place) =>
                previous && (
                  <tr key={subject.name}>
                    <th scope="row">
                      {end.label}
                      <small className="below">
                        from {previous.version} ({previous.source})
                      </small>
                    </th>
                    {changed.map(({ case: { id }, cells }) => {
                      const change = cells[place]?.change;
                      return (
                        <td key={id}>
                          {change ? (
                            <>
                              <MoveText move={change} isNarrow />{" "}
                              <VerdictText {...change} metric={SERVER} cautions={caveatsOf(change)} />
                            </>
                          ) : (
                            <span className="absent">not compared</span>
                          )}
                        </td>
                      );
                    })}
                  </tr>
                ),
            )}
          </tbody>
        </table>
      </Frame>
    </section>
  );
}
