// The frame of every page: name, navigation and the service's state.
import { useQuery } from "@tanstack/react-query";
import { Link, Outlet } from "@tanstack/react-router";
import { Children, type MouseEvent, type ReactNode, useId } from "react";
import { alertsOptions, healthOptions } from "@/api/generated/@tanstack/react-query.gen";
import { dateTime } from "@/format";
import { paths } from "@/paths";
import { site } from "@/published";

export function Layout() {
  return (
    <>
      {/* biome-ignore lint/a11y/useValidAnchor: it leads to a part of this page */}
      <a className="skip" href="#content" onClick={skip}>
        Skip to content
      </a>
      <header>
        <Link {...paths.home()} className="brand">
          kexbench
        </Link>
        <nav className="nav-groups" aria-label="Pages">
          <Group title="Results">
            <Link {...paths.home()} activeOptions={{ exact: true, includeSearch: false }}>
              Overview
            </Link>
            {!site && (
              <Link {...paths.trends()} activeOptions={{ includeSearch: false }}>
                Trends
              </Link>
            )}
            {!site && (
              <Link {...paths.cpus()} activeOptions={{ includeSearch: false }}>
                CPUs
              </Link>
            )}
            {!site && (
              <Link {...paths.compare()} activeOptions={{ includeSearch: false }}>
                Compare
              </Link>
            )}
            <Link {...paths.upgrades()} activeOptions={{ includeSearch: false }}>
              Upgrades
            </Link>
            {!site && (
              <Link {...paths.alerts()} activeOptions={{ includeSearch: false }}>
                Alerts <OpenAlerts />
              </Link>
            )}
          </Group>
          {!site && (
            <>
              <Group title="Questions">
                <Link {...paths.forwardSecrecy()} activeOptions={{ includeSearch: false }}>
                  Forward secrecy
                </Link>
                <Link {...paths.scaling()} activeOptions={{ includeSearch: false }}>
                  Scaling
                </Link>
                <Link {...paths.capacity()} activeOptions={{ includeSearch: false }}>
                  Capacity
                </Link>
                <Link {...paths.articles()}>Articles</Link>
              </Group>
              <Group title="Measuring">
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
              </Group>
              <Group title="Trust">
                <Link {...paths.machine()} activeOptions={{ includeSearch: false }}>
                  Machine
                </Link>
                <Link {...paths.scorecard()}>Scorecard</Link>
              </Group>
            </>
          )}
        </nav>
      </header>
      <main id="content" tabIndex={-1}>
        <Outlet />
      </main>
      <footer>
        {site ? (
          <p>
            Published with kexbench {site.version}. Newest result: {dateTime(site.newest)}.
          </p>
        ) : (
          <ServiceState />
        )}
      </footer>
    </>
  );
}

/** Not by the address, whose hash is the page's in a published site. */
function skip(event: MouseEvent) {
  event.preventDefault();
  document.getElementById("content")?.focus();
}

/** The children are links: those of a fragment would share one item. */
function Group({ title, children }: { title: string; children: ReactNode }) {
  const id = useId();
  return (
    <div>
      <span className="nav-title" id={id}>
        {title}
      </span>
      <ul className="nav-links" aria-labelledby={id}>
        {Children.map(Children.toArray(children), (link) => (
          <li>{link}</li>
        ))}
      </ul>
    </div>
  );
}

/** The number of open alerts. */
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
          kexbench {version}. Store: {engine ?? "unreachable"}. Status: {status}.{" "}
          <a href="/api/v1/openapi.json">API</a>
        </p>
        {troubles.map(({ part, since, reason }) => (
          <p key={part} role="alert">
            {part} has been failing since {dateTime(since)}: {reason}
          </p>
        ))}
      </>
    );
  }
  return <p>{health.isError ? "The service is not responding." : "Connecting to the service…"}</p>;
}
