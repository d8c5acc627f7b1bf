// Scorecard: how good detection is, as it was measured last, beside the methods of others.
import { useQuery } from "@tanstack/react-query";
import type { Scorecard, ScorecardPart } from "@/api/generated";
import { scorecardOptions } from "@/api/generated/@tanstack/react-query.gen";
import { isNotFound } from "@/api/problem";
import { ScorecardFigures } from "@/components/ScorecardFigures";
import { dateTime } from "@/format";
import { Empty, Failed, Loading } from "@/ui/Notes";
import { useTitle } from "@/ui/title";

export function ScorecardPage() {
  const found = useQuery({ ...scorecardOptions(), retry: false });
  useTitle("Scorecard");
  return (
    <>
      <h1>How good detection is</h1>
      {found.data ? (
        <Parts scorecard={found.data} />
      ) : isNotFound(found.error) ? (
        <Empty title="No scorecard yet">
          <p>
            Steps of known size are put into what was measured of a library against itself, and looked for by
            kexbench and by the methods of others. In a checkout this does it:
          </p>
          <pre>make scorecard</pre>
        </Empty>
      ) : found.isError ? (
        <Failed error={found.error} retry={() => void found.refetch()} />
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
        Brackets and bars are 95% intervals. Rows in bold are kexbench’s own, the others those of its peers.
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
        <summary>How it was measured</summary>
        {about.split("\n\n").map((paragraph) => (
          <p key={paragraph}>{paragraph.replaceAll("`", "")}</p>
        ))}
      </details>
    </section>
  );
}
