// The two ends of a comparison: how they are named, and what is chosen for each. Pure.
import type {
  AlertSummary,
  Cell,
  ComparedEnd,
  Comparison,
  HostKind,
  Subject,
  UpgradeEnd,
} from "@/api/generated";
import { dependencyText } from "@/charts/change-words";
import type { ComparedPairs } from "@/published";
import type { CompareSearch, EndChoice } from "@/search";
import { versionText } from "@/subjects";
import { libraryTitle, subjectTitle } from "./libraries";

type NamedEnd = Pick<UpgradeEnd, "version" | "source">;
interface Upgraded {
  library: string;
  before: NamedEnd;
  after: NamedEnd;
}

/** "OpenSSL 3.0.19 → 3.5.4" */
export function titleOf({ library, before, after }: Upgraded): string {
  return `${libraryTitle(library)} ${namesOf(before, after).join(" → ")}`;
}

export function stepTitle(prior: Subject, subject: Subject): string {
  return titleOf({ library: subject.library, before: endOf(prior), after: endOf(subject) });
}

/** The steps of a run in which dependencies changed: "GnuTLS 3.7.9 → 3.8.9", "nettle 3.8.1 → 3.10.1". `priors` maps a
 * subject to the subject that it is compared with. */
export function stepsOf(priors: Map<string, Subject>, subjects: Subject[], cells: Cell[]) {
  return subjects.flatMap((subject) => {
    const prior = priors.get(subject.name);
    const changes = cells.flatMap((cell) => (cell.subject === subject.name && cell.change) || []);
    const dependencies = dependencyText(changes.filter(({ before }) => before.subject === prior?.name));
    return prior && dependencies ? [{ title: stepTitle(prior, subject), dependencies }] : [];
  });
}

/** As alerts name the versions: "3.0.19", or "3.0.19 (debian/bookworm)" if both versions are the same. */
function namesOf(before: NamedEnd, after: NamedEnd): [string, string] {
  if (before.version !== after.version) return [before.version, after.version];
  return [`${before.version} (${before.source})`, `${after.version} (${after.source})`];
}

/** "crate/3.0.19 → debian/trixie": two builds of a version have other costs. */
export function sourcesOf({ before, after }: Pick<Upgraded, "before" | "after">): string {
  return `${before.source} → ${after.source}`;
}

const NAMED = /^[^:]* → [^:]*: /;

/** A sentence about an upgrade, for display below a heading that already names the versions. */
export function storyOf({ sentence }: { sentence?: string | null }): string {
  const story = (sentence ?? "").replace(NAMED, "");
  return story.charAt(0).toUpperCase() + story.slice(1);
}

type Ends = Pick<Comparison, "base" | "other">;
type Compared = Ends & Pick<Comparison, "cells">;

/** "OpenSSL 3.5.4" */
export function endName({ subject }: Pick<ComparedEnd, "subject">): string {
  return subjectTitle(subject);
}

/** "OpenSSL 3.0.17 → 3.5.4". On two machines "OpenSSL 3.0.17 on EPYC 25/17 → 3.5.4 on Xeon 6/207", where only the
 * machine differs "OpenSSL 3.5.4, EPYC 25/17 → Xeon 6/207", where the run or the case does "OpenSSL 3.5.4: two runs". */
export function compareTitle({ base, other, cells }: Compared, cpuNameOf: (cpu: string) => string): string {
  if (!base || !other) return "Compare";
  const machines = machinesOf(cells, cpuNameOf);
  if (base.subject.name === other.subject.name) {
    const what = base.case_id !== other.case_id ? "cases" : base.run_id !== other.run_id && "runs";
    return [endName(base), machines && `, ${machines.join(" → ")}`, what && `: two ${what}`]
      .filter(Boolean)
      .join("");
  }
  const [before, after] =
    base.subject.library === other.subject.library
      ? namesOf(endOf(base.subject), endOf(other.subject))
      : [versionText(base.subject), endName(other)];
  const ends = [`${libraryTitle(base.subject.library)} ${before}`, after];
  return ends.map((end, place) => (machines ? `${end} on ${machines[place]}` : end)).join(" → ");
}

