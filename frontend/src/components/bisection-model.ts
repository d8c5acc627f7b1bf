// A bisection in words and rows, and which comparisons of a run one can be begun from. Pure.
import type {
  BisectionCommit,
  BisectionDetail,
  BisectionRunView,
  BisectionSummary,
  BisectionWanted,
  CaseView,
  RunDetail,
  SubjectView,
  UpgradeReport,
} from "@/api/generated";
import { count } from "@/format";
import { libraryOf } from "./libraries";

const GIT = /^git:([^#]+)#([^#+]+)$/;
const SHORT_HASH = 12;

export type State = BisectionSummary["state"];

/** Whether something is still to happen by itself. */
export function isSearching(state: State): boolean {
  return state === "asked" || state === "searching";
}

/** The colour of a state is that of the run's state that is most like it. */
export function chipOf(state: State): string {
  switch (state) {
    case "asked":
      return "queued";
    case "searching":
      return "running";
    case "found":
      return "finished";
    case "waiting":
    case "not measured":
      return "failed";
    default:
      return "cancelled";
  }
}

/** What stands below the heading: the answer, or how far the search is. */
export function sentenceOf({ summary, searched, runs, most_builds }: BisectionDetail): string {
  if (summary.state === "asked") return "Its commits are being looked for.";
  if (summary.state !== "searching") return summary.detail;
  const most = most_builds === null ? "" : `, at most ${count(most_builds, "build")}`;
  return `Searching ${count(searched, "commit")}: ${count(runs.length, "run")} so far${most}.`;
}

export type Row =
  | { kind: "commit"; commit: BisectionCommit }
  | { kind: "gap"; commits: number; after: number };

/** The commits in their order, and how many between them nothing is known of. */
export function rowsOf(commits: BisectionCommit[]): Row[] {
  const rows: Row[] = [];
  let next = 0;
  for (const commit of commits) {
    const between = commit.number - next;
    if (between > 0) rows.push({ kind: "gap", commits: between, after: next - 1 });
    rows.push({ kind: "commit", commit });
    next = commit.number + 1;
  }
  return rows;
}

/** What was done about a commit: "good end", "measured twice", "cannot be measured: make: it fails". */
export function knownOf(commit: BisectionCommit, last: number): string {
  if (commit.fails !== null) return `cannot be measured: ${commit.fails}`;
  if (commit.number === 0) return "good end, in every run";
  if (commit.number === last) return "bad end, in every run";
  if (commit.measurements === 0) return "not built";
  return `measured ${commit.measurements === 1 ? "once" : `${commit.measurements} times`}`;
}

/** A probability as far as it matters: "98.7%", "< 0.1%". */
export function chance(probability: number): string {
  if (probability > 0 && probability < 0.001) return "< 0.1%";
  if (probability < 1 && probability > 0.999) return "> 99.9%";
  return `${(100 * probability).toFixed(1)}%`;
}

/** The runs that measured a commit, or tried to. */
export function runsOf(runs: BisectionRunView[], number: number): BisectionRunView[] {
  return runs.filter((run) => run.commit === number);
}

export function shortHash(hash: string): string {
  return hash.slice(0, SHORT_HASH);
}

/** Two commits of one repository, and the cases in which they differ. */
export interface Question {
  library: BisectionWanted["library"];
  repository: string;
  good: string;
  bad: string;
  cases: string[];
}

/** Two neighbours among the commits of one repository that a run has numbers of, by their subjects. */
export interface CommitPair extends Omit<Question, "cases"> {
  before: string;
  after: string;
}

/** Of a bisection's own runs there is nothing to ask. Which of two came first, only git knows. */
export function commitPairsOf(
  run: Pick<RunDetail, "subjects" | "cells" | "metric" | "summary">,
): CommitPair[] {
  if (run.metric !== "cpu_ns" || run.summary.trigger === "bisection") return [];
  const measured = new Set(run.cells.filter((cell) => cell.estimate).map((cell) => cell.subject));
  const subjects = run.subjects.filter(({ subject }) => measured.has(subject));
  const commits = subjects.flatMap((subject) => commitOf(subject) ?? []);
  return commits.flatMap((bad, at) => {
    const good = commits.slice(0, at).findLast((one) => one.place === bad.place && one.name !== bad.name);
    if (!good) return [];
    const { library, repository } = bad;
    return [
      { library, repository, good: good.name, bad: bad.name, before: good.subject, after: bad.subject },
    ];
  });
}

/** The cases of a run in which the report of its two commits says that they differ. */
export function questionOf(
  { before, after, ...question }: CommitPair,
  { cells }: Pick<UpgradeReport, "cells">,
  cases: Pick<CaseView, "id">[],
): Question | null {
  const moved = cells.filter(({ verdict }) => verdict === "more" || verdict === "less");
  const differing = cases.map(({ id }) => id).filter((id) => moved.some((cell) => cell.case_id === id));
  return differing.length > 0 ? { ...question, cases: differing } : null;
}

function commitOf({ subject, source, library: named }: SubjectView) {
  const match = GIT.exec(source);
  const library = libraryOf(named);
  if (!library || !match) return undefined;
  const [, repository = "", name = ""] = match;
  return { subject, library, repository, name, place: `${library} ${repository}` };
}
