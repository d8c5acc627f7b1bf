// What every page has: name, navigation, the service's state.
import { useQuery } from "@tanstack/react-query";
import { Link, Outlet } from "@tanstack/react-router";
import { alertsOptions, healthOptions } from "@/api/generated/@tanstack/react-query.gen";
import { dateTime } from "@/format";
import { paths } from "@/paths";

export function Layout() {
  return (
    <>
      <a className="skip" href="#content">
        Skip to content
      </a>
      <header>
        <Link {...paths.home()} className="brand">
          kexbench
        </Link>
        <nav aria-label="Pages">
          <Link {...paths.home()} activeOptions={{ exact: true, includeSearch: false }}>
            Matrix
          </Link>
          <Link {...paths.upgrades()} activeOptions={{ includeSearch: false }}>
            Upgrades
          </Link>
          <Link {...paths.alerts()} activeOptions={{ includeSearch: false }}>
            Alerts <OpenAlerts />
          </Link>
          <Link {...paths.scaling()} activeOptions={{ includeSearch: false }}>
            Scaling
          </Link>
          <Link {...paths.machine()} activeOptions={{ includeSearch: false }}>
            Machine
          </Link>
          <Link {...paths.queue()}>Queue</Link>
          <Link {...paths.runs()} activeOptions={{ includeSearch: false }}>
            Runs
          </Link>
          <Link {...paths.commits()} activeOptions={{ includeSearch: false }}>
            Commits
          </Link>
          <Link {...paths.bisections()} activeOptions={{ includeSearch: false }}>
            Bisections
          </Link>
          <Link {...paths.scorecard()}>Scorecard</Link>
        </nav>
      </header>
      <main id="content" tabIndex={-1}>
        <Outlet />
      </main>
      <footer>
        <ServiceState />
      </footer>
    </>
  );
}

/** How many are open: what somebody should look at. */
function OpenAlerts() {
  const { data } = useQuery({ ...alertsOptions({ query: { limit: 1 } }), refetchInterval: 60_000 });
  const open = data?.counts.open ?? 0;
  if (open === 0) return null;
  return (
    <span className="amount">
      {open}
      <span className="visually-hidden"> open</span>
    </span>
  );
}

function ServiceState() {
  const health = useQuery({ ...healthOptions(), refetchInterval: 60_000 });
  if (health.data) {
    const { version, engine, status, troubles } = health.data;
    return (
      <>
        <p>
          kexbench {version}, {engine ?? "store not reached"}: {status}.{" "}
          <a href="/api/v1/openapi.json">API</a>
        </p>
        {troubles.map(({ part, since, reason }) => (
          <p key={part} role="alert">
            {part} does not work since {dateTime(since)}: {reason}
          </p>
        ))}
      </>
    );
  }
  return <p>{health.isError ? "The service doesn’t answer." : "Asking the service…"}</p>;
}
