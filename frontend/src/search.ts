// The state of each page in the URL: parsed at the edge, then trusted. A value that a page does not know, or that is its
// default, counts as absent.
import * as v from "valibot";
import type { Metric, MixReport, NodeState, SecurityModel, SecurityView, Stacks } from "@/api/generated";
import { METRICS } from "@/api/generated/vocabulary.gen";
import { VARIATIONS } from "@/variation";

export const DEFAULT_METRIC: Metric = "cpu_ns";

/** Of a usual comparison, and what the API takes. */
export const DEFAULT_INVOCATIONS = 10;
export const INVOCATIONS = { min: 3, max: 1000 };

/** Stands for no group in `open`. */
export const NO_GROUP = "none";

export const SORTS = ["case", "subject", "cost", "invocations", "change", "verdict"] as const;
export type Sort = (typeof SORTS)[number];

export const TREND_SIDES = ["both", "client", "server"] as const satisfies readonly SecurityView["side"][];

export const SPLITS = ["cpu", "case", "library", "side"] as const;
export type Split = (typeof SPLITS)[number];

export const VERDICT_FILTERS = ["changed", "more", "less", "same", "unresolved", "none"] as const;
export type VerdictFilter = (typeof VERDICT_FILTERS)[number];

/** In the order of urgency. */
export const NODE_STATES = [
  "differs",
  "silent",
  "jobs lost or failed",
  "warning",
  "set aside",
  "fine",
] as const satisfies readonly NodeState[];
export const FLEET_SORTS = ["name", "cost", "seen", "jobs"] as const;
export type FleetSort = (typeof FLEET_SORTS)[number];

export const STATUSES = ["open", "acknowledged", "confirmed", "fixed", "ignored", "wrong"] as const;

/** The first one of each is the default. */
export const MODELS = ["nist", "ecrypt", "cnsa", "cnsa-2"] as const satisfies readonly SecurityModel[];
export const SIDES = ["both", "server", "client"] as const satisfies readonly SecurityView["side"][];
export const COSTS = ["connection", "handshake"] as const satisfies readonly MixReport["cost"][];
export const STACK_PROTOCOLS = ["TLSv1.3", "TLSv1.2"] as const satisfies readonly Stacks["protocol"][];
/** As the API has it. */
export const DEFAULT_RESUMED_PERCENT = 40;
export const DEFAULT_MIX = { rate: 10_000, used: 60, machine: 32 };

function orAbsent<T extends v.GenericSchema>(schema: T) {
  return v.fallback(v.optional<v.GenericSchema<v.InferInput<T>, v.InferOutput<T>>>(schema), undefined);
}

function oneOf<const T extends string>(choices: readonly T[], usual?: T) {
  return orAbsent(v.picklist(choices.filter((choice) => choice !== usual)));
}

/** A parameter that the URL may have several times. */
function some<T extends string>(item: v.GenericSchema<T>) {
  const written = v.union([v.string(), v.array(v.string())]);
  const known = v.transform((given: v.InferOutput<typeof written>) =>
    [given].flat().filter((one) => v.is(item, one)),
  );
  return orAbsent(v.pipe(written, known, v.nonEmpty()));
}

const words = v.pipe(v.string(), v.nonEmpty());
const number = v.pipe(v.union([words, v.number()]), v.toNumber(), v.finite());

/** A number above 0; the API says what else is wrong with it. */
function amount(usual: number) {
  return orAbsent(v.pipe(number, v.gtValue(0), v.notValue(usual)));
}

/** As many as the API takes. */
export const possibleInvocations = v.pipe(
  number,
  v.integer(),
  v.minValue(INVOCATIONS.min),
  v.maxValue(INVOCATIONS.max),
);

const required = v.fallback(v.string(), "");
const text = orAbsent(words);
const texts = some(words);
const METRIC_NAMES = Object.keys(METRICS) as Metric[];
const metric = oneOf(METRIC_NAMES, DEFAULT_METRIC);
const host = { pool: text, cpu: text };

const cells = {
  /** absent: the heatmap */
  view: oneOf(["table"]),
  sort: oneOf(SORTS),
  order: oneOf(["desc"]),
  /** absent: all cases */
  variation: oneOf(VARIATIONS),
};

