// The state of each page in the URL: parsed at the edge, then trusted.
import type { Metric, MixReport, SecurityModel, SecurityView } from "@/api/generated";
import { METRICS } from "@/api/generated/vocabulary.gen";
import type { Show } from "@/format";
import { VARIATIONS, type Variation } from "@/variation";

type Raw = Record<string, unknown>;

export const DEFAULT_METRIC: Metric = "cpu_ns";
const METRIC_NAMES = Object.keys(METRICS) as Metric[];

/** Of a usual comparison, and what the API takes. */
export const DEFAULT_INVOCATIONS = 10;
export const INVOCATIONS = { min: 3, max: 1000 };

export const SORTS = ["case", "subject", "cost", "invocations", "change", "verdict"] as const;
export type Sort = (typeof SORTS)[number];

export interface CellView {
  /** absent: the heatmap */
  view?: "table";
  sort?: Sort;
  order?: "desc";
  /** absent: all cases */
  variation?: Variation;
}

export interface HostChoice {
  pool?: string;
  cpu?: string;
}

export interface HomeSearch extends CellView, HostChoice {
  metric?: Metric;
  library?: string[];
  /** words that a case's title must contain */
  q?: string;
  /** id of the case that all others are compared with; absent: a lower version, which cells name */
  versus?: string;
  /** only the cases and versions of this spec; absent: all cases, grouped by key exchange and certificate */
  spec?: string;
  /** the groups whose cases are shown; absent: all groups of a small matrix, none of a large one */
  open?: string[];
  /** absent: the newest ones, where there are many */
  versions?: "all";
  /** whether cases and versions without numbers are shown */
  empty?: "shown";
}

/** Stands for no group in `open`. */
export const NO_GROUP = "none";

export interface SeriesSearch extends HostChoice {
  case: string;
  metric?: Metric;
  library?: string[];
  /** absent: rate */
  show?: Exclude<Show, "rate">;
}

export const TREND_SIDES = ["both", "client", "server"] as const satisfies readonly SecurityView["side"][];

export interface TrendsChoice {
  /** absent: versions */
  x?: "released" | "measured";
  /** absent: rate */
  show?: "cost" | "relative";
  /** of `relative`: the version with the value 1; absent: the first of each line */
  base?: string;
  /** one chart for each; absent: all in one */
  split?: Split;
}

export const SPLITS = ["cpu", "case", "library", "side"] as const;
export type Split = (typeof SPLITS)[number];

export interface TrendsSearch extends TrendsChoice {
  /** ids; absent: the first case */
  case?: string[];
  /** labels of host kinds; absent: all */
  host?: string[];
  library?: string[];
  metric?: Metric;
  /** of the CPU time; absent: both together */
  side?: (typeof TREND_SIDES)[number][];
  scale?: "log";
}

/** `pool` and `cpu`: the machine that the others are relative to; absent: the one measured last */
export interface CpusSearch extends HostChoice {
  /** absent: the first case */
  case?: string;
  library?: string[];
  metric?: Metric;
}

/** One end of a comparison. Absent: whatever compares the two best. */
export interface EndChoice extends HostChoice {
  /** unique name or LIBRARY@VERSION; absent: of the upgrade measured last */
  subject?: string;
  run?: string;
  /** absent: that of the other end, or every case */
  case?: string;
}

/** As `EndChoice` for each end. */
export interface CompareSearch {
  base?: string;
  basePool?: string;
  baseCpu?: string;
  baseRun?: string;
  baseCase?: string;
  other?: string;
  otherPool?: string;
  otherCpu?: string;
  otherRun?: string;
  otherCase?: string;
  /** words that a case's title must contain */
  q?: string;
  /** absent: all cells */
  verdict?: VerdictFilter;
  /** absent: by case */
  sort?: "change";
  /** the groups whose cases are shown; absent: all of a small table, none of a large one */
  open?: string[];
}

export const VERDICT_FILTERS = ["changed", "more", "less", "same", "unresolved", "none"] as const;
export type VerdictFilter = (typeof VERDICT_FILTERS)[number];

export interface DistributionSearch extends HostChoice {
  /** unique name */
  subject: string;
  case: string;
  metric?: Metric;
  /** absent: the newest run */
  run?: string;
}

export interface ScalingSearch extends HostChoice {
  library?: string[];
}

/** The first one of each is the default. */
export const MODELS = ["nist", "ecrypt", "cnsa", "cnsa-2"] as const satisfies readonly SecurityModel[];
export const SIDES = ["both", "server", "client"] as const satisfies readonly SecurityView["side"][];

export interface ForwardSecrecySearch extends HostChoice {
  /** unique name; absent: the version measured last */
  subject?: string;
  model?: SecurityModel;
  side?: SecurityView["side"];
}

