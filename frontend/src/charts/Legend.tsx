// How to read the heatmap.
import type { CSSProperties } from "react";
import type { CaseView, Metric } from "@/api/generated";
import { lessOf, nounOf, rateTitle } from "@/format";
import { FULL_AT_CASE } from "./scale";

const STEPS = [100, 50, 0, 50, 100];

export function Legend({ metric, versus }: { metric: Metric; versus?: CaseView | undefined }) {
  const noun = nounOf(metric);
  const [less, more] = versus
    ? [`1/${FULL_AT_CASE} of the cost`, `${FULL_AT_CASE}× the cost`]
    : [`20% ${lessOf(metric)} ${noun}`, `20% more ${noun}`];
  return (
    <div className="legend">
      <p>
        Each cell: <b>{rateTitle(metric)}</b>, then{" "}
        {versus ? (
          <>
            its cost as a multiple of <b>{versus.title}</b> with the same library.
          </>
        ) : (
          <>
            the change of {noun} against <b>the version before it</b>.
          </>
        )}
      </p>
      <ul>
        <li>
          {less}
          <span className="ramp" aria-hidden>
            {STEPS.map((step, index) => (
              <i
                // biome-ignore lint/suspicious/noArrayIndexKey: steps that never change
                key={index}
                className={index < 2 ? "less" : index > 2 ? "more" : "same"}
                style={{ "--strength": `${step}%` } as CSSProperties}
              />
            ))}
          </span>
          {more}
        </li>
        {!versus && (
          <li>
            <i className="unresolved" aria-hidden /> can’t resolve: the interval is too wide, or the change
            too small for so many invocations on this machine
          </li>
        )}
        <li>
          <i className="outcome" aria-hidden /> no number, with the reason
        </li>
        {!versus && <li>† compare with care: the cell says why</li>}
      </ul>
    </div>
  );
}
