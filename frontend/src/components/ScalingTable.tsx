// The scaling chart's twin: rates, efficiencies and the fitted law of every subject.
import type { CoefficientView, ScalingCase, ScalingLine, SubjectView } from "@/api/generated";
import { coherencyGap } from "@/charts/scaling-model";
import * as format from "@/format";
import { originText, versionText } from "@/subjects";
import { Frame } from "@/ui/Frame";

interface Props {
  scaling: ScalingCase;
  subjects: SubjectView[];
}

export function ScalingTable({ scaling, subjects }: Props) {
  const named = new Map(subjects.map((one) => [one.subject, one]));
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

function Line({ line, subject }: { line: ScalingLine; subject: SubjectView | undefined }) {
  const rows = line.points.length;
  return (
    <tbody>
      {line.points.map(({ threads, rate, efficiency }, index) => (
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
          <td className="number">{efficiency ? <Share found={efficiency} digits={3} /> : "–"}</td>
          {index === 0 && (
            <>
              <td className="number" rowSpan={rows}>
                {line.contention ? <Share found={line.contention} /> : "no fit"}
              </td>
              <td rowSpan={rows}>
                {line.coherency ? (
                  <Share found={line.coherency} />
                ) : (
                  <small className="below">{coherencyGap(line)}</small>
                )}
                {line.peak_threads !== null && (
                  <small className="below">
                    {" "}
                    most throughput with {format.significant(line.peak_threads, 2)} threads
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

function Share({ found, digits = 2 }: { found: CoefficientView; digits?: number }) {
  return (
    <>
      {format.share(found.value, digits)}{" "}
      <small className="below">{format.shareInterval(found, digits)}</small>
    </>
  );
}
