// CPU time of a process's start, step by step: a bar for each version.
import type { HostKind, LifeCase, Subject } from "@/api/generated";
import { milliseconds } from "@/format";
import { ChartFrame } from "@/ui/ChartFrame";
import { captionOf, subjectsText } from "./chart-caption";
import { subjectTitle } from "./libraries";
import { START_STEPS, startsOf } from "./life-model";

/** The share of a step that is not told. */
const NEGLIGIBLE = 0.005;

interface Props {
  shown: LifeCase;
  subjects: Subject[];
  hostKind: HostKind;
}

export function StartBars({ shown, subjects, hostKind }: Props) {
  const starts = startsOf(shown, subjects);
  if (starts.length === 0) return null;
  const most = Math.max(...starts.map(({ totalNs }) => totalNs));
  const title = "CPU time from a process's start to its first handshake";
  return (
    <ChartFrame caption={captionOf({ title, subjects: subjectsText(subjects), hosts: [hostKind] })}>
      <h3>{title}</h3>
      <p className="key">
        {START_STEPS.map(([metric, name], place) => (
          <span key={metric}>
            <i className={`block step-${place}`} aria-hidden /> {name}{" "}
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
                  <i
                    key={metric}
                    className={`block step-${START_STEPS.findIndex(([each]) => each === metric)}`}
                    style={{ width: `${(100 * ns) / most}%` }}
                  />
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
