// The batches of each invocation as a strip of dots, with its quantiles and the line of the medians.
import type { InvocationBatches, Metric } from "@/api/generated";
import { cost } from "@/format";
import { batchesModel } from "./batches-model";
import { useWidth } from "./use-plot";

interface Props {
  label: string;
  metric: Metric;
  invocations: InvocationBatches[];
}

const SIZE = { height: 320, left: 84, right: 12, top: 12, bottom: 36 };
const MOST_NAMES = 12;

export function BatchesChart({ label, metric, invocations }: Props) {
  const { target, width } = useWidth();
  return (
    <figure className="batches">
      <div ref={target}>{width > 0 && <Plot {...{ label, metric, invocations, width }} />}</div>
      <figcaption className="key">
        <ul>
          <li>Dots: batches.</li>
          <li>Boxes: the middle half, with the median.</li>
          <li>Bars: the 5th to the 95th percentile.</li>
          <li>Line: the medians of the invocations.</li>
        </ul>
      </figcaption>
    </figure>
  );
}

function Plot({ label, metric, invocations, width }: Props & { width: number }) {
  const { low, high, ticks } = batchesModel(invocations);
  const slot = (width - SIZE.left - SIZE.right) / invocations.length;
  const x = (index: number) => SIZE.left + (index + 0.5) * slot;
  const y = (value: number) =>
    SIZE.top + (SIZE.height - SIZE.top - SIZE.bottom) * (1 - (value - low) / (high - low));
  const strip = Math.min(14, 0.6 * slot);
  const every = Math.ceil(invocations.length / Math.min(MOST_NAMES, Math.max(1, Math.floor(width / 60))));
  return (
    <svg
      width={width}
      height={SIZE.height}
      role="img"
      aria-label={`${label}. The table lists the quantiles.`}
    >
      {ticks.map((tick) => (
        <g key={tick}>
          <line className="grid" x1={SIZE.left} x2={width - SIZE.right} y1={y(tick)} y2={y(tick)} />
          <text x={SIZE.left - 8} y={y(tick) + 4} textAnchor="end">
            {cost(tick, metric)}
          </text>
        </g>
      ))}
      <path className="dots" d={dots(invocations, x, y, strip)} />
      <polyline points={invocations.map(({ p50 }, index) => `${x(index)},${y(p50)}`).join(" ")} />
      {invocations.map((one, index) => (
        <g key={`${one.job_id} ${one.invocation}`}>
          <line x1={x(index)} x2={x(index)} y1={y(one.p05)} y2={y(one.p95)} />
          <rect
            x={x(index) - strip / 2}
            y={y(one.p75)}
            width={strip}
            height={Math.max(1, y(one.p25) - y(one.p75))}
          />
          <line
            className="median"
            x1={x(index) - strip / 2}
            x2={x(index) + strip / 2}
            y1={y(one.p50)}
            y2={y(one.p50)}
          />
          {index % every === 0 && (
            <text x={x(index)} y={SIZE.height - SIZE.bottom + 16} textAnchor="middle">
              {index + 1}
            </text>
          )}
        </g>
      ))}
      <text x={SIZE.left + (width - SIZE.left - SIZE.right) / 2} y={SIZE.height - 4} textAnchor="middle">
        invocation
      </text>
    </svg>
  );
}

/** All batches as one path of round line ends: thousands of elements would be slow. Rounds go from left to right. */
function dots(
  invocations: InvocationBatches[],
  x: (index: number) => number,
  y: (value: number) => number,
  strip: number,
): string {
  return invocations
    .flatMap(({ batches }, index) =>
      batches.flatMap((value, round) => {
        if (value === null) return [];
        const aside = batches.length > 1 ? (round / (batches.length - 1) - 0.5) * strip : 0;
        return [`M${(x(index) + aside).toFixed(1)} ${y(value).toFixed(1)}h0`];
      }),
    )
    .join("");
}
