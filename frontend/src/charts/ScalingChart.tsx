// Handshakes per second over thread counts: a line a subject, its interval, and dashed what one thread promises.
import type { CSSProperties } from "react";
import { significant } from "@/format";
import { originText, versionText } from "@/subjects";
import { SHAPES } from "./palette";
import type { Curve, CurvePoint, ScalingModel } from "./scaling-model";

interface Props {
  title: string;
  model: ScalingModel;
}

const SIZE = { width: 440, height: 280, left: 64, right: 20, top: 24, bottom: 40 };
/** Subjects stand beside each other at a thread count, this many pixels apart. */
const DODGE = 7;
const MARK = 4.5;

export function ScalingChart({ title, model }: Props) {
  const { threads, ticks, top, curves } = model;
  const [first = 1, last = 1] = [threads[0], threads.at(-1)];
  const inner = { width: SIZE.width - SIZE.left - SIZE.right, height: SIZE.height - SIZE.top - SIZE.bottom };
  const pad = 0.1 * inner.width;
  const x = (at: number) =>
    SIZE.left + pad + ((at - first) / Math.max(1, last - first)) * (inner.width - 2 * pad);
  const y = (rate: number) => SIZE.top + inner.height * (1 - rate / top);
  return (
    <figure className="scaling">
      <svg
        viewBox={`0 0 ${SIZE.width} ${SIZE.height}`}
        role="img"
        aria-label={`${title}: handshakes per second over threads. The table has the numbers.`}
      >
        {ticks.map((tick) => (
          <g key={tick}>
            <line className="grid" x1={SIZE.left} x2={SIZE.width - SIZE.right} y1={y(tick)} y2={y(tick)} />
            <text x={SIZE.left - 8} y={y(tick) + 4} textAnchor="end">
              {significant(tick, 1)}
            </text>
          </g>
        ))}
        <text x={4} y={12}>
          handshakes per second
        </text>
        {threads.map((count) => (
          <text key={count} x={x(count)} y={SIZE.height - SIZE.bottom + 16} textAnchor="middle">
            {count}
          </text>
        ))}
        <text x={SIZE.left + inner.width / 2} y={SIZE.height - 6} textAnchor="middle">
          threads
        </text>
        {curves.map((curve, index) => {
          const dodge = (index - (curves.length - 1) / 2) * DODGE;
          return <Drawn key={curve.subject.subject} {...{ curve, y }} x={(at) => x(at) + dodge} />;
        })}
      </svg>
      <figcaption className="key">
        <ul>
          {curves.map(({ subject, hue, shape }) => (
            <li key={subject.subject}>
              <span style={{ color: `var(--hue-${hue % 4})` }} aria-hidden>
                {SHAPES[shape % SHAPES.length]}
              </span>{" "}
              {subject.library} {versionText(subject)} <small>{originText(subject)}</small>
            </li>
          ))}
          <li>Dashed: ideal, as many times the rate of one thread. Bars: 95% intervals.</li>
        </ul>
      </figcaption>
    </figure>
  );
}

interface DrawnProps {
  curve: Curve;
  x: (threads: number) => number;
  y: (rate: number) => number;
}

function Drawn({ curve: { hue, shape, points, ideal }, x, y }: DrawnProps) {
  const path = points.map((one) => `${x(one.threads)},${y(one.rate)}`).join(" ");
  return (
    <g className="curve" style={{ "--hue": `var(--hue-${hue % 4})` } as CSSProperties}>
      {ideal && (
        <line
          className="ideal"
          x1={x(ideal.from.threads)}
          y1={y(ideal.from.rate)}
          x2={x(ideal.to.threads)}
          y2={y(ideal.to.rate)}
        />
      )}
      <polyline points={path} />
      {points.map((one) => (
        <g key={one.threads}>
          {one.low !== null && one.high !== null && (
            <line x1={x(one.threads)} x2={x(one.threads)} y1={y(one.low)} y2={y(one.high)} />
          )}
          <Mark shape={shape} x={x(one.threads)} y={y(one.rate)} point={one} />
        </g>
      ))}
    </g>
  );
}

function Mark({ shape, x, y, point }: { shape: number; x: number; y: number; point: CurvePoint }) {
  const title = <title>{`${point.threads} threads: ${significant(point.rate)}/s`}</title>;
  switch (shape % SHAPES.length) {
    case 0:
      return (
        <circle cx={x} cy={y} r={MARK}>
          {title}
        </circle>
      );
    case 1:
      return (
        <rect x={x - MARK} y={y - MARK} width={2 * MARK} height={2 * MARK}>
          {title}
        </rect>
      );
    default:
      return (
        <path d={`M${x} ${y - 1.3 * MARK} l${1.2 * MARK} ${2.3 * MARK} h${-2.4 * MARK} Z`}>{title}</path>
      );
  }
}