/** "EPYC 25/17" and "Xeon 6/207", with their pools if these differ; nothing where both ends are on the same machine. */
function machinesOf(cells: Comparison["cells"], cpuNameOf: (cpu: string) => string): string[] | undefined {
  const [cell] = cells;
  if (!cell || hostKey(cell.host_kind) === hostKey(cell.other_host_kind)) return undefined;
  const isOnePool = cell.host_kind.pool === cell.other_host_kind.pool;
  return [cell.host_kind, cell.other_host_kind].map(({ pool, cpu_model }) =>
    isOnePool ? cpuNameOf(cpu_model) : `${pool}: ${cpuNameOf(cpu_model)}`,
  );
}

/** The host kinds of cells that are compared on one each; none where the ends are on two. */
export function hostsOf(cells: Comparison["cells"]): HostKind[] {
  const hosts = new Map(cells.map(({ host_kind: kind }) => [hostKey(kind), kind]));
  return cells.some((cell) => hostKey(cell.host_kind) !== hostKey(cell.other_host_kind))
    ? []
    : [...hosts.values()];
}

function hostKey({ pool, cpu_model }: HostKind): string {
  return `${pool} ${cpu_model}`;
}

function endOf(subject: Subject): NamedEnd {
  return { version: versionText(subject), source: subject.source };
}

/** "cipher: AES-128-GCM → AES-128-CBC-SHA": in what two cases differ, with both values; nothing for one case. */
export function differenceText({ differences }: Pick<Comparison, "differences">): string | undefined {
  if (differences.length === 0) return undefined;
  return differences.map(({ what, before, after }) => `${what}: ${before} → ${after}`).join(", ");
}

/** The alert of the upgrade between two ends, if there is one. */
export function alertOf({ base, other }: Ends, alerts: readonly AlertSummary[]): AlertSummary | undefined {
  if (!base || !other) return undefined;
  const [before, after] = namesOf(endOf(base.subject), endOf(other.subject));
  return alerts.find(
    ({ cause }) => cause.library === base.subject.library && cause.before === before && cause.after === after,
  );
}

/** What is chosen for each end. The URL is ahead of the answer, which says what was chosen by default. */
export function endChoices(
  search: CompareSearch,
  { base, other }: Ends,
): [base: EndChoice, other: EndChoice] {
  return [
    {
      subject: search.base ?? base?.subject.name,
      pool: search.basePool,
      cpu: search.baseCpu,
      run: search.baseRun,
      case: search.baseCase,
    },
    {
      subject: search.other ?? other?.subject.name,
      pool: search.otherPool,
      cpu: search.otherCpu,
      run: search.otherRun,
      case: search.otherCase,
    },
  ];
}

type Pairs = ComparedPairs | undefined;
type Choices = [base: EndChoice, other: EndChoice];

/** The subjects to choose from for an end. `pairs`: in a published site, those that are compared there. */
export function subjectsAt(end: "base" | "other", subjects: Subject[], pairs: Pairs): Subject[] {
  const names = pairs && new Set(pairs.map(([base, other]) => (end === "base" ? base : other)));
  return names ? subjects.filter(({ name }) => names.has(name)) : subjects;
}

/** Both ends after a choice for one. A site compares its pairs on one host kind, so there the other end follows. */
export function chosenEnds(
  end: "base" | "other",
  next: EndChoice,
  [base, other]: Choices,
  pairs: Pairs,
): Choices {
  const ends: Choices = end === "base" ? [{ ...base, ...next }, other] : [base, { ...other, ...next }];
  if (!pairs) return ends;
  const [chosen, { pool, cpu }] = end === "base" ? [0 as const, ends[0]] : [1 as const, ends[1]];
  const fitting = pairs.filter((names) => names[chosen] === ends[chosen].subject);
  const isFitting = fitting.some((names) => names.every((name, place) => name === ends[place]?.subject));
  const names = isFitting ? undefined : fitting[0];
  return [
    { subject: names?.[0] ?? ends[0].subject, pool, cpu },
    { subject: names?.[1] ?? ends[1].subject, pool, cpu },
  ];
}
