// The one place where addresses are made: pages as link options, downloads as plain addresses.
import { linkOptions } from "@tanstack/react-router";
import type { ExportSamplesData, UpgradeWhyProfileData, View } from "@/api/generated";
import { fileOf, SAMPLES_ENDING, site } from "@/published";
import {
  type AlertSearch,
  type AlertsSearch,
  type CapacitySearch,
  type CommitsSearch,
  type CpusSearch,
  compareChoice,
  type DistributionSearch,
  type EndChoice,
  type FleetSearch,
  type ForwardSecrecySearch,
  type HomeSearch,
  type LifeSearch,
  type MachineSearch,
  type PathsSearch,
  parseSearch,
  type RunSearch,
  type RunsSearch,
  type ScalingSearch,
  type SeriesSearch,
  type StacksSearch,
  stringifySearch,
  type TrendsSearch,
  type UpgradeSearch,
  type UpgradesSearch,
} from "@/search";

export const paths = {
  home: (search: HomeSearch = {}) => linkOptions({ to: "/", search }),
  series: (search: SeriesSearch) => linkOptions({ to: "/series", search }),
  trends: (search: TrendsSearch = {}) => linkOptions({ to: "/trends", search }),
  embedTrends: (search: TrendsSearch = {}) => linkOptions({ to: "/embed/trends", search }),
  cpus: (search: CpusSearch = {}) => linkOptions({ to: "/cpus", search }),
  compare: (base: EndChoice = {}, other: EndChoice = {}) =>
    linkOptions({ to: "/compare", search: compareChoice(base, other) }),
  distribution: (search: DistributionSearch) => linkOptions({ to: "/distribution", search }),
  scaling: (search: ScalingSearch = {}) => linkOptions({ to: "/scaling", search }),
  forwardSecrecy: (search: ForwardSecrecySearch = {}) => linkOptions({ to: "/forward-secrecy", search }),
  articles: () => linkOptions({ to: "/articles" }),
  capacity: (search: CapacitySearch = {}) => linkOptions({ to: "/capacity", search }),
  stacks: (search: StacksSearch = {}) => linkOptions({ to: "/stacks", search }),
  networkPaths: (search: PathsSearch = {}) => linkOptions({ to: "/paths", search }),
  life: (search: LifeSearch = {}) => linkOptions({ to: "/life", search }),
  machine: (search: MachineSearch = {}) => linkOptions({ to: "/machine", search }),
  fleet: (search: FleetSearch = {}) => linkOptions({ to: "/fleet", search }),
  upgrades: (search: UpgradesSearch = {}) => linkOptions({ to: "/upgrades", search }),
  /** `before` and `after`: a version, a source or a subject's unique name */
  upgrade: (library: string, before: string, after: string, search: UpgradeSearch = {}) =>
    linkOptions({ to: "/upgrades/$library/$before/$after", params: { library, before, after }, search }),
  alerts: (search: AlertsSearch = {}) => linkOptions({ to: "/alerts", search }),
  alert: (alertId: string, search: AlertSearch = {}) =>
    linkOptions({ to: "/alerts/$alertId", params: { alertId }, search }),
  scorecard: () => linkOptions({ to: "/scorecard" }),
  queue: () => linkOptions({ to: "/queue" }),
  commits: (search: CommitsSearch = {}) => linkOptions({ to: "/commits", search }),
  bisections: (search: RunsSearch = {}) => linkOptions({ to: "/bisections", search }),
  bisection: (bisectionId: string) =>
    linkOptions({ to: "/bisections/$bisectionId", params: { bisectionId } }),
  runs: (search: RunsSearch = {}) => linkOptions({ to: "/runs", search }),
  run: (runId: string, search: RunSearch = {}) =>
    linkOptions({ to: "/runs/$runId", params: { runId }, search }),
  /** any page: each parses the choices in its address, and an unknown address has a page of its own */
  view: ({ link }: View) => {
    const { pathname, search } = new URL(link, "http://service");
    return linkOptions({ to: pathname as "/", search: parseSearch(search) });
  },
};

export type ExportQuery = NonNullable<ExportSamplesData["query"]>;

export function exportPath(query: ExportQuery): string {
  return downloadPath("export", query, SAMPLES_ENDING);
}

export function profilePath(query: UpgradeWhyProfileData["query"]): string {
  return downloadPath("upgrades/why/profile", query, query.format === "speedscope" ? "json" : "callgrind");
}

function downloadPath(route: string, query: object, ending: string): string {
  if (!site) return `/api/v1/${route}${stringifySearch({ ...query })}`;
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  return fileOf(route, Object.fromEntries(given), ending);
}
