// Alert: what costs more, what somebody may do about it, and everything that happened to it.
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { AlertDetail } from "@/api/generated";
import { alertOptions } from "@/api/generated/@tanstack/react-query.gen";
import { AlertCells } from "@/components/AlertCells";
import { AlertControls } from "@/components/AlertControls";
import { AlertEvents } from "@/components/AlertEvents";
import { AlertStatus } from "@/components/AlertStatus";
import { endsOf, subjectOf, termsOf } from "@/components/alert-model";
import { FindCommitOfRun } from "@/components/FindCommitOfRun";
import { Notifications } from "@/components/Notifications";
import { storyOf } from "@/components/upgrade-model";
import { count, dateTime } from "@/format";
import { paths } from "@/paths";
import { Facts, Lines } from "@/ui/Fields";
import { Failed, Loading } from "@/ui/Notes";
import { useTitle } from "@/ui/title";

const route = getRouteApi("/alerts/$alertId");

export function AlertPage() {
  const { alertId } = route.useParams();
  const found = useQuery(alertOptions({ path: { alert_id: alertId } }));
  useTitle(found.data ? subjectOf(found.data.alert) : `Alert ${alertId}`);
  return (
    <>
      <p className="crumbs">
        <Link {...paths.alerts()}>All alerts</Link>
      </p>
      {found.data ? (
        <Findings found={found.data} />
      ) : found.isError ? (
        <>
          <h1>Alert {alertId}</h1>
          <Failed error={found.error} retry={() => void found.refetch()} />
        </>
      ) : (
        <Loading what="the alert" lines={10} />
      )}
    </>
  );
}

function Findings({ found }: { found: AlertDetail }) {
  const { alert, events } = found;
  const { cause } = alert;
  const today = new Date().toISOString().slice(0, 10);
  return (
    <>
      <h1>
        {subjectOf(alert)} <AlertStatus status={alert.status} />
      </h1>
      <p className="answer">{storyOf(alert)}</p>
      {cause.kind === "stale" && <p className="said bad">{cause.after}</p>}
      {events.filter((one) => one.finding).length > 1 && alert.cells.length > 0 && (
        <p>Found more than once: {count(alert.cells.length, "comparison")} by now.</p>
      )}
      <p>{termsOf(alert, today).join("; ")}</p>
      <AlertControls key={alert.alert_id} found={found} />
      {alert.cells.length > 0 && (
        <section>
          <h2>What costs more</h2>
          <AlertCells cells={alert.cells} />
        </section>
      )}
      {cause.kind === "upgrade" && cause.library && (
        <>
          <p>
            <Link {...paths.upgrade(cause.library, ...endsOf(alert))}>Everything about this upgrade</Link>
          </p>
          <FindCommitOfRun runId={alert.run_ids[0]} />
        </>
      )}
      <AlertEvents events={events} />
      <Notifications alertId={alert.alert_id} />
      <section>
        <h2>Alert</h2>
        <Facts
          facts={[
            ["Raised", dateTime(alert.raised_at)],
            ["Changed", dateTime(alert.changed_at)],
            ["Specs", alert.spec_names.join(", ")],
            [
              "Runs",
              alert.run_ids.map((runId) => (
                <Link key={runId} {...paths.run(runId)} className="below">
                  {runId}
                </Link>
              )),
            ],
            [
              "Told at",
              <Lines key="notify" lines={alert.notify.length > 0 ? alert.notify : ["no channel"]} />,
            ],
            ["Id", <code key="id">{alert.alert_id}</code>],
          ]}
        />
      </section>
    </>
  );
}
