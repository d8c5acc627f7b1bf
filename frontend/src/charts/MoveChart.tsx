// Changes, one a row on a scale of their own, and the same in words: of costs as dots with 95% confidence intervals, of
// counts as bars from a common zero.
import type { CSSProperties, ReactNode } from "react";
import type { Ratio } from "@/api/generated";
import { percent, shortChange } from "@/format";
import { changeScale } from "./change-scale";
import { moveScale } from "./move-scale";

/** Which hue: of both sides together by whether it costs more or less. */
export type Ink = "more" | "less" | "same" | "client" | "server";

interface Row {
  key: string;
  name: ReactNode;
  words: ReactNode;
}

export interface MoveLine extends Row {
  marks: { ink: Ink; move: Ratio }[];
}

export function MoveChart({ label, lines }: { label: string; lines: MoveLine[] }) {
  const { place, ticks } = moveScale(lines.flatMap((line) => line.marks.map((mark) => mark.move)));
  const shown = ticks.map((ratio): Tick => {
    const isZero = ratio === 1;
    return { at: place(ratio), isZero, name: isZero ? "0" : percent(ratio).replace(".0%", "%") };
  });
  const draw = ({ marks }: MoveLine) =>
    marks.map(({ ink, move }) => (
      <span key={ink} className={`track ${ink}`}>
        <i className="range" style={between(place(move.low), place(move.high))} />
        <i className="dot" style={{ left: percentOf(place(move.ratio)) }} />
      </span>
    ));
  return <Rows className="moves" ticks={shown} {...{ label, lines, draw }} />;
}

export interface ChangeBar extends Row {
  change: number;
}

export function ChangeBars({ label, bars }: { label: string; bars: ChangeBar[] }) {
  const { place, ticks } = changeScale(bars.map((bar) => bar.change));
  const shown = ticks.map((tick): Tick => ({ at: place(tick), isZero: tick === 0, name: shortChange(tick) }));
  const draw = ({ change }: ChangeBar) => (
    <i
      className={`change ${change < 0 ? "less" : "more"}`}
      style={between(place(Math.min(0, change)), place(Math.max(0, change)))}
    />
  );
  return <Rows className="moves changes" ticks={shown} lines={bars} {...{ label, draw }} />;
}

interface Tick {
  at: number;
  name: string;
  isZero: boolean;
}

interface RowsProps<R extends Row> {
  className: string;
  label: string;
  ticks: Tick[];
  lines: R[];
  draw: (line: R) => ReactNode;
}

function Rows<R extends Row>({ className, label, ticks, lines, draw }: RowsProps<R>) {
  return (
    <div className={className}>
      <div className="axis" aria-hidden>
        <span className="plot-row">
          {ticks.map(({ at, name }) => (
            <span key={name} style={{ left: percentOf(at) }}>
              {name}
            </span>
          ))}
        </span>
      </div>
      <ul aria-label={label}>
        {lines.map((line) => (
          <li key={line.key}>
            <span className="name">{line.name}</span>
            <span className="plot-row" aria-hidden>
              {ticks.map(({ at, name, isZero }) => (
                <i key={name} className={isZero ? "rule zero" : "rule"} style={{ left: percentOf(at) }} />
              ))}
              {draw(line)}
            </span>
            <span className="value">{line.words}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Of a place between 0 and 1. */
function percentOf(place: number): string {
  return `${(100 * place).toFixed(2)}%`;
}

function between(low: number, high: number): CSSProperties {
  return { left: percentOf(low), width: percentOf(high - low) };
}
