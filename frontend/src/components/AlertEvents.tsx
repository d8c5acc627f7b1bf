// The events of an alert, oldest first: who did what, when, and their notes.
import { Link } from "@tanstack/react-router";
import type { AlertEvent } from "@/api/generated";
import { dateTime } from "@/format";
import { paths } from "@/paths";
import { deedOf } from "./alert-model";

export function AlertEvents({ events }: { events: AlertEvent[] }) {
  return (
    <section>
      <h2 id="events">Events</h2>
      <div role="log" aria-labelledby="events">
        <ol className="events">
          {events.map((event) => (
            <li key={event.number}>
              <time dateTime={event.at}>{dateTime(event.at)}</time>
              <b>
                {event.author} {deedOf(event)}
              </b>
              <Note event={event} />
            </li>
          ))}
        </ol>
      </div>
    </section>
  );
}

function Note({ event: { note, finding } }: { event: AlertEvent }) {
  if (!note && !finding) return null;
  return (
    <p>
      {note}
      {finding?.sentence}
      {finding?.run_ids.map((runId) => (
        <Link key={runId} {...paths.run(runId)} className="below">
          run {runId}
        </Link>
      ))}
    </p>
  );
}
