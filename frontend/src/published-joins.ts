// Answers that the pages of a published site put together: one file for each choice of several would be too many. The
// shapes of these files are those of `services/src/kexbench/publishing/joins.py`.
import type {
  CaseChoice,
  CaseView,
  Comparison,
  CpuRow,
  Cpus,
  Estimate,
  HostKind,
  Metric,
  Release,
  Subject,
  Trend,
  TrendPoint,
  Trends,
} from "@/api/generated";
import type { Joined } from "@/published";

export interface Series extends Pick<Trend, "host_kind" | "metric"> {
  case: CaseView;
  lines: SeriesLine[];
}

export interface SeriesLine
  extends Pick<Trend, "library" | "build_profile_label" | "change_points" | "through_sentinel"> {
  points: (Pick<TrendPoint, "run_id" | "measured_at"> & { subject: string; estimate: Estimate })[];
}

/** All of an answer about trends except the lines, which are those of the series. */
export interface TrendIndex {
  choices: CaseChoice[];
  subjects: Subject[];
  releases: Release[];
  /** the cases on each host kind whose series are published */
  measured: { host_kind: HostKind; case_ids: string[] }[];
}

export interface CaseOnCpus {
  case: CaseView;
  host_kinds: HostKind[];
  rows: CpuRow[];
  /** what depends on the CPU to compare with: by that, then by row */
  relations: Pick<CpuRow, "relation" | "relative" | "cautions">[][];
}

export interface ComparedPairs {
  subjects: Subject[];
  /** unique names; the last measured pair is the first */
  pairs: [base: string, other: string][];
}

/** The content of a file, or nothing if there is no such file. */
export type Load = <T>(route: string, query: Record<string, string>) => Promise<T | undefined>;

async function joinedTrends(query: URLSearchParams, load: Load): Promise<Trends | undefined> {
  const metrics = (query.getAll("metric") as Metric[]).concat(query.has("metric") ? [] : ["cpu_ns"]);
  const indexes = await Promise.all(metrics.map((metric) => load<TrendIndex>("trends", { metric })));
  const [first] = indexes;
  if (!first) return undefined;
  const chosen = query.getAll("case_id").concat(query.has("case_id") ? [] : (first.choices[0]?.id ?? []));
  const isChosen = (name: string, value: string) => !query.has(name) || query.getAll(name).includes(value);
  const asked = metrics.flatMap((metric, place) =>
    (indexes[place]?.measured ?? [])
      .filter(({ host_kind: kind }) => isChosen("pool", kind.pool) && isChosen("cpu_model", kind.cpu_model))
      .flatMap(({ host_kind, case_ids }) =>
        case_ids.filter((id) => chosen.includes(id)).map((case_id) => ({ case_id, metric, ...host_kind })),
      ),
  );
  const all = await Promise.all(asked.map((place) => load<Series>("series", place)));
  const shown = all.flatMap((series) => series ?? []);
  const lines = shown.flatMap(({ lines, ...series }) =>
    lines.filter(({ library }) => isChosen("library", library)).map((line) => ({ series, line })),
  );
  const used = new Set(lines.flatMap(({ line }) => line.points.map(({ subject }) => subject)));
  const subjects = first.subjects.filter(({ name }) => used.has(name));
  const versions = new Set(subjects.map(({ library, version }) => `${library} ${version}`));
  const places = new Map(subjects.map(({ name }, place) => [name, place]));
  return {
    choices: first.choices,
    cases: first.choices.flatMap(
      ({ id }) => lines.find(({ series }) => series.case.id === id)?.series.case ?? [],
    ),
    subjects,
    lines: lines.map(({ series, line }) => ({
      case_id: series.case.id,
      host_kind: series.host_kind,
      metric: series.metric,
      library: line.library,
      build_profile_label: line.build_profile_label,
      points: line.points.map(({ subject, run_id, measured_at, estimate }) => ({
        subject: places.get(subject) ?? 0,
        run_id,
        measured_at,
        ...estimate,
      })),
      change_points: line.change_points,
      through_sentinel: line.through_sentinel,
    })),
    left_out: 0,
    releases: first.releases.filter(({ library, version }) => versions.has(`${library} ${version}`)),
  };
}

async function joinedCpus(query: URLSearchParams, load: Load): Promise<Cpus | undefined> {
  const metric = (query.get("metric") ?? "cpu_ns") as Metric;
  const index = await load<TrendIndex>("trends", { metric });
  const case_id = query.get("case_id") ?? index?.choices[0]?.id;
  const known = index?.choices.some(({ id }) => id === case_id);
  const found = known && case_id ? await load<CaseOnCpus>("cpus", { case_id, metric }) : undefined;
  if (!index || !found) return undefined;
  const [pool, cpu] = [query.get("pool"), query.get("cpu_model")];
  const place = found.host_kinds.findIndex(
    (kind) => (pool ?? kind.pool) === kind.pool && (cpu ?? kind.cpu_model) === kind.cpu_model,
  );
  const libraries = query.getAll("library");
  return {
    choices: index.choices,
    case: found.case,
    metric,
    base: found.host_kinds[place] ?? null,
    host_kinds: found.host_kinds,
    rows: found.rows
      .map((row, number) => ({ ...row, ...found.relations[place]?.[number] }))
      .filter(({ subject }) => libraries.length === 0 || libraries.includes(subject.library)),
  };
}

async function joinedComparison(query: URLSearchParams, load: Load): Promise<Comparison | undefined> {
  const index = await load<ComparedPairs>("compare", {});
  if (!index) return undefined;
  const [base, other] = [query.get("base"), query.get("other")];
  const pair = index.pairs.find(
    (names) => (base ?? names[0]) === names[0] && (other ?? names[1]) === names[1],
  );
  const found = pair && (await load<Comparison>("compare", { base: pair[0], other: pair[1] }));
  const nothing = {
    ...{ base: null, other: null, cases: [], cells: [], differences: [], lines: [], left_out: 0 },
    ...{ relevant: 0, upgrade: null },
  };
  if (!found) return { ...nothing, subjects: index.subjects };
  const ends = ["base", "other"] as const;
  const cells = found.cells.filter((cell) =>
    ends.every((end) => {
      const [pool, cpu] = [query.get(`${end}_pool`), query.get(`${end}_cpu_model`)];
      const kind = end === "base" ? cell : cell.other_host_kind;
      return (pool ?? kind.pool) === kind.pool && (cpu ?? kind.cpu_model) === kind.cpu_model;
    }),
  );
  const chosen = (end: "base" | "other") =>
    found[end] && { ...found[end], pool: query.get(`${end}_pool`), cpu_model: query.get(`${end}_cpu_model`) };
  return { ...found, subjects: index.subjects, base: chosen("base"), other: chosen("other"), cells };
}

type Answer = Trends | Cpus | Comparison | undefined;

export const JOINS: Record<Joined, (query: URLSearchParams, load: Load) => Promise<Answer>> = {
  trends: joinedTrends,
  cpus: joinedCpus,
  compare: joinedComparison,
};
