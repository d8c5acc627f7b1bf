// From the API's trends to what charts draw: lines on one axis, their names, and what is marked. Pure.
import type { Release, SubjectView, Trend, TrendPoint, Trends } from "@/api/generated";
import { unitOf } from "@/format";
import type { Split, TrendsChoice } from "@/search";
import { placeOf, versionText } from "@/subjects";

export interface TrendPlace {
  x: number;
  y: number;
  low: number | null;
  high: number | null;
  point: TrendPoint;
  subject: SubjectView;
}

export interface DrawnLine {
  key: string;
  /** by what the series of the page differ in */
  label: string;
  /** the same without what the chart's title says */
  shortLabel: string;
  hue: number;
  dash: number;
  points: TrendPlace[];
  trend: Trend;
}

export interface Marker {
  x: number;
  text: string;
}

export interface TrendsPanel {
  title: string;
  lines: DrawnLine[];
}

export interface Slot {
  /** the same version in other answers */
  key: string;
  library: string;
  version: string;
  x: number;
}

export interface TrendsModel {
  /** what all series have in common */
  title: string;
  panels: TrendsPanel[];
  lines: DrawnLine[];
  /** versions below the axis; undefined: the axis has dates */
  slots: Slot[] | undefined;
  markers: Marker[];
  /** points that are not drawn, since they have no place on the axis or no baseline */
  undrawn: number;
}

/** By what a chart is named outside its page. */
export function titleOf(panel: TrendsPanel, model: TrendsModel): string {
  return [model.title, panel.title].filter(Boolean).join(", ") || "Trends";
}

const SIDES: Partial<Record<Trend["metric"], string>> = { client_cpu_ns: "client", server_cpu_ns: "server" };

export function trendsModel(trends: Trends, choice: TrendsChoice): TrendsModel {
  const slots = slotsOf(trends);
  const releases = new Map(
    trends.releases.map((release) => [`${release.library} ${release.version}`, release]),
  );
  const xOf = (point: TrendPoint, subject: SubjectView): number | undefined => {
    if (choice.x === "measured") return seconds(point.measured_at);
    if (choice.x !== "released") return slots.get(slotKey(subject))?.x;
    const date =
      subject.commit?.committed_at ?? releases.get(`${subject.library} ${subject.version}`)?.released;
    return date ? seconds(date) : undefined;
  };
  const titles = new Map(trends.cases.map(({ id, title }) => [id, title]));
  const partsOf = (line: Trend) => [
    line.library,
    titles.get(line.case_id) ?? line.case_id,
    `${line.host_kind.pool}: ${line.host_kind.cpu_model}`,
    SIDES[line.metric] ?? "both sides",
    line.build_profile_label,
  ];
  const parts = trends.lines.map(partsOf);
  const values = [0, 1, 2, 3, 4].map((part) => [...new Set(parts.map((own) => own[part]))]);
  const varying = [0, 1, 2, 3, 4].filter((part) => (values[part]?.length ?? 0) > 1);
  const inChart = varying.filter((part) => !choice.split || part !== PART_OF[choice.split]);
  const [first = 0, second] = inChart;
  const common = [0, 1, 2, 3]
    .filter((part) => !varying.includes(part))
    .flatMap((part) => parts[0]?.[part] ?? []);
  const placed = trends.lines.map((trend, index): DrawnLine => {
    const own = parts[index] ?? [];
    const place = (part: number | undefined) =>
      part === undefined ? 0 : Math.max(0, values[part]?.indexOf(own[part] as string) ?? 0);
    return {
      key: own.join(" ") + trend.metric,
      label: (varying.length > 0 ? varying : [0]).map((part) => own[part]).join(", "),
      shortLabel: (inChart.length > 0 ? inChart : [0]).map((part) => own[part]).join(", "),
      hue: place(first),
      dash: place(second),
      points: pointsOf(trend, trends.subjects, xOf, choice),
      trend,
    };
  });
  const lines = placed.filter((line) => line.points.length > 0);
  const all = trends.lines.reduce((total, line) => total + line.points.length, 0);
  return {
    title: common.join(", "),
    lines,
    panels: panelsOf(lines, choice.split, partsOf),
    slots: choice.x ? undefined : [...slots.values()],
    markers: choice.x === "measured" ? hostMarkers(lines) : securityMarkers(trends.releases, lines, choice.x),
    undrawn: all - lines.reduce((total, line) => total + line.points.length, 0),
  };
}

