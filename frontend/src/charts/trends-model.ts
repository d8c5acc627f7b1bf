// From the API's trends to what charts draw: lines on one axis, their names, and what is marked. Pure.
import type { ChangePoint, Release, Subject, Trend, TrendPoint, Trends } from "@/api/generated";
import { cpuName } from "@/cpu-name";
import { unitOf } from "@/format";
import type { Split, TrendsChoice } from "@/search";
import { placeOf, versionText } from "@/subjects";
import { type JoinedBuilds, joinedBuilds } from "./builds";

export interface TrendPlace {
  x: number;
  y: number;
  low: number | null;
  high: number | null;
  /** of each invocation, if asked for */
  levels: number[];
  point: TrendPoint;
  subject: Subject;
  build: string;
  /** the place of its build among those of the line: decides the marker */
  shape: number;
  /** the place of its version, which builds of it share */
  slot: number;
}

/** A case, a side and a library on a machine, whatever its builds. */
export interface DrawnLine extends JoinedBuilds<TrendPlace> {
  key: string;
  /** by what the series of the page differ in */
  label: string;
  /** the same without what the chart's title says */
  shortLabel: string;
  hue: number;
  dash: number;
  /** of all builds */
  points: TrendPlace[];
  place: Pick<Trend, "case_id" | "host_kind" | "library" | "metric">;
  /** of each build, with its change points */
  builds: Trend[];
}

export interface Marker {
  x: number;
  text: string;
  /** undefined: of a machine */
  library?: string;
}

export interface TrendsPanel {
  title: string;
  lines: DrawnLine[];
  /** versions below the axis, of one library; undefined: the axis has dates */
  slots: Slot[] | undefined;
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
  markers: Marker[];
  /** points that are not drawn, since they have no place on the axis or no baseline */
  undrawn: number;
}

/** By what a chart is named outside its page. */
export function titleOf(panel: TrendsPanel, model: TrendsModel): string {
  return [model.title, panel.title].filter(Boolean).join(", ") || "Trends";
}

export function hasLevels(lines: readonly DrawnLine[]): boolean {
  return lines.some(({ points }) => points.some(({ levels }) => levels.length > 0));
}

/** On an axis of versions, only those of the chart's library. */
export function markersOf({ markers }: TrendsModel, { slots }: TrendsPanel): Marker[] {
  return slots ? markers.filter(({ library }) => library === slots[0]?.library) : markers;
}

/** The change points of a line, each with the build whose series it is in. */
export function changesOf({ builds }: DrawnLine): { build: Trend; change: ChangePoint }[] {
  return builds.flatMap((build) => build.change_points.map((change) => ({ build, change })));
}

const SIDES: Partial<Record<Trend["metric"], string>> = { client_cpu_ns: "client", server_cpu_ns: "server" };

export function trendsModel(trends: Trends, choice: TrendsChoice): TrendsModel {
  const slots = slotsOf(trends);
  const releases = new Map(
    trends.releases.map((release) => [`${release.library} ${release.version}`, release]),
  );
  const xOf = (point: TrendPoint, subject: Subject): number | undefined => {
    if (choice.x === "measured") return seconds(point.measured_at);
    if (choice.x !== "released") return slots.get(slotKey(subject))?.x;
    const date =
      subject.commit?.committed_at ?? releases.get(`${subject.library} ${subject.version}`)?.released;
    return date ? seconds(date) : undefined;
  };
  const titles = new Map(trends.cases.map(({ id, title }) => [id, title]));
  const cpus = [...new Set(trends.lines.map(({ host_kind }) => host_kind.cpu_model))];
  const isOnePool = new Set(trends.lines.map(({ host_kind }) => host_kind.pool)).size < 2;
  const partsOf = ({ library, case_id, host_kind: { pool, cpu_model }, metric }: DrawnLine["place"]) => [
    library,
    titles.get(case_id) ?? case_id,
    isOnePool ? cpuName(cpu_model, cpus) : `${pool}: ${cpuName(cpu_model, cpus)}`,
    SIDES[metric] ?? "both sides",
  ];
  const groups = groupedBuilds(trends.lines);
  const parts = groups.map(([first]) => partsOf(first));
  const values = PARTS.map((part) => [...new Set(parts.map((own) => own[part]))]);
  const varying = PARTS.filter((part) => (values[part]?.length ?? 0) > 1);
  const charts = chartParts(choice, varying);
  const inChart = varying.filter((part) => !charts.includes(part));
  const [first = 0, second] = inChart;
  const common = PARTS.filter((part) => !varying.includes(part)).flatMap((part) => parts[0]?.[part] ?? []);
  const placed = groups.map((builds, index): DrawnLine => {
    const own = parts[index] ?? [];
    const place = (part: number | undefined) =>
      part === undefined ? 0 : Math.max(0, values[part]?.indexOf(own[part] as string) ?? 0);
    const points = pointsOf(builds, trends.subjects, xOf, choice);
    const { case_id, host_kind, library, metric } = builds[0];
    return {
      key: keyOf(builds[0]),
      label: (varying.length > 0 ? varying : [0]).map((part) => own[part]).join(", "),
      shortLabel: (inChart.length > 0 ? inChart : [0]).map((part) => own[part]).join(", "),
      hue: place(first),
      dash: place(second),
      points,
      ...joinedBuilds(points, ({ slot }) => slot),
      place: { case_id, host_kind, library, metric },
      builds,
    };
  });
  const lines = placed.filter((line) => line.points.length > 0);
  const all = trends.lines.reduce((total, line) => total + line.points.length, 0);
  return {
    title: common.join(", "),
    lines,
    panels: panelsOf(
      lines,
      choice,
      (line) => {
        const own = partsOf(line.place);
        return charts.map((part) => own[part]).join(", ");
      },
      slots,
    ),
    markers: choice.x === "measured" ? hostMarkers(lines) : securityMarkers(trends.releases, lines, choice.x),
    undrawn: all - lines.reduce((total, line) => total + line.points.length, 0),
  };
}

