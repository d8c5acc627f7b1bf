// CPU time of a process's start, step by step: a bar for each version.
import type { HostKind, LifeCase, Metric, Subject } from "@/api/generated";
import { milliseconds } from "@/format";
import { ChartFrame } from "@/ui/ChartFrame";
import { captionOf, subjectsText } from "./chart-caption";
import { subjectTitle } from "./libraries";
import { START_STEPS, startsOf, sumOf, UNDIVIDED } from "./life-model";

/** The share of a step that is not told. */
const NEGLIGIBLE = 0.005;

const STEPS_AND_REST: readonly (readonly [Metric, string])[] = [...START_STEPS, UNDIVIDED];

interface Props {
  shown: LifeCase;
  subjects: Subject[];
  hostKind: HostKind;
}

export function StartBars({ shown, subjects, hostKind }: Props) {
  const starts = startsOf(shown, subjects);
  if (starts.length === 0) return null;
  const most = Math.max(...starts.map(({ totalNs, steps }) => Math.max(totalNs, sumOf(steps))));
  const shownSteps = STEPS_AND_REST.filter(([metric]) =>
    starts.some(({ steps }) => steps.some((step) => step.metric === metric)),
  );
  const title = "CPU time from a process's start to its first handshake";
  return (
    <ChartFrame caption={captionOf({ title, subjects: subjectsText(subjects), hosts: [hostKind] })}>
      <h3>{title}</h3>
      <p className="key">
        Bars to {milliseconds(most)}:{" "}
        {shownSteps.map(([metric, name]) => (
          <span key={metric}>
            <i className={blockOf(metric)} aria-hidden /> {name}{" "}
          </span>
        ))}
      </p>
      <dl className="starts">
        {starts.map(({ subject, steps, totalNs }) => (
          <div key={subject.name}>
            <dt>{subjectTitle(subject)}</dt>
            <dd>
              <span className="blocks" aria-hidden>
                {steps.map(({ metric, ns }) => (
                  <i key={metric} className={blockOf(metric)} style={{ width: `${(100 * ns) / most}%` }} />
                ))}
              </span>
              <small>
                {milliseconds(totalNs)}:{" "}
                {steps
                  .filter(({ ns }) => ns > NEGLIGIBLE * totalNs)
                  .map(({ name, ns }) => `${name} ${milliseconds(ns, 3)}`)
                  .join(", ")}
              </small>
            </dd>
          </div>
        ))}
      </dl>
    </ChartFrame>
  );
}

function blockOf(metric: Metric): string {
  return `block step-${STEPS_AND_REST.findIndex(([each]) => each === metric)}`;
}
