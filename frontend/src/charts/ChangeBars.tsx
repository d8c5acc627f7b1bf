// Changes of a count, one bar a row from a common zero: fewer to the left, more to the right. The same in words beside it.
import type { CSSProperties, ReactNode } from "react";
import { shortChange } from "@/format";
import { changeScale } from "./change-scale";

export interface ChangeBar {
  key: string;
  name: ReactNode;
  change: number;
  words: ReactNode;
}

interface Props {
  label: string;
  bars: ChangeBar[];
}

export function ChangeBars({ label, bars }: Props) {
  const { place, ticks } = changeScale(bars.map((bar) => bar.change));
  return (
    <div className="moves changes">
      <div className="axis" aria-hidden>
        <span className="plot-row">
          {ticks.map((tick) => (
            <span key={tick} style={{ left: at(place(tick)) }}>
              {shortChange(tick)}
            </span>
          ))}
        </span>
      </div>
      <ul aria-label={label}>
        {bars.map(({ key, name, change, words }) => (
          <li key={key}>
            <span className="name">{name}</span>
            <span className="plot-row" aria-hidden>
              {ticks.map((tick) => (
                <i
                  key={tick}
                  className={tick === 0 ? "rule zero" : "rule"}
                  style={{ left: at(place(tick)) }}
                />
              ))}
              <i
                className={`change ${change < 0 ? "less" : "more"}`}
                style={between(place(Math.min(0, change)), place(Math.max(0, change)))}
              />
            </span>
            <span className="value">{words}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

function at(place: number): string {
  return `${(100 * place).toFixed(2)}%`;
}

function between(low: number, high: number): CSSProperties {
  return { left: at(low), width: at(high - low) };
}
