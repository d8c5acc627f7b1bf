// What happened to a run, oldest first. While it is open, what is new is read out.
import type { RunEvent } from "@/api/generated";
import { dateTimeSeconds } from "@/format";
import { type EventLine, eventLines, isEventful } from "./event-lines";
import { RunState } from "./RunState";

export function EventSection({ events }: { events: RunEvent[] }) {
  if (!isEventful(events)) return null;
  return (
    <section>
      <h2 id="what-happened">What happened</h2>
      <div role="log" aria-labelledby="what-happened">
        <ol className="events">
          {eventLines(events).map((line) => (
            <li key={`${line.first} ${line.state}`}>
              <time dateTime={line.first}>{dateTimeSeconds(line.first)}</time>
              <RunState state={line.state} />
              <Words line={line} />
            </li>
          ))}
        </ol>
      </div>
    </section>
  );
}

function Words({ line: { detail, times, last } }: { line: EventLine }) {
  if (!detail && times === 1) return null;
  return (
    <p>
      {detail}
      {times > 1 && (
        <small className="below">
          {times} times, last <time dateTime={last}>{dateTimeSeconds(last)}</time>
        </small>
      )}
    </p>
  );
}
