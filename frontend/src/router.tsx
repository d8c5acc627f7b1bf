// The pages, their addresses and the state that each keeps in its address.
import {
  createHashHistory,
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  type RouterHistory,
  useLocation,
} from "@tanstack/react-router";
import { Layout } from "@/components/Layout";
import { NotFoundPage } from "@/pages/not-found";
import { site } from "@/published";
import {
  alertSearch,
  alertsSearch,
  bisectionsSearch,
  capacitySearch,
  commitsSearch,
  compareSearch,
  cpusSearch,
  distributionSearch,
  fleetSearch,
  forwardSecrecySearch,
  homeSearch,
  lifeSearch,
  machineSearch,
  parseSearch,
  pathsSearch,
  runSearch,
  runsSearch,
  scalingSearch,
  seriesSearch,
  stacksSearch,
  stringifySearch,
  trendsSearch,
  upgradeSearch,
  upgradesSearch,
} from "@/search";
import { Failed } from "@/ui/Notes";

/** Below it are the addresses of pages in frames of other websites. The service lets these alone be framed. */
const EMBEDDED = "/embed/";
/** Whether the service let the whole document be framed. In a published site the address of a page says nothing. */
const isFramed = !site && globalThis.location?.pathname.startsWith(EMBEDDED);

function Root() {
  const isEmbedded = useLocation({ select: ({ pathname }) => pathname.startsWith(EMBEDDED) });
  return isFramed || isEmbedded ? <Outlet /> : <Layout />;
}

const root = createRootRoute({ component: Root, notFoundComponent: NotFoundPage });

/** A page whose scripts are loaded when it is opened, or pointed at. */
function page<Module extends object, Name extends keyof Module & string>(
  load: () => Promise<Module>,
  name: Name,
) {
  return { component: lazyRouteComponent(load, name), staticData: { load } };
}

const home = createRoute({
  getParentRoute: () => root,
  path: "/",
  validateSearch: homeSearch,
  ...page(() => import("@/pages/home"), "HomePage"),
});

const series = createRoute({
  getParentRoute: () => root,
  path: "/series",
  validateSearch: seriesSearch,
  ...page(() => import("@/pages/series"), "SeriesPage"),
});

const trends = createRoute({
  getParentRoute: () => root,
  path: "/trends",
  validateSearch: trendsSearch,
  ...page(() => import("@/pages/trends"), "TrendsPage"),
});

const embedTrends = createRoute({
  getParentRoute: () => root,
  path: "/embed/trends",
  validateSearch: trendsSearch,
  ...page(() => import("@/pages/embed-trends"), "EmbedTrendsPage"),
});

const cpus = createRoute({
  getParentRoute: () => root,
  path: "/cpus",
  validateSearch: cpusSearch,
  ...page(() => import("@/pages/cpus"), "CpusPage"),
});

const compare = createRoute({
  getParentRoute: () => root,
  path: "/compare",
  validateSearch: compareSearch,
  ...page(() => import("@/pages/compare"), "ComparePage"),
});

const distribution = createRoute({
  getParentRoute: () => root,
  path: "/distribution",
  validateSearch: distributionSearch,
  ...page(() => import("@/pages/distribution"), "DistributionPage"),
});

const runs = createRoute({
  getParentRoute: () => root,
  path: "/runs",
  validateSearch: runsSearch,
  ...page(() => import("@/pages/runs"), "RunsPage"),
});

const run = createRoute({
  getParentRoute: () => root,
  path: "/runs/$runId",
  validateSearch: runSearch,
  ...page(() => import("@/pages/run"), "RunPage"),
});

const scaling = createRoute({
  getParentRoute: () => root,
  path: "/scaling",
  validateSearch: scalingSearch,
  ...page(() => import("@/pages/scaling"), "ScalingPage"),
});

const forwardSecrecy = createRoute({
  getParentRoute: () => root,
  path: "/forward-secrecy",
  validateSearch: forwardSecrecySearch,
  ...page(() => import("@/pages/forward-secrecy"), "ForwardSecrecyPage"),
});

const articles = createRoute({
  getParentRoute: () => root,
  path: "/articles",
  ...page(() => import("@/pages/articles"), "ArticlesPage"),
});

const capacity = createRoute({
  getParentRoute: () => root,
  path: "/capacity",
  validateSearch: capacitySearch,
  ...page(() => import("@/pages/capacity"), "CapacityPage"),
});

