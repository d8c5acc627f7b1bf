// Scorecard: the latest measurement of how well kexbench detects changes, compared with other methods.

import { useQuery } from "@tanstack/react-query";
import type { Scorecard, ScorecardPart } from "@/api/generated";
import { scorecardOptions } from "@/api/generated/@tanstack/react-query.gen";
import { isNotFound } from "@/api/problem";
import { ScorecardFigures } from "@/components/ScorecardFigures";
import { dateTime } from "@/format";
import { Code } from "@/ui/Code";
import { Empty, Failed, Loading } from "@/ui/Notes";
import { useTitle } from "@/ui/title";

export const firstAnswer = () => scorecardOptions();

export function ScorecardPage() {
  const scorecard = useQuery({ ...firstAnswer(), retry: false });
  useTitle("Scorecard");
  return (
    <>
      <h1>Detection scorecard</h1>
      {scorecard.data ? (
        <Parts scorecard={scorecard.data} />
      ) : isNotFound(scorecard.error) ? (
        <Empty title="No scorecard yet">
          <p>
            The scorecard injects slowdowns of known size into measurements of a library against itself. It
            counts how many kexbench and other methods detect. Create it in a checkout:
          </p>
          <Code>make scorecard</Code>
        </Empty>
      ) : scorecard.isError ? (
        <Failed error={scorecard.error} retry={() => void scorecard.refetch()} />
      ) : (
        <Loading what="the scorecard" lines={10} />
      )}
    </>
  );
}

function Parts({ scorecard: { measured_at, version, machine, parts } }: { scorecard: Scorecard }) {
  return (
    <>
      <p>
        Measured <time dateTime={measured_at}>{dateTime(measured_at)}</time> with kexbench {version}.{" "}
        {machine}
      </p>
      <p>
        Brackets and bars show 95% confidence intervals. Bold rows are kexbench. The other rows are other
        methods.
      </p>
      {parts.map((part) => (
        <Part key={part.name} part={part} />
      ))}
    </>
  );
}

function Part({ part: { title, about, sentence, tables, failure } }: { part: ScorecardPart }) {
  return (
    <section>
      <h2>{title}</h2>
      {sentence && <p className="answer">{sentence}</p>}
      {failure && <p className="said bad">Not measured: {failure}</p>}
      {tables.map((table) => (
        <ScorecardFigures key={table.title} table={table} />
      ))}
      <details>
        <summary>Method</summary>
        {about.split("\n\n").map((paragraph) => (
          <p key={paragraph}>{paragraph.replaceAll("`", "")}</p>
        ))}
      </details>
    </section>
  );
}
