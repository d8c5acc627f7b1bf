// Alert: the slower cases, the possible actions, and the history of the alert.
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { AlertDetail } from "@/api/generated";
import { alertOptions } from "@/api/generated/@tanstack/react-query.gen";
import { AlertCells, casesTitle } from "@/components/AlertCells";
import { AlertControls } from "@/components/AlertControls";
import { AlertEvents } from "@/components/AlertEvents";
import { AlertStatus } from "@/components/AlertStatus";
import { CPU_TIME, endsOf, metricOf, subjectOf, termsOf } from "@/components/alert-model";
import { Culprits } from "@/components/Culprits";
import { storyOf } from "@/components/compared-ends";
import { FindCommitOfRun } from "@/components/FindCommitOfRun";
import type { Library } from "@/components/libraries";
import { Notifications } from "@/components/Notifications";
import { WhySection } from "@/components/WhySection";
import { count, dateTime } from "@/format";
import { paths } from "@/paths";
import { Facts, Lines } from "@/ui/Fields";
import { Failed, Loading } from "@/ui/Notes";
import { useTitle } from "@/ui/title";

const route = getRouteApi("/alerts/$alertId");

export const firstAnswer = ({ alertId }: { alertId: string }) =>
  alertOptions({ path: { alert_id: alertId } });

export function AlertPage() {
  const { alertId } = route.useParams();
  const detail = useQuery(firstAnswer({ alertId }));
  useTitle(detail.data ? subjectOf(detail.data.alert) : `Alert ${alertId}`);
  return (
    <>
      <p className="crumbs">
        <Link {...paths.alerts()}>All alerts</Link>
      </p>
      {detail.data ? (
        <Findings detail={detail.data} />
      ) : detail.isError ? (
        <>
          <h1>Alert {alertId}</h1>
          <Failed error={detail.error} retry={() => void detail.refetch()} />
        </>
      ) : (
        <Loading what="the alert" lines={10} />
      )}
    </>
  );
}

function Findings({ detail }: { detail: AlertDetail }) {
  const { alert, events } = detail;
  const { cause } = alert;
  const metric = metricOf(cause);
  const today = new Date().toISOString().slice(0, 10);
  return (
    <>
      <h1>
        {subjectOf(alert)} <AlertStatus status={alert.status} />
      </h1>
      <p className="answer">{storyOf(alert)}</p>
      <Culprits culprits={alert.culprits} />
      {cause.kind === "stale" && <p className="said bad">{cause.after}</p>}
      {events.filter((event) => event.finding).length > 1 && alert.cells.length > 0 && (
        <p>
          Several runs reported this regression. It covers {count(alert.cells.length, "comparison")} so far.
        </p>
      )}
      <p>{termsOf(alert, today).join("; ")}</p>
      <AlertControls key={alert.alert_id} detail={detail} />
      {alert.cells.length > 0 && (
        <section>
          <h2>{casesTitle(metric)}</h2>
          <AlertCells cells={alert.cells} metric={metric} subjects={subjectOf(alert)} />
        </section>
      )}
      {cause.kind === "upgrade" && cause.library && (
        <>
          <p>
            <Link {...paths.upgrade(cause.library, ...endsOf(alert))}>Full upgrade report</Link>
          </p>
          <FindCommitOfRun runId={alert.run_ids[0]} />
          {alert.subjects && metric === CPU_TIME && (
            <Why library={cause.library} subjects={alert.subjects} title={subjectOf(alert)} />
          )}
        </>
      )}
      <AlertEvents events={events} />
      <Notifications alertId={alert.alert_id} />
      <section>
        <h2>Details</h2>
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
            ["Channels", <Lines key="notify" lines={alert.notify.length > 0 ? alert.notify : ["none"]} />],
            ["Id", <code key="id">{alert.alert_id}</code>],
          ]}
        />
      </section>
    </>
  );
}

interface WhyProps {
  library: Library;
  subjects: [string, string];
  title: string;
}

function Why({ library, subjects, title }: WhyProps) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <WhySection
      library={library}
      ends={subjects}
      title={title}
      caseId={search.case}
      choose={(next) => void navigate({ search: { case: next }, replace: true })}
      uncounted="No instructions have been counted. kexbench counts for a new alert by itself, within minutes. For an older one, the full upgrade report has the command."
    />
  );
}