const stacks = createRoute({
  getParentRoute: () => root,
  path: "/stacks",
  validateSearch: stacksSearch,
  ...page(() => import("@/pages/stacks"), "StacksPage"),
});

const networkPaths = createRoute({
  getParentRoute: () => root,
  path: "/paths",
  validateSearch: pathsSearch,
  ...page(() => import("@/pages/paths"), "PathsPage"),
});

const life = createRoute({
  getParentRoute: () => root,
  path: "/life",
  validateSearch: lifeSearch,
  ...page(() => import("@/pages/life"), "LifePage"),
});

const machine = createRoute({
  getParentRoute: () => root,
  path: "/machine",
  validateSearch: machineSearch,
  ...page(() => import("@/pages/machine"), "MachinePage"),
});

const fleet = createRoute({
  getParentRoute: () => root,
  path: "/fleet",
  validateSearch: fleetSearch,
  ...page(() => import("@/pages/fleet"), "FleetPage"),
});

const upgrades = createRoute({
  getParentRoute: () => root,
  path: "/upgrades",
  validateSearch: upgradesSearch,
  ...page(() => import("@/pages/upgrades"), "UpgradesPage"),
});

const upgrade = createRoute({
  getParentRoute: () => root,
  path: "/upgrades/$library/$before/$after",
  validateSearch: upgradeSearch,
  ...page(() => import("@/pages/upgrade"), "UpgradePage"),
});

const alerts = createRoute({
  getParentRoute: () => root,
  path: "/alerts",
  validateSearch: alertsSearch,
  ...page(() => import("@/pages/alerts"), "AlertsPage"),
});

const alert = createRoute({
  getParentRoute: () => root,
  path: "/alerts/$alertId",
  validateSearch: alertSearch,
  ...page(() => import("@/pages/alert"), "AlertPage"),
});

const scorecard = createRoute({
  getParentRoute: () => root,
  path: "/scorecard",
  ...page(() => import("@/pages/scorecard"), "ScorecardPage"),
});

const queue = createRoute({
  getParentRoute: () => root,
  path: "/queue",
  ...page(() => import("@/pages/queue"), "QueuePage"),
});

const commits = createRoute({
  getParentRoute: () => root,
  path: "/commits",
  validateSearch: commitsSearch,
  ...page(() => import("@/pages/commits"), "CommitsPage"),
});

const bisections = createRoute({
  getParentRoute: () => root,
  path: "/bisections",
  validateSearch: bisectionsSearch,
  ...page(() => import("@/pages/bisections"), "BisectionsPage"),
});

const bisection = createRoute({
  getParentRoute: () => root,
  path: "/bisections/$bisectionId",
  ...page(() => import("@/pages/bisection"), "BisectionPage"),
});

const routeTree = root.addChildren([
  home,
  series,
  trends,
  embedTrends,
  cpus,
  compare,
  distribution,
  upgrades,
  upgrade,
  alerts,
  alert,
  scaling,
  forwardSecrecy,
  articles,
  capacity,
  stacks,
  networkPaths,
  life,
  machine,
  fleet,
  queue,
  runs,
  run,
  commits,
  bisections,
  bisection,
  scorecard,
]);

// A published site has answers for these alone. A plain file server knows only its files, so the address of a page
// stands behind a hash.
if (site)
  routeTree.addChildren([
    home,
    series,
    trends,
    embedTrends,
    cpus,
    compare,
    stacks,
    networkPaths,
    life,
    upgrades,
    upgrade,
  ]);
// In a frame of another website no click may lead to a page with buttons that change something.
else if (isFramed) routeTree.addChildren([embedTrends]);

export function makeRouter(history: RouterHistory | undefined) {
  return createRouter({
    routeTree,
    history,
    parseSearch,
    stringifySearch,
    scrollRestoration: true,
    // The scripts of a page; `prefetch.ts` fetches answers.
    defaultPreload: "intent",
    defaultErrorComponent: ({ error }) => <Failed error={error} />,
  });
}

if (site?.front === "stacks" && !location.hash) location.replace("#/stacks");

export const router = makeRouter(site && createHashHistory());

declare module "@tanstack/react-router" {
  interface StaticDataRouteOption {
    /** the module of a page; its `firstAnswer` makes the first query of the page */
    load?: () => Promise<object>;
  }
  interface Register {
    router: typeof router;
  }
}
