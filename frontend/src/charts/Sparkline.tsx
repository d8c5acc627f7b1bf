// The history of a cell over versions as a small line. Squares mark the baseline, dots what it is compared with.
import type { CellHistory, HistoryLine } from "@/api/generated";
import { type SparkLine, sparkLines, sparkText } from "./sparkline-model";

const SIZE = { width: 110, height: 30, pad: 5 };
const MARK = 3;

interface Props {
  history: CellHistory[];
  lines: HistoryLine[];
}

export function Sparkline({ history, lines }: Props) {
  return (
    <svg
      className="sparkline"
      width={SIZE.width}
      height={SIZE.height}
      role="img"
      aria-label={sparkText(history, lines)}
    >
      {sparkLines(history, lines).map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other name
        <Drawn key={index} line={line} dashed={index > 0} />
      ))}
    </svg>
  );
}

function Drawn({ line: { parts, base, other }, dashed }: { line: SparkLine; dashed: boolean }) {
  return (
    <g>
      {parts.map((part) => (
        <polyline
          key={part[0]?.[0]}
          points={part.map((point) => place(point).join(",")).join(" ")}
          strokeDasharray={dashed ? "3 2" : undefined}
        />
      ))}
      {base && <Square at={place(base)} />}
      {other && <Dot at={place(other)} />}
    </g>
  );
}

function Square({ at: [x, y] }: { at: [number, number] }) {
  return <rect x={x - MARK} y={y - MARK} width={2 * MARK} height={2 * MARK} />;
}

function Dot({ at: [x, y] }: { at: [number, number] }) {
  return <circle cx={x} cy={y} r={MARK} />;
}

function place([x, y]: [number, number]): [number, number] {
  const { width, height, pad } = SIZE;
  return [pad + x * (width - 2 * pad), height - pad - y * (height - 2 * pad)];
}
