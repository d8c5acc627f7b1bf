// A bisection in words and rows, and the comparisons of a run that a bisection can start from. Pure.
import type {
  BisectionCommit,
  BisectionDetail,
  BisectionRunView,
  BisectionSummary,
  BisectionWanted,
  CaseView,
  Comparison,
  RunDetail,
  Subject,
} from "@/api/generated";
import { isMoved } from "@/charts/change-words";
import { count } from "@/format";
import { libraryOf } from "./libraries";

const GIT = /^git:([^#]+)#([^#+]+)$/;
const SHORT_HASH = 12;

export type State = BisectionSummary["state"];

/** Whether the bisection goes on by itself. */
export function isSearching(state: State): boolean {
  return state === "asked" || state === "searching";
}

/** The label of a state. */
export function stateText(state: State): string {
  switch (state) {
    case "asked":
      return "starting";
    case "waiting":
      return "waiting to be resumed";
    case "cannot say":
      return "inconclusive";
    default:
      return state;
  }
}

/** A state has the colour of the run state that is closest to it. */
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

/** The answer, or the progress of the search. */
export function sentenceOf({ summary, searched, runs, most_builds }: BisectionDetail): string {
  if (summary.state === "asked") return "kexbench is listing the commits.";
  if (summary.state !== "searching") return summary.detail;
  const limit = most_builds === null ? "" : ` The search takes at most ${count(most_builds, "build")}.`;
  return `Searching ${count(searched, "commit")}; ${count(runs.length, "run")} so far.${limit}`;
}

export type Row =
  | { kind: "commit"; commit: BisectionCommit }
  | { kind: "gap"; commits: number; after: number };

/** The commits in order, with the number of untested commits between them. */
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

/** The status of a commit: "good commit, measured in every run", "measured once", "cannot be measured: make: it fails". */
export function commitStatus(commit: BisectionCommit, last: number): string {
  if (commit.fails !== null) return `cannot be measured: ${commit.fails}`;
  if (commit.number === 0) return "good commit, measured in every run";
  if (commit.number === last) return "bad commit, measured in every run";
  if (commit.measurements === 0) return "not built";
  return `measured ${commit.measurements === 1 ? "once" : `${commit.measurements} times`}`;
}

/** A probability with one decimal: "98.7%", "< 0.1%". */
export function chance(probability: number): string {
  if (probability > 0 && probability < 0.001) return "< 0.1%";
  if (probability < 1 && probability > 0.999) return "> 99.9%";
  return `${(100 * probability).toFixed(1)}%`;
}

/** The runs that measured a commit or tried to. */
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
  const subjects = run.subjects.filter(({ name }) => measured.has(name));
  const commits = subjects.flatMap((subject) => commitOf(subject) ?? []);
  return commits.flatMap((bad, at) => {
    const good = commits
      .slice(0, at)
      .findLast((commit) => commit.place === bad.place && commit.name !== bad.name);
    if (!good) return [];
    const { library, repository } = bad;
    return [
      { library, repository, good: good.name, bad: bad.name, before: good.subject, after: bad.subject },
    ];
  });
}

/** The cases of a run in which the comparison of its two commits says that they differ. */
export function questionOf(
  { before, after, ...question }: CommitPair,
  { cells }: Pick<Comparison, "cells">,
  cases: Pick<CaseView, "id">[],
): Question | null {
  const moved = cells.filter(({ verdict }) => isMoved(verdict));
  const differing = cases.map(({ id }) => id).filter((id) => moved.some((cell) => cell.case_id === id));
  return differing.length > 0 ? { ...question, cases: differing } : null;
}

function commitOf({ name: subject, source, library: named }: Subject) {
  const match = GIT.exec(source);
  const library = libraryOf(named);
  if (!library || !match) return undefined;
  const [, repository = "", name = ""] = match;
  return { subject, library, repository, name, place: `${library} ${repository}` };
}
