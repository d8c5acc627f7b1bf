// The most connections a second that a web server made, with the rates at every number of connections at once.
import type { LoadCase, LoadLine, Subject } from "@/api/generated";
import * as format from "@/format";
import { originText, versionText } from "@/subjects";
import { Frame } from "@/ui/Frame";

interface Props {
  load: LoadCase;
  subjects: Subject[];
}

export function LoadTable({ load, subjects }: Props) {
  const named = new Map(subjects.map((subject) => [subject.name, subject]));
  return (
    <Frame label={`Numbers of ${load.title}`}>
      <table className="numbers tight">
        <thead>
          <tr>
            <th scope="col">Library</th>
            <th scope="col" className="number">
              At once
            </th>
            <th scope="col" className="number">
              Rate
            </th>
            <th scope="col" className="number">
              Server’s CPU
            </th>
            <th scope="col" className="number">
              Client’s CPU
            </th>
          </tr>
        </thead>
        {load.lines.map((line) => (
          <Line key={line.subject} line={line} subject={named.get(line.subject)} />
        ))}
      </table>
    </Frame>
  );
}

function Line({ line, subject }: { line: LoadLine; subject: Subject | undefined }) {
  const { greatest, remark } = line;
  return (
    <tbody>
      {line.points.map(({ concurrency, rate, server_share, client_share }, index) => (
        <tr key={concurrency}>
          {index === 0 && (
            <th scope="rowgroup" rowSpan={line.points.length + 1}>
              {subject ? `${subject.library} ${versionText(subject)}` : line.subject}{" "}
              <small className="below">{subject && originText(subject)}</small>
            </th>
          )}
          <td className="number">{concurrency}</td>
          <td className="number">
            {format.perSecond(rate.value)} <small className="below">{format.plainInterval(rate)}</small>
          </td>
          <td className="number">{format.share(server_share)}</td>
          <td className="number">{format.share(client_share)}</td>
        </tr>
      ))}
      <tr>
        <td colSpan={4}>
          <strong>
            Greatest rate: {format.perSecond(greatest.rate.value)} {format.plainInterval(greatest.rate)} with{" "}
            {greatest.concurrency} at once.
          </strong>{" "}
          {remark}
        </td>
      </tr>
    </tbody>
  );
}
