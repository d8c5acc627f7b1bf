// The top of the overview: active alerts, the newest upgrade of each library, what is measured now, and named views.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { AlertPage, LibraryState, Overview, View } from "@/api/generated";
import { alertsOptions } from "@/api/generated/@tanstack/react-query.gen";
import { count, dateTime } from "@/format";
import { paths } from "@/paths";
import { AlertStatus } from "./AlertStatus";
import { mostOf, statusesOf, subjectOf } from "./alert-model";
import { sourcesOf, storyOf, titleOf } from "./compared-ends";
import { ProgressBar } from "./LiveProgress";
import { libraryTitle } from "./libraries";
import { ago, staleReasons, worstOf } from "./overview-model";
import { RunState } from "./RunState";

const POLL_MS = 15_000;
const SHOWN_ALERTS = 5;

/** Active alerts beside what is measured now. What is empty takes one line. */
export function AlertsAndRuns({ overview }: { overview: Overview }) {
  const { data } = useQuery({
    ...alertsOptions({ query: { status: statusesOf(undefined), limit: SHOWN_ALERTS } }),
    refetchInterval: POLL_MS,
  });
  const isQuiet = overview.under_way.length + overview.waiting === 0;
  const hasAlerts = data !== undefined && data.alerts.length > 0;
  if (isQuiet && !hasAlerts) return <p>{data && "No active alerts. "}No run is under way.</p>;
  return (
    <div className="twin">
      {hasAlerts ? (
        <section>
          <h2>Active alerts</h2>
          <AlertList page={data} />
        </section>
      ) : (
        data && <p>No active alerts.</p>
      )}
      {isQuiet ? <p>No run is under way.</p> : <MeasuredNow overview={overview} />}
    </div>
  );
}

function AlertList({ page: { alerts, next_before } }: { page: AlertPage }) {
  return (
    <>
      <ul className="runs">
        {alerts.map((alert) => (
          <li key={alert.alert_id} className="commit">
            <h3>
              <Link {...paths.alert(alert.alert_id)}>{subjectOf(alert)}</Link>{" "}
              <AlertStatus status={alert.status} />
            </h3>
            <p className="said">{storyOf(alert)}</p>
            {alert.cells > 0 && (
              <p>
                <b className="verdict more">{mostOf(alert)}</b> in {count(alert.cells, "comparison")}
              </p>
            )}
          </li>
        ))}
      </ul>
      {next_before && (
        <p>
          <Link {...paths.alerts()}>All active alerts</Link>
        </p>
      )}
    </>
  );
}

export function NewestUpgrades({ libraries }: { libraries: LibraryState[] }) {
  if (libraries.length === 0) return null;
  return (
    <section>
      <h2>Newest version of each library</h2>
      <ul className="answers">
        {libraries.map((state) => (
          <li key={state.library} className={worstOf(state)}>
            <LibraryEntry state={state} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function LibraryEntry({ state }: { state: LibraryState }) {
  const { library, newest, upgrade } = state;
  return (
    <>
      {upgrade ? (
        <>
          <h3>
            <Link {...paths.upgrade(library, upgrade.before.subject, upgrade.after.subject)}>
              {titleOf(upgrade)}
            </Link>
          </h3>
          <p>{storyOf(upgrade)}</p>
          <p>
            <small>{sourcesOf(upgrade)}</small>
          </p>
        </>
      ) : (
        <>
          <h3>
            {libraryTitle(library)} {newest.version}
          </h3>
          <p>No earlier version was measured in the same cases, so nothing is compared.</p>
        </>
      )}
      <Age state={state} />
    </>
  );
}

function Age({ state }: { state: LibraryState }) {
  const now = Date.now();
  const { measured_at } = state;
  return (
    <>
      <p>
        <small>
          Last measured{" "}
          <time dateTime={measured_at} title={dateTime(measured_at)}>
            {ago(measured_at, now)}
          </time>
        </small>
      </p>
      {staleReasons(state, now).map((reason) => (
        <p key={reason} className="stale">
          {reason}
        </p>
      ))}
    </>
  );
}

function MeasuredNow({ overview: { under_way, waiting } }: { overview: Overview }) {
  return (
    <section>
      <h2>Measured now</h2>
      {under_way.length === 0 && <p>No run is under way.</p>}
      <ul className="plain">
        {under_way.map((run) => (
          <li key={run.run_id}>
            <Link {...paths.run(run.run_id)}>{run.spec_name}</Link> <RunState state={run.state} />{" "}
            <ProgressBar run={run} />
          </li>
        ))}
      </ul>
      {waiting > 0 && (
        <p>
          <Link {...paths.queue()}>{waiting === 1 ? "1 run waits" : `${count(waiting, "run")} wait`}</Link>
        </p>
      )}
    </section>
  );
}

export function NamedViews({ views }: { views: View[] }) {
  if (views.length === 0) return null;
  return (
    <section>
      <h2>Views</h2>
      <ul className="links">
        {views.map((view) => (
          <li key={view.name}>
            <Link {...paths.view(view)}>{view.name}</Link>
          </li>
        ))}
      </ul>
    </section>
  );
}
