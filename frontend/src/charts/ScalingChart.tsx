// A rate by thread count or by connections at once: one line per subject with its intervals, and of threads the ideal
// rate as a dashed line.
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
/** The distance in pixels between subjects at the same place. */
const DODGE = 7;
const MARK = 4.5;

export function ScalingChart({ title, model }: Props) {
  const { words, places, ticks, top, curves } = model;
  const scaled = model.doubling ? Math.log2 : (at: number) => at;
  const [first = 1, last = 1] = [places[0], places.at(-1)].map((place = 1) => scaled(place));
  const inner = { width: SIZE.width - SIZE.left - SIZE.right, height: SIZE.height - SIZE.top - SIZE.bottom };
  const pad = 0.1 * inner.width;
  const x = (at: number) =>
    SIZE.left + pad + ((scaled(at) - first) / Math.max(1, last - first)) * (inner.width - 2 * pad);
  const y = (rate: number) => SIZE.top + inner.height * (1 - rate / top);
  return (
    <figure className="scaling">
      <svg
        viewBox={`0 0 ${SIZE.width} ${SIZE.height}`}
        role="img"
        aria-label={`${title}: ${words.rate} by ${words.at}. The table lists the values.`}
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
          {words.rate}
        </text>
        {places.map((count) => (
          <text key={count} x={x(count)} y={SIZE.height - SIZE.bottom + 16} textAnchor="middle">
            {count}
          </text>
        ))}
        <text x={SIZE.left + inner.width / 2} y={SIZE.height - 6} textAnchor="middle">
          {words.at}
        </text>
        {curves.map((curve, index) => {
          const dodge = (index - (curves.length - 1) / 2) * DODGE;
          return <Drawn key={curve.subject.name} {...{ curve, y }} at={words.at} x={(at) => x(at) + dodge} />;
        })}
      </svg>
      <figcaption className="key">
        <ul>
          {curves.map(({ subject, hue, shape }) => (
            <li key={subject.name}>
              <span style={{ color: `var(--hue-${hue % 4})` }} aria-hidden>
                {SHAPES[shape % SHAPES.length]}
              </span>{" "}
              {subject.library} {versionText(subject)} <small>{originText(subject)}</small>
            </li>
          ))}
          <li>
            {curves.some(({ ideal }) => ideal) &&
              "Dashed line: ideal scaling from one thread alone, each thread in turn. "}
            Bars: 95% confidence intervals.
          </li>
        </ul>
      </figcaption>
    </figure>
  );
}

interface DrawnProps {
  curve: Curve;
  at: string;
  x: (at: number) => number;
  y: (rate: number) => number;
}

function Drawn({ curve: { hue, shape, points, ideal }, at, x, y }: DrawnProps) {
  const path = points.map((point) => `${x(point.at)},${y(point.rate)}`).join(" ");
  return (
    <g className="curve" style={{ "--hue": `var(--hue-${hue % 4})` } as CSSProperties}>
      {ideal && (
        <line
          className="ideal"
          x1={x(ideal.from.at)}
          y1={y(ideal.from.rate)}
          x2={x(ideal.to.at)}
          y2={y(ideal.to.rate)}
        />
      )}
      <polyline points={path} />
      {points.map((point) => (
        <g key={point.at}>
          {point.low !== null && point.high !== null && (
            <line x1={x(point.at)} x2={x(point.at)} y1={y(point.low)} y2={y(point.high)} />
          )}
          <Mark shape={shape} x={x(point.at)} y={y(point.rate)} point={point} at={at} />
        </g>
      ))}
    </g>
  );
}

function Mark({
  shape,
  x,
  y,
  point,
  at,
}: {
  shape: number;
  x: number;
  y: number;
  point: CurvePoint;
  at: string;
}) {
  const title = <title>{`${point.at} ${at}: ${significant(point.rate)}/s`}</title>;
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
