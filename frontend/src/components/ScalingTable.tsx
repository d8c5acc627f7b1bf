// The scaling chart as a table: rates, efficiencies and the fitted scaling law of every subject.
import type { Estimate, ScalingCase, ScalingLine, Subject } from "@/api/generated";
import { coherencyGap } from "@/charts/scaling-model";
import * as format from "@/format";
import { originText, versionText } from "@/subjects";
import { Frame } from "@/ui/Frame";

interface Props {
  scaling: ScalingCase;
  subjects: Subject[];
}

export function ScalingTable({ scaling, subjects }: Props) {
  const named = new Map(subjects.map((subject) => [subject.name, subject]));
  return (
    <Frame label={`Numbers of ${scaling.case.title}`}>
      <table className="numbers tight">
        <thead>
          <tr>
            <th scope="col">Library</th>
            <th scope="col" className="number">
              Threads
            </th>
            <th scope="col" className="number">
              Rate
            </th>
            <th scope="col" className="number">
              Efficiency
            </th>
            <th scope="col" className="number">
              Contention
            </th>
            <th scope="col">Coherency</th>
          </tr>
        </thead>
        {scaling.lines.map((line) => (
          <Line key={line.subject} line={line} subject={named.get(line.subject)} />
        ))}
      </table>
    </Frame>
  );
}

function Line({ line, subject }: { line: ScalingLine; subject: Subject | undefined }) {
  const rows = line.points.length;
  return (
    <tbody>
      {line.points.map(({ threads, rate, alone, efficiency }, index) => (
        <tr key={threads}>
          {index === 0 && (
            <th scope="rowgroup" rowSpan={rows}>
              {subject ? `${subject.library} ${versionText(subject)}` : line.subject}{" "}
              <small className="below">{subject && originText(subject)}</small>
            </th>
          )}
          <td className="number">{threads}</td>
          <td className="number">
            {format.perSecond(rate.value)} <small className="below">{format.plainInterval(rate)}</small>
          </td>
          <td className="number">
            {efficiency ? <Share coefficient={efficiency} digits={3} /> : "–"}
            {alone && (
              <small className="below">
                {" "}
                of {threads} × {format.perSecond(alone.value)}
              </small>
            )}
          </td>
          {index === 0 && (
            <>
              <td className="number" rowSpan={rows}>
                {line.contention ? <Share coefficient={line.contention} /> : "no fit"}
              </td>
              <td rowSpan={rows}>
                {line.coherency ? (
                  <Share coefficient={line.coherency} />
                ) : (
                  <small className="below">{coherencyGap(line)}</small>
                )}
                {line.peak_threads !== null && (
                  <small className="below">
                    {" "}
                    peak throughput at {format.significant(line.peak_threads, 2)} threads
                  </small>
                )}
              </td>
            </>
          )}
        </tr>
      ))}
    </tbody>
  );
}

function Share({ coefficient, digits = 2 }: { coefficient: Estimate; digits?: number }) {
  return (
    <>
      {format.share(coefficient.value, digits)}{" "}
      <small className="below">{format.shareInterval(coefficient, digits)}</small>
    </>
  );
}
