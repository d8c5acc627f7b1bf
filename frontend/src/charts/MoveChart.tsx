// Changes of cost, one per row: dots with 95% confidence intervals on one scale, and the same in words.
import type { CSSProperties, ReactNode } from "react";
import type { Move } from "@/api/generated";
import { percent } from "@/format";
import { type MoveScale, moveScale } from "./move-scale";

/** Which hue: of both sides together by whether it costs more or less. */
export type Ink = "more" | "less" | "same" | "client" | "server";

export interface MoveLine {
  key: string;
  name: ReactNode;
  marks: { ink: Ink; move: Move }[];
  words: ReactNode;
}

interface Props {
  label: string;
  lines: MoveLine[];
}

export function MoveChart({ label, lines }: Props) {
  const scale = moveScale(lines.flatMap((line) => line.marks.map((mark) => mark.move)));
  return (
    <div className="moves">
      <Axis scale={scale} />
      <ul aria-label={label}>
        {lines.map(({ key, name, marks, words }) => (
          <li key={key}>
            <span className="name">{name}</span>
            <Plot scale={scale} marks={marks} />
            <span className="value">{words}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Axis({ scale: { place, ticks } }: { scale: MoveScale }) {
  return (
    <div className="axis" aria-hidden>
      <span className="plot-row">
        {ticks.map((ratio) => (
          <span key={ratio} style={{ left: at(place(ratio)) }}>
            {ratio === 1 ? "0" : percent(ratio).replace(".0%", "%")}
          </span>
        ))}
      </span>
    </div>
  );
}

function Plot({ scale: { place, ticks }, marks }: { scale: MoveScale; marks: MoveLine["marks"] }) {
  return (
    <span className="plot-row" aria-hidden>
      {ticks.map((ratio) => (
        <i key={ratio} className={ratio === 1 ? "rule zero" : "rule"} style={{ left: at(place(ratio)) }} />
      ))}
      {marks.map(({ ink, move }) => (
        <span key={ink} className={`track ${ink}`}>
          <i className="range" style={between(place(move.low), place(move.high))} />
          <i className="dot" style={{ left: at(place(move.ratio)) }} />
        </span>
      ))}
    </span>
  );
}

function at(place: number): string {
  return `${(100 * place).toFixed(2)}%`;
}

function between(low: number, high: number): CSSProperties {
  return { left: at(low), width: at(high - low) };
}
