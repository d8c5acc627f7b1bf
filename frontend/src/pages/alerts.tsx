// Alerts: by library; then recent screenings and notifications.

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { AlertPage, AlertSummary, UnderConfirmation as Suspicion } from "@/api/generated";
import { alertsOptions, filtersOptions } from "@/api/generated/@tanstack/react-query.gen";
import { AlertStatus } from "@/components/AlertStatus";
import {
  groupsOf,
  looksText,
  mostOf,
  statusChoices,
  statusesOf,
  subjectOf,
  termsOf,
} from "@/components/alert-model";
import { storyOf } from "@/components/compared-ends";
import { Notifications } from "@/components/Notifications";
import { RunState } from "@/components/RunState";
import { RunsAside } from "@/components/RunsAside";
import { Screenings } from "@/components/Screenings";
import { cpuName } from "@/cpu-name";
import { count, dateTime } from "@/format";
import { paths } from "@/paths";
import type { AlertsSearch } from "@/search";
import { Code } from "@/ui/Code";
import { Controls } from "@/ui/Controls";
import { Select } from "@/ui/Fields";
import { Empty, Failed, Loading } from "@/ui/Notes";
import { useTitle } from "@/ui/title";

const route = getRouteApi("/alerts");
const PAGE = 50;
const POLL_MS = 15_000;
const EXAMPLE = `alerts:
  relevant: 1%
  notify: [crypto-team]`;

export const firstAnswer = ({ status, library, metric, before }: AlertsSearch) =>
  alertsOptions({
    query: {
      status: statusesOf(status),
      library: library ? [library] : undefined,
      metric: metric ? [metric] : undefined,
      before,
      limit: PAGE,
    },
  });

export function AlertsPage() {
  const { status, library, metric, before } = route.useSearch();
  const alerts = useQuery({
    ...firstAnswer({ status, library, metric, before }),
    placeholderData: keepPreviousData,
    refetchInterval: POLL_MS,
  });
  useTitle("Alerts");
  const next = alerts.data?.next_before;
  return (
    <>
      <h1>Alerts</h1>
      <RunsAside />
      {alerts.data ? (
        <>
          <UnderConfirmation suspicions={alerts.data.confirming} />
          <Choices page={alerts.data} />
          <Alerts page={alerts.data} />
        </>
      ) : alerts.isError ? (
        <Failed error={alerts.error} retry={() => void alerts.refetch()} />
      ) : (
        <Loading what="the alerts" />
      )}
      <nav className="pager" aria-label="Pages of alerts">
        {before && <Link {...paths.alerts({ status, library, metric })}>Newest</Link>}
        {next && <Link {...paths.alerts({ status, library, metric, before: next })}>Older</Link>}
      </nav>
      <Screenings />
      <Notifications />
    </>
  );
}

/** They may become alerts, so "no alerts" is not the whole answer. */
function UnderConfirmation({ suspicions }: { suspicions: Suspicion[] }) {
  if (suspicions.length === 0) return null;
  return (
    <section>
      <h2>Being confirmed</h2>
      <ul className="plain">
        {suspicions.map(
          ({ confirmation_run, library, metrics, before, after, cells, state, expected_end_at }) => (
            <li key={confirmation_run}>
              <Link {...paths.upgrade(library, before.subject, after.subject)}>
                {before.label} → {after.version}
              </Link>{" "}
              {looksText(metrics)} in {count(cells, "case")}.{" "}
              <Link {...paths.run(confirmation_run)}>A run of its own</Link> decides:{" "}
              <RunState state={state} />
              {expected_end_at && `, until about ${dateTime(expected_end_at)}`}
            </li>
          ),
        )}
      </ul>
    </section>
  );
}

function Choices({ page: { counts } }: { page: AlertPage }) {
  const { status = "", library = "", metric = "" } = route.useSearch();
  const { libraries = [], metrics = [] } = useQuery(filtersOptions()).data ?? {};
  const navigate = route.useNavigate();
  const change = (next: AlertsSearch) =>
    void navigate({ search: (now) => ({ ...now, before: undefined, ...next }), replace: true });
  return (
    <Controls>
      <Select
        label="Status"
        value={status}
        choices={statusChoices(counts)}
        choose={(chosen) => change({ status: chosen || undefined })}
      />
      {(libraries.length > 1 || library) && (
        <Select
          label="Library"
          value={library}
          choices={[{ value: "", label: "all" }, ...libraries.map((name) => ({ value: name, label: name }))]}
          choose={(chosen) => change({ library: chosen || undefined })}
        />
      )}
      <Select
        label="Metric"
        value={metric}
        choices={[
          { value: "" as const, label: "all" },
          ...metrics.map(({ metric: value, title }) => ({ value, label: title })),
        ]}
        choose={(chosen) => change({ metric: chosen || undefined })}
      />
    </Controls>
  );
}

function Alerts({ page: { alerts, counts } }: { page: AlertPage }) {
  const { status } = route.useSearch();
  if (alerts.length === 0 && Object.keys(counts).length > 0) {
    return (
      <Empty title={status ? "No matching alerts" : "No active alerts"}>
        <p>
          <Link {...paths.alerts({ status: "all" })}>Show all alerts</Link>
        </p>
      </Empty>
    );
  }
  if (alerts.length === 0) return <NothingYet />;
  return groupsOf(alerts).map(({ title, alerts: group }) => (
    <section key={title}>
      <h2>{title}</h2>
      <ul className="runs">
        {group.map((alert) => (
          <li key={alert.alert_id} className="commit">
            <AlertItem alert={alert} />
          </li>
        ))}
      </ul>
    </section>
  ));
}

function AlertItem({ alert }: { alert: AlertSummary }) {
  const today = new Date().toISOString().slice(0, 10);
  const { raised_at, cause } = alert;
  return (
    <>
      <h3>
        <Link {...paths.alert(alert.alert_id)}>{subjectOf(alert)}</Link> <AlertStatus status={alert.status} />
      </h3>
      <p className="said">{storyOf(alert)}</p>
      {cause.kind === "stale" && <p className="said bad">{cause.after}</p>}
      {alert.cells > 0 && (
        <p>
          <b className="verdict more">{mostOf(alert)}</b> in {count(alert.cells, "comparison")} on{" "}
          <span title={alert.cpu_models.join("; ")}>
            {alert.cpu_models.map((cpu) => cpuName(cpu, alert.cpu_models)).join("; ")}
          </span>
        </p>
      )}
      <p>
        raised <time dateTime={raised_at}>{dateTime(raised_at)}</time>
        {termsOf(alert, today).map((term) => `; ${term}`)}
      </p>
    </>
  );
}

function NothingYet() {
  return (
    <Empty title="No alerts">
      <p>
        To get alerts, add an <code>alerts:</code> section to a spec. If a version looks slower, kexbench
        measures it again. Only confirmed regressions raise alerts. More bytes, records, round trips, memory
        or allocations are confirmed at once.
      </p>
      <Code>{EXAMPLE}</Code>
      <p>This spec has such a section and covers all tracked versions of the libraries:</p>
      <Code className="command">kexbench run bench-specs/history.yaml</Code>
      <p>Show what the section would suspect in the stored runs of this spec, without measuring:</p>
      <Code className="command">kexbench alerts dry-run bench-specs/history.yaml</Code>
    </Empty>
  );
}