function pointsOf(
  trend: Trend,
  subjects: SubjectView[],
  xOf: (point: TrendPoint, subject: SubjectView) => number | undefined,
  choice: TrendsChoice,
): TrendPlace[] {
  const named = trend.points.flatMap((point) => {
    const subject = subjects[point.subject];
    return subject ? [{ point, subject }] : [];
  });
  const scale = scaleOf(trend, named, choice);
  if (!scale) return [];
  const places = named.flatMap(({ point, subject }): TrendPlace[] => {
    const x = xOf(point, subject);
    if (x === undefined) return [];
    const ends = point.low === null || point.high === null ? null : [scale(point.low), scale(point.high)];
    return [
      {
        x,
        y: scale(point.value),
        low: ends && Math.min(...ends),
        high: ends && Math.max(...ends),
        point,
        subject,
      },
    ];
  });
  return places.sort((a, b) => a.x - b.x);
}

/** Undefined without the baseline, or if it costs nothing. */
function scaleOf(
  { metric }: Trend,
  named: { point: TrendPoint; subject: SubjectView }[],
  { show, base }: TrendsChoice,
): ((value: number) => number) | undefined {
  if (show === "relative") {
    const zero = base ? named.find(({ subject }) => versionText(subject) === base) : named[0];
    const value = zero?.point.value;
    return value ? (cost) => cost / value : undefined;
  }
  if (unitOf(metric) !== "ns") return (value) => value;
  return show === "cost" ? (ns) => ns / 1e3 : (ns) => 1e9 / ns;
}

/** The versions of each library side by side, whatever their builds. */
function slotsOf({ subjects }: Trends): Map<string, Slot> {
  const slots = new Map<string, Slot>();
  let x = -1;
  let library = subjects[0]?.library;
  for (const subject of subjects) {
    const key = slotKey(subject);
    if (slots.has(key)) continue;
    x += subject.library === library ? 1 : 1.5;
    library = subject.library;
    slots.set(key, { key, library, version: versionText(subject), x });
  }
  return slots;
}

function slotKey(subject: SubjectView): string {
  return `${subject.library} ${placeOf(subject)}`;
}

const PART_OF: Record<Split, number> = { library: 0, case: 1, cpu: 2, side: 3 };

function panelsOf(
  lines: DrawnLine[],
  split: Split | undefined,
  partsOf: (line: Trend) => string[],
): TrendsPanel[] {
  if (!split) return [{ title: "", lines }];
  const panels = new Map<string, DrawnLine[]>();
  for (const line of lines) {
    const title = partsOf(line.trend)[PART_OF[split]] ?? "";
    panels.set(title, [...(panels.get(title) ?? []), line]);
  }
  return [...panels].map(([title, own]) => ({ title, lines: own }));
}

function securityMarkers(releases: Release[], lines: DrawnLine[], axis: TrendsChoice["x"]): Marker[] {
  return releases
    .filter(({ security }) => security.length > 0)
    .flatMap(({ library, version }) => {
      const place = lines
        .flatMap((line) => line.points)
        .find(({ subject }) => subject.library === library && subject.version === version);
      return place ? [{ x: place.x, text: axis ? `${version}: security fixes` : "security fixes" }] : [];
    });
}

/** When the machines of a pool were first measured with another CPU or other settings. */
function hostMarkers(lines: DrawnLine[]): Marker[] {
  const begins = new Map<string, Map<string, number>>();
  for (const { trend, points } of lines) {
    const { pool, cpu_model } = trend.host_kind;
    const ofPool = begins.get(pool) ?? new Map<string, number>();
    const first = Math.min(ofPool.get(cpu_model) ?? Number.POSITIVE_INFINITY, points[0]?.x ?? 0);
    begins.set(pool, ofPool.set(cpu_model, first));
  }
  return [...begins].flatMap(([pool, kinds]) =>
    [...kinds.values()]
      .sort((a, b) => a - b)
      .slice(1)
      .map((x) => ({ x, text: `${pool}: another host kind` })),
  );
}

function seconds(date: string): number {
  return Date.parse(date) / 1000;
}