/** The first one is the default. */
export const COSTS = ["connection", "handshake"] as const satisfies readonly MixReport["cost"][];
export const DEFAULT_MIX = { rate: 10_000, used: 60, machine: 32 };

export interface CapacitySearch extends HostChoice {
  /** unique name; absent: the newest */
  version?: string;
  /** unique name of the version after an upgrade; absent: no upgrade */
  to?: string;
  /** `70~<case id>`, the percentage of the connections first; absent: one case */
  part?: string[];
  /** connections per second; absent, as the next two: DEFAULT_MIX */
  rate?: number;
  /** utilisation of a core in percent */
  used?: number;
  /** cores of a machine */
  machine?: number;
  cost?: MixReport["cost"];
}

export interface MachineSearch extends HostChoice {
  /** of the comparisons to come; absent: DEFAULT_INVOCATIONS */
  invocations?: number;
}

export interface RunsSearch {
  before?: string;
}

export interface BisectionsSearch {
  before?: string;
}

export interface UpgradesSearch {
  /** absent: all */
  library?: string;
  before?: string;
}

export interface UpgradeSearch extends HostChoice {
  /** id of the case whose functions are shown; absent: the case with the largest change */
  case?: string;
}

export type AlertSearch = Pick<UpgradeSearch, "case">;

export const STATUSES = ["open", "acknowledged", "confirmed", "fixed", "ignored", "wrong"] as const;

export interface AlertsSearch {
  /** absent: all active alerts */
  status?: (typeof STATUSES)[number] | "all";
  /** absent: all */
  library?: string;
  before?: string;
}

export interface CommitsSearch {
  /** absent: all */
  repository?: string;
  before?: string;
}

export interface RunSearch extends CellView, HostChoice {
  /** absent: the one that the run's instrument decides by, so that no metric is the default of all runs */
  metric?: Metric;
}

export function homeSearch(raw: Raw): HomeSearch {
  return compact({
    ...hostChoice(raw),
    ...cellView(raw),
    metric: metric(raw.metric),
    library: texts(raw.library),
    q: text(raw.q),
    versus: text(raw.versus),
    spec: text(raw.spec),
    open: texts(raw.open),
    versions: oneOf(raw.versions, ["all"] as const),
    empty: oneOf(raw.empty, ["shown"] as const),
  });
}

export function seriesSearch(raw: Raw): SeriesSearch {
  return compact({
    case: text(raw.case) ?? "",
    ...hostChoice(raw),
    metric: metric(raw.metric),
    library: texts(raw.library),
    show: oneOf(raw.show, ["cost"] as const),
  });
}

export function trendsSearch(raw: Raw): TrendsSearch {
  const sides = texts(raw.side)?.flatMap((side) => oneOf(side, TREND_SIDES) ?? []);
  return compact({
    case: texts(raw.case),
    host: texts(raw.host),
    library: texts(raw.library),
    metric: metric(raw.metric),
    side: sides && sides.length > 0 ? sides : undefined,
    x: oneOf(raw.x, ["released", "measured"] as const),
    show: oneOf(raw.show, ["cost", "relative"] as const),
    base: text(raw.base),
    split: oneOf(raw.split, SPLITS),
    scale: oneOf(raw.scale, ["log"] as const),
  });
}

export function cpusSearch(raw: Raw): CpusSearch {
  return compact({
    ...hostChoice(raw),
    case: text(raw.case),
    library: texts(raw.library),
    metric: metric(raw.metric),
  });
}

export function compareSearch(raw: Raw): CompareSearch {
  return compact({
    base: text(raw.base),
    basePool: text(raw.basePool),
    baseCpu: text(raw.baseCpu),
    baseRun: text(raw.baseRun),
    baseCase: text(raw.baseCase),
    other: text(raw.other),
    otherPool: text(raw.otherPool),
    otherCpu: text(raw.otherCpu),
    otherRun: text(raw.otherRun),
    otherCase: text(raw.otherCase),
    q: text(raw.q),
    verdict: oneOf(raw.verdict, VERDICT_FILTERS),
    sort: oneOf(raw.sort, ["change"] as const),
    open: texts(raw.open),
  });
}

export function compareChoice(base: EndChoice, other: EndChoice): CompareSearch {
  return {
    base: base.subject,
    basePool: base.pool,
    baseCpu: base.cpu,
    baseRun: base.run,
    baseCase: base.case,
    other: other.subject,
    otherPool: other.pool,
    otherCpu: other.cpu,
    otherRun: other.run,
    otherCase: other.case,
  };
}

export function distributionSearch(raw: Raw): DistributionSearch {
  return compact({
    subject: text(raw.subject) ?? "",
    case: text(raw.case) ?? "",
    ...hostChoice(raw),
    metric: metric(raw.metric),
    run: text(raw.run),
  });
}

