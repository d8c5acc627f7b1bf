// What a difference between two cases costs the newest version of a library when a process starts.
import type { LifeVariation, Subject } from "@/api/generated";
import { milliseconds, millisecondsInterval } from "@/format";
import { Frame } from "@/ui/Frame";
import { subjectTitle } from "./libraries";
import { MoveText } from "./MoveText";

interface Props {
  variations: LifeVariation[];
  subjects: Subject[];
}

export function LifeVariations({ variations, subjects }: Props) {
  return (
    <Frame label="What a start costs more with">
      <table className="numbers tight">
        <thead>
          <tr>
            {["With", "Version", "Start without", "Start with", "Change"].map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {variations.map(({ subject, usual, other, what, before, after, move }) => {
            const own = subjects.find(({ name }) => name === subject);
            return (
              <tr key={`${subject} ${usual.id} ${other.id}`}>
                <th scope="row">
                  {what}
                  <small className="below">{usual.title}</small>
                </th>
                <td>{own ? subjectTitle(own) : subject}</td>
                {[before, after].map((start) => (
                  <td key={start.value} className="number">
                    {milliseconds(start.value)}
                    <small className="below">{millisecondsInterval(start)}</small>
                  </td>
                ))}
                <td className="number">
                  <MoveText move={move} isNarrow />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </Frame>
  );
}
