// How to read the heatmap.
import type { CSSProperties } from "react";
import type { CaseView, Metric } from "@/api/generated";
import { lessOf, nounOf, rateTitle } from "@/format";
import { FULL_AT_CASE } from "./scale";

const STEPS = [100, 50, 0, 50, 100];

interface Props {
  metric: Metric;
  versus?: CaseView | undefined;
  /** cells show the change alone */
  isDense?: boolean;
}

export function Legend({ metric, versus, isDense = false }: Props) {
  const noun = nounOf(metric);
  const [less, more] = versus
    ? [`1/${FULL_AT_CASE} of the cost`, `${FULL_AT_CASE}× the cost`]
    : [`20% ${lessOf(metric)} ${noun}`, `20% more ${noun}`];
  return (
    <div className="legend">
      <p>
        Each cell:{" "}
        {!isDense && (
          <>
            <b>{rateTitle(metric)}</b>, then{" "}
          </>
        )}
        {versus ? (
          <>
            its cost as a multiple of the cost of <b>{versus.title}</b> with the same library.
          </>
        ) : (
          <>
            the change in {noun} from <b>the version that its column names</b>, or one that it names itself.
            That is the nearest lower version measured beside it, whatever its build.
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
            <i className="unresolved" aria-hidden /> unresolved: not significant, or smaller than the
            resolution (a real change smaller than this would probably be missed)
          </li>
        )}
        <li>
          <i className="outcome" aria-hidden /> no result, with the reason
        </li>
        {isDense && (
          <li>= no change, ? unresolved, ≠ not comparable, · not compared, × no result, – not measured</li>
        )}
        {!versus && <li>† comparison with a caveat: point to the cell to read it</li>}
      </ul>
    </div>
  );
}