export function scalingSearch(raw: Raw): ScalingSearch {
  return compact({ ...hostChoice(raw), library: texts(raw.library) });
}

export function forwardSecrecySearch(raw: Raw): ForwardSecrecySearch {
  const [, ...models] = MODELS;
  const [, ...sides] = SIDES;
  return compact({
    ...hostChoice(raw),
    subject: text(raw.subject),
    model: oneOf(raw.model, models),
    side: oneOf(raw.side, sides),
  });
}

export function capacitySearch(raw: Raw): CapacitySearch {
  const [, ...costs] = COSTS;
  return compact({
    ...hostChoice(raw),
    version: text(raw.version),
    to: text(raw.to),
    part: texts(raw.part),
    rate: amount(raw.rate, DEFAULT_MIX.rate),
    used: amount(raw.used, DEFAULT_MIX.used),
    machine: amount(raw.machine, DEFAULT_MIX.machine),
    cost: oneOf(raw.cost, costs),
  });
}

export function machineSearch(raw: Raw): MachineSearch {
  const invocations = invocationsOf(text(raw.invocations));
  return compact({
    ...hostChoice(raw),
    invocations: invocations === DEFAULT_INVOCATIONS ? undefined : invocations,
  });
}

export function runsSearch(raw: Raw): RunsSearch {
  return compact({ before: text(raw.before) });
}

export function bisectionsSearch(raw: Raw): BisectionsSearch {
  return compact({ before: text(raw.before) });
}

export function upgradesSearch(raw: Raw): UpgradesSearch {
  return compact({ library: text(raw.library), before: text(raw.before) });
}

export function upgradeSearch(raw: Raw): UpgradeSearch {
  return compact({ ...hostChoice(raw), ...alertSearch(raw) });
}

export function alertSearch(raw: Raw): AlertSearch {
  return compact({ case: text(raw.case) });
}

export function alertsSearch(raw: Raw): AlertsSearch {
  return compact({
    status: oneOf(raw.status, [...STATUSES, "all"] as const),
    library: text(raw.library),
    before: text(raw.before),
  });
}

export function commitsSearch(raw: Raw): CommitsSearch {
  return compact({ repository: text(raw.repository), before: text(raw.before) });
}

export function runSearch(raw: Raw): RunSearch {
  return compact({ ...hostChoice(raw), ...cellView(raw), metric: oneOf(raw.metric, METRIC_NAMES) });
}

/** Plain `?a=1&b=x&b=y`: every value is text, so that a version such as 3.10 stays what it is. */
export function parseSearch(query: string): Record<string, string | string[]> {
  const parsed: Record<string, string | string[]> = {};
  const parameters = new URLSearchParams(query);
  for (const name of new Set(parameters.keys())) {
    const values = parameters.getAll(name);
    parsed[name] = values.length > 1 ? values : (values[0] ?? "");
  }
  return parsed;
}

export function stringifySearch(search: Raw): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(search)) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item !== undefined && item !== "") parameters.append(name, String(item));
    }
  }
  const query = parameters.toString();
  return query && `?${query}`;
}

function hostChoice(raw: Raw): HostChoice {
  return { pool: text(raw.pool), cpu: text(raw.cpu) };
}

function cellView(raw: Raw): CellView {
  return {
    view: oneOf(raw.view, ["table"] as const),
    sort: oneOf(raw.sort, SORTS),
    order: oneOf(raw.order, ["desc"] as const),
    variation: oneOf(raw.variation, VARIATIONS),
  };
}

/** A whole number of invocations that the API takes, or nothing. */
export function invocationsOf(value: unknown): number | undefined {
  const amount = Number(value);
  const { min, max } = INVOCATIONS;
  return Number.isInteger(amount) && amount >= min && amount <= max ? amount : undefined;
}

/** A number above 0 other than the default; the API says what else is wrong with it. */
function amount(value: unknown, usual: number): number | undefined {
  const number = Number(text(value));
  return number > 0 && Number.isFinite(number) && number !== usual ? number : undefined;
}

function metric(value: unknown): Metric | undefined {
  const chosen = oneOf(value, METRIC_NAMES);
  return chosen === DEFAULT_METRIC ? undefined : chosen;
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function texts(value: unknown): string[] | undefined {
  const all = (Array.isArray(value) ? value : [value]).filter(
    (item) => typeof item === "string" && item !== "",
  );
  return all.length > 0 ? all : undefined;
}

function oneOf<T extends string>(value: unknown, choices: readonly T[]): T | undefined {
  return choices.find((choice) => choice === value);
}

function compact<T extends object>(search: T): T {
  return Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined)) as T;
}
