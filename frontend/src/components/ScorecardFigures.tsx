// A table of the scorecard: each figure with its interval in words, and drawn on one scale a column.
import type { ScorecardCell, ScorecardTable } from "@/api/generated";
import { Frame } from "@/ui/Frame";
import { type ColumnScale, columnScales } from "./scorecard-model";

export function ScorecardFigures({ table: { title, columns, rows } }: { table: ScorecardTable }) {
  const scales = columnScales(rows);
  return (
    <>
      <h3>{title}</h3>
      <Frame label={title}>
        <table className="numbers history tight figures">
          <thead>
            <tr>
              {columns.map((column) => (
                <th key={column} scope="col">
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ ours, cells: [name, ...figures] }) => (
              <tr key={name?.text}>
                <th scope="row">{ours ? <b>{name?.text}</b> : name?.text}</th>
                {figures.map((cell, place) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: columns that never change
                  <td key={place} className={cell.text.endsWith(".") ? "sentence" : undefined}>
                    <Figure cell={cell} scale={scales[place + 1]} ours={ours ?? false} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Frame>
    </>
  );
}

interface FigureProps {
  cell: ScorecardCell;
  scale: ColumnScale | undefined;
  ours: boolean;
}

function Figure({ cell: { text, value, low, high }, scale, ours }: FigureProps) {
  const at = (figure: number) => `${(100 * (scale?.(figure) ?? 0)).toFixed(1)}%`;
  return (
    <>
      {ours ? <b>{text}</b> : text}
      {scale && value != null && (
        <span className={ours ? "track same ours" : "track same"} aria-hidden>
          {low != null && high != null && (
            <i
              className="range"
              style={{ left: at(low), width: `${(100 * (scale(high) - scale(low))).toFixed(1)}%` }}
            />
          )}
          <i className="dot" style={{ left: at(value) }} />
        </span>
      )}
    </>
  );
}
