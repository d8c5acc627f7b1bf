// Why an upgrade changed the cost: the functions whose counts changed, case by case and by each instrument.

import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { CaseExplanation, Instrument } from "@/api/generated";
import { upgradeWhyOptions } from "@/api/generated/@tanstack/react-query.gen";
import { INSTRUMENTS } from "@/api/generated/vocabulary.gen";
import { isNotFound } from "@/api/problem";
import { dateTime } from "@/format";
import { site } from "@/published";
import { Controls } from "@/ui/Controls";
import { Select } from "@/ui/Fields";
import { Failed, Loading } from "@/ui/Notes";
import { captionOf } from "./chart-caption";
import type { Library } from "./libraries";
import { RunLink } from "./RunLink";
import { WhySide } from "./WhySide";
import { askedOf, chosenCase, keptCase, lacksNames } from "./why-model";

interface Props {
  library: Library;
  /** unique names of both subjects */
  ends: [string, string];
  /** both versions in words */
  title: string;
  /** id of the chosen case */
  caseId: string | undefined;
  choose: (caseId: string | undefined) => void;
  /** shown where nothing has been counted */
  uncounted: ReactNode;
}

export function WhySection(props: Props) {
  return (
    <>
      <Counted {...props} instrument="instructions" heading="Why" />
      {FURTHER.map((instrument) => (
        <Counted
          key={instrument}
          {...props}
          {...{ instrument }}
          heading={`Why: ${INSTRUMENTS[instrument].measure.toLowerCase()}`}
          uncounted={undefined}
        />
      ))}
    </>
  );
}

/** Instruments whose counts are shown where there are some. */
const FURTHER = (Object.keys(INSTRUMENTS) as Instrument[]).filter(
  (instrument) => instrument !== "time" && instrument !== "instructions",
);

interface CountedProps extends Props {
  instrument: Instrument;
  heading: string;
}

function Counted({
  library,
  ends: [before, after],
  title,
  caseId,
  choose,
  uncounted,
  instrument,
  heading,
}: CountedProps) {
  const why = useQuery(upgradeWhyOptions({ query: { library, before, after, ...askedOf(instrument) } }));
  const cases = why.data ?? [];
  const shown = chosenCase(cases, caseId);
  if ((site || uncounted === undefined) && !shown) return null; // a site's readers cannot count anything
  return (
    <section>
      <h2>{heading}</h2>
      {shown ? (
        <>
          {cases.length > 1 && (
            <Controls label="Choice of the case">
              <Select
                label="Case"
                value={shown.case_id}
                choices={cases.map(({ case_id, title }) => ({ value: case_id, label: title }))}
                choose={(next) => choose(keptCase(cases, next))}
              />
            </Controls>
          )}
          <Explained {...{ library, title }} ends={[before, after]} explanation={shown} />
        </>
      ) : why.isSuccess || isNotFound(why.error) ? (
        <p>{uncounted}</p>
      ) : why.isError ? (
        <Failed error={why.error} retry={() => void why.refetch()} />
      ) : (
        <Loading what="the functions" lines={4} />
      )}
    </section>
  );
}

interface ExplainedProps extends Pick<Props, "library" | "ends" | "title"> {
  explanation: CaseExplanation;
}

function Explained({ library, ends, title, explanation }: ExplainedProps) {
  const row = INSTRUMENTS[explanation.instrument ?? "instructions"];
  return (
    <>
      <p>
        {row.measure} in one handshake of <b>{explanation.title}</b>, counted by {row.counted_by} on{" "}
        {dateTime(explanation.counted_at)}: <Runs ids={explanation.run_ids} />. The bars are each function's
        own {row.amounts}, without those of functions that it calls.
      </p>
      {explanation.sides.map((side) => (
        <WhySide
          key={`${explanation.case_id} ${side.side}`}
          {...{ library, ends }}
          caseId={explanation.case_id}
          explanation={side}
          caption={(chart) =>
            captionOf({
              title: `${explanation.title}: ${chart}`,
              subjects: title,
              hosts: [],
              measured: [explanation.counted_at],
            })
          }
        />
      ))}
      {explanation.other_code && (
        <p>
          Valgrind's CPU lacks features of this machine's CPU, so a library may run other code natively. CPU
          time decides.
        </p>
      )}
      {lacksNames(explanation) && (
        <p>
          Packages of distributions name only exported functions. To see the names of all functions, compare
          builds from sources.
        </p>
      )}
    </>
  );
}

function Runs({ ids }: { ids: string[] }) {
  return ids.map((runId, index) => (
    <span key={runId}>
      {index > 0 && ", "}
      <RunLink runId={runId}>run {runId}</RunLink>
    </span>
  ));
}
