// The answer in words: the change of each library to its newest version, from the nearest lower one.
import type { Matrix, Series } from "@/api/generated";
import { cautionsOf } from "@/charts/cautions";
import { changeSentence } from "@/charts/heatmap-model";
import { originText, versionText } from "@/subjects";

interface Props {
  series: Series;
  matrix: Matrix | undefined;
}

export function LatestChanges({ series, matrix }: Props) {
  if (!matrix) return null;
  const shown = new Set(series.lines.map((line) => line.library));
  const changes = [...shown].flatMap((library) => {
    const newest = matrix.subjects.findLast((subject) => subject.library === library);
    const cell = matrix.cells.find(
      (candidate) => candidate.case_id === series.case.id && candidate.subject === newest?.subject,
    );
    if (!newest || !cell?.change) return [];
    const text = changeSentence(cell.change, series.metric);
    return [{ newest, verdict: cell.change.verdict, text, cautions: cautionsOf(cell.change) }];
  });
  if (changes.length === 0) return null;
  return (
    <ul className="answers">
      {changes.map(({ newest, verdict, text, cautions }) => (
        <li key={newest.subject} className={verdict}>
          <b>
            {newest.library} {versionText(newest)}
          </b>{" "}
          <small>{originText(newest)}</small>
          <br />
          {text}
          {cautions.length > 0 && <small> † {cautions.join("; ")}</small>}
        </li>
      ))}
    </ul>
  );
}
