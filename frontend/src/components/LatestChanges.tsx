// The answer in words: the change of each library to its newest version, from the nearest lower one.
import type { Matrix } from "@/api/generated";
import { caveatsOf } from "@/charts/change-words";
import { changeSentence } from "@/charts/heatmap-model";
import { originText, versionText } from "@/subjects";

interface Props {
  caseId: string;
  libraries: string[];
  matrix: Matrix | undefined;
}

export function LatestChanges({ caseId, libraries, matrix }: Props) {
  if (!matrix) return null;
  const changes = libraries.flatMap((library) => {
    const newest = matrix.subjects.findLast((subject) => subject.library === library);
    const cell = matrix.cells.find(
      (candidate) => candidate.case_id === caseId && candidate.subject === newest?.name,
    );
    if (!newest || !cell?.change) return [];
    const text = changeSentence(cell.change, matrix.metric);
    return [{ newest, verdict: cell.change.verdict, text, cautions: caveatsOf(cell.change) }];
  });
  if (changes.length === 0) return null;
  return (
    <ul className="answers">
      {changes.map(({ newest, verdict, text, cautions }) => (
        <li key={newest.name} className={verdict}>
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