export const homeSearch = v.object({
  ...host,
  ...cells,
  metric,
  library: texts,
  /** words that a case's title must contain */
  q: text,
  /** id of the case that all others are compared with; absent: a lower version, which cells name */
  versus: text,
  /** only the cases and versions of this spec; absent: all cases, grouped by key exchange and certificate */
  spec: text,
  /** the groups whose cases are shown; absent: all groups of a small matrix, none of a large one */
  open: texts,
  /** absent: the newest ones, where there are many */
  versions: oneOf(["all"]),
  /** whether cases and versions without numbers are shown */
  empty: oneOf(["shown"]),
});

export const seriesSearch = v.object({
  case: required,
  ...host,
  metric,
  library: texts,
  /** absent: rate */
  show: oneOf(["cost"]),
});

const trendsChoice = {
  /** absent: versions */
  x: oneOf(["released", "measured"]),
  /** absent: rate */
  show: oneOf(["cost", "relative"]),
  /** of `relative`: the version with the value 1; absent: the first of each line */
  base: text,
  /** one chart for each; absent: all in one */
  split: oneOf(SPLITS),
};

export const trendsSearch = v.object({
  /** ids; absent: the first case */
  case: texts,
  /** labels of host kinds; absent: all */
  host: texts,
  library: texts,
  metric,
  /** of the CPU time; absent: both together */
  side: some(v.picklist(TREND_SIDES)),
  ...trendsChoice,
  scale: oneOf(["log"]),
});

/** `pool` and `cpu`: the machine that the others are relative to; absent: the one measured last */
export const cpusSearch = v.object({
  ...host,
  /** absent: the first case */
  case: text,
  library: texts,
  metric,
});

/** Which compared cells are shown. */
const changes = {
  /** words that a case's title must contain */
  q: text,
  /** absent: all cells */
  verdict: oneOf(VERDICT_FILTERS),
  /** absent: by case */
  sort: oneOf(["change"]),
  /** the groups whose cases are shown; absent: all of a small table, none of a large one */
  open: texts,
};

/** As `EndChoice` for each end. */
export const compareSearch = v.object({
  base: text,
  basePool: text,
  baseCpu: text,
  baseRun: text,
  baseCase: text,
  other: text,
  otherPool: text,
  otherCpu: text,
  otherRun: text,
  otherCase: text,
  ...changes,
});

export const distributionSearch = v.object({
  /** unique name */
  subject: required,
  case: required,
  ...host,
  metric,
  /** absent: the newest run */
  run: text,
});

export const scalingSearch = v.object({ ...host, library: texts });

export const forwardSecrecySearch = v.object({
  ...host,
  /** unique name; absent: the version measured last */
  subject: text,
  model: oneOf(MODELS, MODELS[0]),
  side: oneOf(SIDES, SIDES[0]),
});

export const capacitySearch = v.object({
  ...host,
  /** unique name; absent: the newest */
  version: text,
  /** unique name of the version compared with; absent: none */
  to: text,
  /** `70~<case id>`, the percentage of the connections first; absent: one case */
  part: texts,
  /** connections per second */
  rate: amount(DEFAULT_MIX.rate),
  /** utilisation of a core in percent */
  used: amount(DEFAULT_MIX.used),
  /** cores of a machine */
  machine: amount(DEFAULT_MIX.machine),
  cost: oneOf(COSTS, COSTS[0]),
});

/** As the API takes them; absent: its defaults. */
export const stacksSearch = v.object({
  ...host,
  protocol: oneOf(STACK_PROTOCOLS),
  /** unique names, each in place of the newest version of its library */
  version: texts,
  /** of the mix */
  certificate: text,
  /** the percentage of the mix's connections that resume */
  resumed: orAbsent(
    v.pipe(number, v.integer(), v.minValue(0), v.maxValue(100), v.notValue(DEFAULT_RESUMED_PERCENT)),
  ),
});

/** `path`: its text; absent: all paths. `version`: unique names; absent: all */
export const pathsSearch = v.object({ ...host, path: text, version: texts });

