// The events of a run, oldest first. Screen readers announce new events of an open run.
import type { RunEvent } from "@/api/generated";
import { dateTimeSeconds } from "@/format";
import { type EventLine, eventLines, isEventful } from "./event-lines";
import { RunState } from "./RunState";

export function EventSection({ events }: { events: RunEvent[] }) {
  if (!isEventful(events)) return null;
  return (
    <section>
      <h2 id="events">Events</h2>
      <div role="log" aria-labelledby="events">
        <ol className="events">
          {eventLines(events).map((line) => (
            <li key={`${line.first} ${line.state}`}>
              <time dateTime={line.first}>{dateTimeSeconds(line.first)}</time>
              <RunState state={line.state} />
              <Detail line={line} />
            </li>
          ))}
        </ol>
      </div>
    </section>
  );
}

function Detail({ line: { detail, times, last } }: { line: EventLine }) {
  if (!detail && times === 1) return null;
  return (
    <p>
      {detail}
      {times > 1 && (
        <small className="below">
          {times} times, last on <time dateTime={last}>{dateTimeSeconds(last)}</time>
        </small>
      )}
    </p>
  );
}
