// How to read the heatmap.
import type { CSSProperties } from "react";
import type { Metric } from "@/api/generated";
import { METRICS } from "@/api/generated/vocabulary.gen";
import { lessOf, nounOf } from "@/format";
import { type HeatModel, hasCaveat, type Tone } from "./heatmap-model";
import { SIGNS } from "./matrix-view";
import { FULL_AT_CASE } from "./scale";

const STEPS = [100, 50, 0, 50, 100];

interface Props {
  metric: Metric;
  /** what is drawn: only its signs are explained */
  model: Pick<HeatModel, "rows" | "versus">;
  /** cells show the change alone */
  isDense?: boolean;
}

const SIGN_WORDS = {
  [SIGNS.same]: "no change",
  [SIGNS.unresolved]: "unresolved",
  [SIGNS.unlike]: "not comparable",
  [SIGNS.apart]: "not compared",
  [SIGNS.outcome]: "no result",
  [SIGNS.missing]: "not measured",
};

export function Legend({ metric, model: { rows, versus }, isDense = false }: Props) {
  const noun = nounOf(metric);
  const cells = rows.flatMap((row) => row.cells);
  const has = (...tones: Tone[]) => cells.some(({ tone }) => tones.includes(tone));
  const hasChanges = has("more", "less", "same", "unresolved", "unlike");
  const shown = new Set(cells.map(({ tone }) => SIGNS[tone]));
  const signs = Object.entries(SIGN_WORDS).flatMap(([sign, words]) =>
    shown.has(sign) ? `${sign} ${words}` : [],
  );
  const [less, more] = versus
    ? [`1/${FULL_AT_CASE} of the cost`, `${FULL_AT_CASE}× the cost`]
    : [`20% ${lessOf(metric)} ${noun}`, `20% more ${noun}`];
  return (
    <div className="legend">
      <p>
        Each cell:{" "}
        {!isDense && (
          <>
            <b>{METRICS[metric]}</b>
            {hasChanges ? ", then " : "."}
          </>
        )}
        {!hasChanges ? null : versus ? (
          <>
            its cost as a multiple of the cost of <b>{versus.title}</b> with the same library.
          </>
        ) : (
          <>
            the change in {noun} from <b>the version named at the head of its column</b>, or in the cell
            itself: the nearest lower version measured beside it, whatever its build.
          </>
        )}
      </p>
      <ul>
        {has("more", "less") && (
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
        )}
        {has("unresolved") && (
          <li>
            <i className="unresolved" aria-hidden /> unresolved: not significant, or smaller than the
            resolution (a real change smaller than this would probably be missed)
          </li>
        )}
        {has("outcome") && (
          <li>
            <i className="outcome" aria-hidden /> no result, with the reason
          </li>
        )}
        {isDense && signs.length > 0 && <li>{signs.join(", ")}</li>}
        {cells.some(({ isTooFew }) => isTooFew) && (
          <li>too few invocations: not compared with the version before</li>
        )}
        {cells.some(hasCaveat) && <li>† comparison with a caveat: point to the cell to read it</li>}
      </ul>
    </div>
  );
}