type Builds = [Trend, ...Trend[]];

/** The builds of a library on a machine together: they are one line. */
function groupedBuilds(lines: readonly Trend[]): Builds[] {
  const groups = new Map<string, Builds>();
  for (const line of lines) {
    const group = groups.get(keyOf(line));
    if (group) group.push(line);
    else groups.set(keyOf(line), [line]);
  }
  return [...groups.values()];
}

function keyOf({ library, case_id, host_kind: { pool, cpu_model }, metric }: DrawnLine["place"]): string {
  return [library, case_id, pool, cpu_model, metric].join(" ");
}

/** What the charts differ in: the reader's choice. Versions of two libraries have no common axis. */
function chartParts({ split, x }: TrendsChoice, varying: number[]): number[] {
  const chosen = split ? [PART_OF[split]] : [];
  const library = PART_OF.library;
  return x || chosen.includes(library) || !varying.includes(library) ? chosen : [library, ...chosen];
}

function pointsOf(
  builds: Builds,
  subjects: Subject[],
  xOf: (point: TrendPoint, subject: Subject) => number | undefined,
  choice: TrendsChoice,
): TrendPlace[] {
  const named = builds
    .flatMap(({ points }, shape) => points.map((point) => ({ point, shape })))
    .sort((a, b) => a.point.subject - b.point.subject) // in version order
    .flatMap(({ point, shape }) => {
      const subject = subjects[point.subject];
      return subject ? [{ point, shape, subject }] : [];
    });
  const scale = scaleOf(builds[0], named, choice);
  if (!scale) return [];
  const places = named.flatMap(({ point, shape, subject }): TrendPlace[] => {
    const x = xOf(point, subject);
    if (x === undefined) return [];
    const ends = point.low === null || point.high === null ? null : [scale(point.low), scale(point.high)];
    return [
      {
        x,
        y: scale(point.value),
        low: ends && Math.min(...ends),
        high: ends && Math.max(...ends),
        levels: (point.levels ?? []).map(scale),
        point,
        subject,
        build: subject.build_profile,
        shape,
        slot: x,
      },
    ];
  });
  return (choice.x ? places : besideEachOther(places)).sort((a, b) => a.x - b.x);
}

/** The distance between builds of the same version. */
const DODGE = 0.12;

function besideEachOther(places: TrendPlace[]): TrendPlace[] {
  const shapes = new Map<number, number[]>();
  for (const { slot, shape } of places) shapes.set(slot, [...(shapes.get(slot) ?? []), shape].sort());
  return places.map((place) => {
    const sharing = shapes.get(place.slot) ?? [];
    return { ...place, x: place.slot + (sharing.indexOf(place.shape) - (sharing.length - 1) / 2) * DODGE };
  });
}

/** Undefined without the baseline, or if it costs nothing. */
function scaleOf(
  { metric }: Trend,
  named: { point: TrendPoint; subject: Subject }[],
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

/** The versions of each library, each on an axis of its own, whatever their builds. */
function slotsOf({ subjects }: Trends): Map<string, Slot> {
  const slots = new Map<string, Slot>();
  const ends = new Map<string, number>();
  for (const subject of subjects) {
    const { library } = subject;
    const key = slotKey(subject);
    if (slots.has(key)) continue;
    const x = ends.get(library) ?? 0;
    ends.set(library, x + 1);
    slots.set(key, { key, library, version: versionText(subject), x });
  }
  return slots;
}

function slotKey(subject: Subject): string {
  return `${subject.library} ${placeOf(subject)}`;
}

const PART_OF: Record<Split, number> = { library: 0, case: 1, cpu: 2, side: 3 };

const PARTS = [0, 1, 2, 3];

function panelsOf(
  lines: DrawnLine[],
  { x }: TrendsChoice,
  titleOf: (line: DrawnLine) => string,
  slots: Map<string, Slot>,
): TrendsPanel[] {
  const panels = new Map<string, DrawnLine[]>();
  for (const line of lines) {
    const title = titleOf(line);
    panels.set(title, [...(panels.get(title) ?? []), line]);
  }
  return [...panels].map(([title, own]) => ({
    title,
    lines: own,
    slots: x ? undefined : [...slots.values()].filter(({ library }) => library === own[0]?.place.library),
  }));
}

function securityMarkers(releases: Release[], lines: DrawnLine[], axis: TrendsChoice["x"]): Marker[] {
  return releases
    .filter(({ security }) => security.length > 0)
    .flatMap(({ library, version }) => {
      const place = lines
        .flatMap((line) => line.points)
        .find(({ subject }) => subject.library === library && subject.version === version);
      return place
        ? [{ x: place.x, text: axis ? `${version}: security fixes` : "security fixes", library }]
        : [];
    });
}

/** When the machines of a pool were first measured with another CPU or other settings. */
function hostMarkers(lines: DrawnLine[]): Marker[] {
  const begins = new Map<string, Map<string, number>>();
  for (const { place, points } of lines) {
    const { pool, cpu_model } = place.host_kind;
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
