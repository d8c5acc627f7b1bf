// The frame of every page: name, navigation and the service's state.
import { useQuery } from "@tanstack/react-query";
import { Link, Outlet, useLocation } from "@tanstack/react-router";
import { Children, type MouseEvent, type ReactNode, useId, useState } from "react";
import { alertsOptions, healthOptions } from "@/api/generated/@tanstack/react-query.gen";
import { Account, LoginFirst } from "@/components/Account";
import { navigation } from "@/components/navigation";
import { Search } from "@/components/Search";
import { troubleWords } from "@/components/trouble-words";
import { useMe } from "@/components/use-me";
import { dateTime } from "@/format";
import { paths } from "@/paths";
import { site } from "@/published";

export function Layout() {
  const me = useMe();
  const [isOpen, setOpen] = useState(false);
  const { pathname } = useLocation();
  const here = navigation
    .flatMap(({ destinations }) => destinations)
    .find(({ link }) => link.to === pathname);
  return (
    <>
      {/* biome-ignore lint/a11y/useValidAnchor: it leads to a part of this page */}
      <a className="skip" href="#content" onClick={skip}>
        Skip to content
      </a>
      <header>
        <div className="masthead">
          <Link {...paths.home()} className="brand">
            kexbench
          </Link>
          <button
            type="button"
            className="menu"
            aria-expanded={isOpen}
            aria-controls="pages"
            onClick={() => setOpen(!isOpen)}
          >
            <span className="visually-hidden">Pages: </span>
            {here?.title ?? "Pages"} <span aria-hidden>{isOpen ? "▴" : "▾"}</span>
          </button>
          <Search />
        </div>
        <nav id="pages" className={isOpen ? "nav-groups open" : "nav-groups"} aria-label="Pages">
          {navigation.map(({ title, destinations }) => (
            <Group key={title} title={title}>
              {destinations.map(({ title, link, countsAlerts }) => (
                <Link
                  key={title}
                  {...link}
                  onClick={() => setOpen(false)}
                  activeOptions={{ exact: link.to === "/", includeSearch: false }}
                >
                  {title} {countsAlerts && <OpenAlerts />}
                </Link>
              ))}
            </Group>
          ))}
        </nav>
      </header>
      <main id="content" tabIndex={-1}>
        {me?.login && !me.may_read ? <LoginFirst login={me.login} /> : <Outlet />}
      </main>
      <footer>
        {site ? (
          <p>
            Published with kexbench {site.version}. Newest result: {dateTime(site.newest)}.
          </p>
        ) : (
          <>
            <Account />
            <ServiceState />
          </>
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
          <a href="/api/v1/openapi.json">API</a>. To publish these results as a static site, run{" "}
          <code>kexbench publish site</code>.
        </p>
        {troubles.map(({ part, since, reason }) => (
          <p key={part} role="alert">
            {troubleWords({ part, since, reason })}
          </p>
        ))}
      </>
    );
  }
  return <p>{health.isError ? "The service is not responding." : "Connecting to the service…"}</p>;
}
