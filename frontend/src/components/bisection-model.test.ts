import { expect, it } from "vitest";
import type { BisectionCommit, BisectionDetail, BisectionRunView, RunDetail, Subject } from "@/api/generated";
import { aCell, aComparedCell, anEstimate, aSubject } from "@/testing/build";
import { expectGolden } from "@/testing/golden";
import {
  chance,
  chipOf,
  commitPairsOf,
  commitStatus,
  questionOf,
  rowsOf,
  runsOf,
  sentenceOf,
  stateText,
} from "./bisection-model";

const ADDRESS = "https://example.org/openssl.git";

function aCommit(number: number, changes: Partial<BisectionCommit> = {}): BisectionCommit {
  return {
    hash: String(number).padStart(40, "0"),
    author: "Ada",
    date: "2026-01-01",
    subject: `Change ${number}`,
    number,
    probability: 0.1,
    reached: 0.5,
    measurements: 0,
    fails: null,
    ...changes,
  };
}

function aRun(number: number, commit: number | null): BisectionRunView {
  return {
    number,
    run_id: `run-${number}`,
    commit,
    state: "finished",
    detail: "",
    invocations_planned: 6,
    invocations_stored: 6,
  };
}

function aBisection(
  state: BisectionDetail["summary"]["state"],
  changes: Partial<BisectionDetail> = {},
): BisectionDetail {
  return {
    summary: {
      bisection_id: "b",
      asked_at: "2026-01-01T00:00:00Z",
      asked_by: "alice",
      library: "openssl",
      repository: ADDRESS,
      good: "v1",
      bad: "main",
      pool: "local",
      cases: [],
      state,
      detail: "the detail from the API",
      runs: 2,
    },
    events: [],
    controls: [],
    invocations: 6,
    most_builds: 10,
    searched: 64,
    commits: [],
    runs: [aRun(0, null), aRun(1, 32)],
    steps: [],
    answer: null,
    ...changes,
  };
}

function aGitSubject(name: string, address = ADDRESS): Subject {
  return { ...aSubject("openssl", "3.6.0"), name, source: `git:${address}#${name}` };
}

function aRunOf(...subjects: Subject[]) {
  const cells = subjects.map((subject) => aCell("rsa", subject, { estimate: anEstimate(10) }));
  return { metric: "cpu_ns", summary: { trigger: "api" }, subjects, cells } as unknown as RunDetail;
}

const STATES = ["asked", "searching", "waiting", "cancelled", "found", "cannot say", "not measured"] as const;

it("a bisection in words", async () => {
  await expectGolden("bisection-model", {
    "sentence: just requested": sentenceOf(aBisection("asked", { searched: 0, most_builds: null })),
    "sentence: searching": sentenceOf(aBisection("searching")),
    "sentence: searching, without a limit": sentenceOf(aBisection("searching", { most_builds: null })),
    states: STATES.map(stateText),
    "commit: good end": commitStatus(aCommit(0), 9),
    "commit: bad end": commitStatus(aCommit(9), 9),
    "commit: not built": commitStatus(aCommit(4), 9),
    "commit: measured": [1, 3].map((measurements) => commitStatus(aCommit(4, { measurements }), 9)),
    "commit: does not build": commitStatus(aCommit(4, { fails: "make: it fails" }), 9),
  });
});

it("shows the API’s detail when it does not search", () => {
  for (const state of ["found", "cannot say", "not measured", "waiting", "cancelled"] as const) {
    expect(sentenceOf(aBisection(state))).toBe("the detail from the API");
  }
});

it("gives every state the colour of a run's state", () => {
  expect(chipOf("found")).toBe("finished");
  expect(chipOf("waiting")).toBe("failed");
  expect(chipOf("searching")).toBe("running");
  expect(chipOf("cannot say")).toBe("cancelled");
});

it("counts the untested commits between the tested ones", () => {
  const rows = rowsOf([aCommit(0), aCommit(1), aCommit(5), aCommit(7)]);
  expect(rows.map((row) => (row.kind === "gap" ? `${row.commits} more` : row.commit.number))).toEqual([
    0,
    1,
    "3 more",
    5,
    "1 more",
    7,
  ]);
  expect(rowsOf([])).toEqual([]);
});

it("rounds no probability to certainty", () => {
  expect([0, 0.0004, 0.987, 0.9997, 1].map(chance)).toEqual(["0.0%", "< 0.1%", "98.7%", "> 99.9%", "100.0%"]);
});

it("finds the runs of a commit, of which the ends alone have none", () => {
  const runs = [aRun(0, null), aRun(1, 32), aRun(2, 40), aRun(3, 32)];
  expect(runsOf(runs, 32).map((run) => run.number)).toEqual([1, 3]);
  expect(runsOf(runs, 0)).toEqual([]);
});

const PAIR = {
  library: "openssl",
  repository: ADDRESS,
  good: "v1",
  bad: "main",
  before: "v1",
  after: "main",
} as const;

it("offers a bisection between two commits of one repository, in the cases that differ", () => {
  expect(commitPairsOf(aRunOf(aGitSubject("v1"), aGitSubject("main")))).toEqual([PAIR]);
  const cases = ["rsa", "ecdsa", "dsa", "dhe"].map((id) => ({ id }));
  const cells = [
    aComparedCell("dsa", { verdict: "less" }),
    aComparedCell("rsa", { verdict: "more" }),
    aComparedCell("ecdsa", { verdict: "same" }),
    aComparedCell("dhe", { verdict: "unresolved" }),
    aComparedCell("elsewhere", { verdict: "more" }),
  ];
  const question = {
    library: "openssl",
    repository: ADDRESS,
    good: "v1",
    bad: "main",
    cases: ["rsa", "dsa"],
  };
  expect(questionOf(PAIR, { cells }, cases)).toEqual(question);
  expect(questionOf(PAIR, { cells: cells.slice(2) }, cases)).toBeNull();
});

it("offers no bisection without a common history, or from a bisection’s own run", () => {
  const elsewhere = aGitSubject("v1", "https://example.org/fork.git");
  const main = aGitSubject("main");
  expect(commitPairsOf(aRunOf(aSubject("openssl", "3.5"), main))).toEqual([]);
  expect(commitPairsOf(aRunOf(elsewhere, main))).toEqual([]);
  const differ = aRunOf(aGitSubject("v1"), main);
  expect(commitPairsOf({ ...differ, cells: [] })).toEqual([]);
  expect(commitPairsOf({ ...differ, metric: "wall_ns" })).toEqual([]);
  expect(commitPairsOf({ ...differ, summary: { ...differ.summary, trigger: "bisection" } })).toEqual([]);
});
