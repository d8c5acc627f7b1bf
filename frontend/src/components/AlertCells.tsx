// The cells of an alert: how much slower each is, and on which side; of other metrics the values before and after.
import type { AlertCell, Metric } from "@/api/generated";
import { changeInWords, metricWords, percentInterval } from "@/format";
import { CPU_TIME, sideText, sizeOf } from "./alert-model";
import { CaseMoves } from "./ChangeMoves";
import { bySize, isOnSeveral } from "./change-model";
import { HostName } from "./HostName";

interface Props {
  cells: AlertCell[];
  metric: Metric;
  /** the versions in words */
  subjects: string;
}

export function AlertCells({ cells, metric, subjects }: Props) {
  const located = cells.map(({ pool, cpu_model, ...cell }) => ({ ...cell, host_kind: { pool, cpu_model } }));
  const [first] = located;
  return (
    <>
      <p>
        {metric === CPU_TIME
          ? "CPU time per handshake, client and server together, with 95% confidence intervals"
          : `Before and after: ${metricWords(metric)}`}
        {!isOnSeveral(located.map(({ host_kind }) => host_kind)) && first && (
          <>
            , on <HostName kind={first.host_kind} />
          </>
        )}
        .
      </p>
      <CaseMoves
        title={casesTitle(metric)}
        subjects={subjects}
        cells={bySize(located)}
        drawn={({ move, side, before, after }) => ({
          marks: move ? [{ ink: "more", move }] : [],
          words:
            metric === CPU_TIME && move ? (
              <>
                <b className="verdict more">{changeInWords(move.ratio, metric)}</b> {percentInterval(move)}
                <small className="below">{sideText(side)}</small>
              </>
            ) : (
              <b className="verdict more">{sizeOf(metric, { move, before, after })}</b>
            ),
        })}
      />
    </>
  );
}

/** "Slower cases", "Cases with more server bytes" */
export function casesTitle(metric: Metric): string {
  return metric === CPU_TIME ? "Slower cases" : `Cases with more ${metricWords(metric)}`;
}