/** `case`: its id; absent: all cases. `version`: unique names; absent: all */
export const lifeSearch = v.object({ ...host, case: text, version: texts });

/** `invocations`: of the comparisons to come */
export const machineSearch = v.object({
  ...host,
  invocations: orAbsent(v.pipe(possibleInvocations, v.notValue(DEFAULT_INVOCATIONS))),
});

/** `node`: a part of its name; `sort`: absent for the most urgent first; `from`: the place of the first node on the page */
export const fleetSearch = v.object({
  pool: text,
  state: oneOf(NODE_STATES),
  node: text,
  sort: oneOf(FLEET_SORTS),
  from: orAbsent(v.pipe(number, v.integer(), v.minValue(1))),
});

/** `before`: where an older page of a list starts; absent: the newest page */
export const runsSearch = v.object({ before: text });
export const bisectionsSearch = runsSearch;
/** absent: all libraries */
export const upgradesSearch = v.object({ library: text, before: text });

/** `case`: id of the one whose functions are shown; absent: the case with the largest change */
export const alertSearch = v.object({ case: text });
export const upgradeSearch = v.object({ ...host, case: text, ...changes });

export const alertsSearch = v.object({
  /** absent: all active alerts */
  status: oneOf([...STATUSES, "all"]),
  /** absent: all */
  library: text,
  metric: oneOf(METRIC_NAMES),
  before: text,
});

/** absent: all repositories */
export const commitsSearch = v.object({ repository: text, before: text });

/** `metric`, absent: the one that the run's instrument decides by, so that no metric is the default of all runs */
export const runSearch = v.object({ ...host, ...cells, metric: oneOf(METRIC_NAMES) });

type Choices<T extends v.ObjectEntries> = v.InferOutput<v.ObjectSchema<T, undefined>>;
export type HostChoice = Choices<typeof host>;
export type CellView = Choices<typeof cells>;
export type ChangesView = Choices<typeof changes>;
export type TrendsChoice = Choices<typeof trendsChoice>;
export type HomeSearch = v.InferOutput<typeof homeSearch>;
export type SeriesSearch = v.InferOutput<typeof seriesSearch>;
export type TrendsSearch = v.InferOutput<typeof trendsSearch>;
export type CpusSearch = v.InferOutput<typeof cpusSearch>;
export type CompareSearch = v.InferOutput<typeof compareSearch>;
export type DistributionSearch = v.InferOutput<typeof distributionSearch>;
export type ScalingSearch = v.InferOutput<typeof scalingSearch>;
export type ForwardSecrecySearch = v.InferOutput<typeof forwardSecrecySearch>;
export type CapacitySearch = v.InferOutput<typeof capacitySearch>;
export type LifeSearch = v.InferOutput<typeof lifeSearch>;
export type PathsSearch = v.InferOutput<typeof pathsSearch>;
export type StacksSearch = v.InferOutput<typeof stacksSearch>;
export type MachineSearch = v.InferOutput<typeof machineSearch>;
export type FleetSearch = v.InferOutput<typeof fleetSearch>;
export type RunsSearch = v.InferOutput<typeof runsSearch>;
export type UpgradesSearch = v.InferOutput<typeof upgradesSearch>;
export type UpgradeSearch = v.InferOutput<typeof upgradeSearch>;
export type AlertSearch = v.InferOutput<typeof alertSearch>;
export type AlertsSearch = v.InferOutput<typeof alertsSearch>;
export type CommitsSearch = v.InferOutput<typeof commitsSearch>;
export type RunSearch = v.InferOutput<typeof runSearch>;

/** One end of a comparison. Absent: whatever compares the two best. */
export interface EndChoice extends HostChoice {
  /** unique name or LIBRARY@VERSION; absent: of the upgrade measured last */
  subject?: string;
  run?: string;
  /** absent: that of the other end, or every case */
  case?: string;
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

export function stringifySearch(search: Record<string, unknown>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(search)) {
    for (const item of [value].flat()) {
      if (item !== undefined && item !== "") parameters.append(name, String(item));
    }
  }
  const query = parameters.toString();
  return query && `?${query}`;
}
