import { expect, it } from "vitest";
import { aCheck, aCommit } from "@/testing/build";
import {
  dryRunInWords,
  folding,
  originInWords,
  reasonInWords,
  shortHash,
  stateOf,
  tally,
  titleOf,
} from "./commit-words";

it("names a commit by the beginning of its hash, branch, repository and author", () => {
  const commit = aCommit({ commit: `abc1234${"0".repeat(33)}`, author: "Ada Example" });
  expect(shortHash(commit)).toBe("abc1234");
  expect(originInWords(commit)).toBe("on main of benchmarks by Ada Example");
});

it("leaves out what a commit doesn't say", () => {
  const commit = aCommit({ author: "", title: "" });
  expect(originInWords(commit)).toBe("on main of benchmarks");
  expect(titleOf(commit)).toBe("(without a title)");
  expect(titleOf(aCommit({ title: "Measure it" }))).toBe("Measure it");
});

it("says why a spec is measured", () => {
  expect(reasonInWords("spec")).toBe("the spec changed");
  expect(reasonInWords("library")).toBe("new version of a library it tracks");
});

it("tells a spec that has no run from one whose run is only just asked for", () => {
  expect(
    stateOf(aCheck({ run_id: null, faults: [{ file: "quick.yaml", line: 1, column: 1, text: "no" }] })),
  ).toBe("not run");
  expect(stateOf(aCheck({ state: null }))).toBe("queued");
  expect(stateOf(aCheck({ state: "failed" }))).toBe("failed");
});

it("tells a spec that is planned, and what measuring it would take", () => {
  const dry = {
    cases: 18,
    jobs: 4,
    minutes: { a: 12, b: 48 },
    runs_ahead: 1,
    minutes_ahead: 25,
    detects: 0.005,
  };
  expect(stateOf(aCheck({ run_id: null, dry_run: dry }))).toBe("planned");
  expect(dryRunInWords(dry)).toBe(
    "would be 18 cases in 4 jobs, about 60 min; before it 1 run, about 25 min; detects 0.50%",
  );
  expect(dryRunInWords({ ...dry, cases: 1, runs_ahead: 0, detects: null })).toBe(
    "would be 1 case in 4 jobs, about 60 min",
  );
  expect(dryRunInWords({ ...dry, mixed_pools: ["a", "b"] })).toMatch(/; unlike nodes in a, b$/);
});

it("counts the specs of a commit by what became of them, the most frequent first", () => {
  const faulty = aCheck({ run_id: null });
  const finished = aCheck({ state: "finished" });
  expect(tally([faulty, finished, finished])).toBe("3 specs: 2 finished, 1 not run");
  expect(tally([finished])).toBe("1 spec: 1 finished");
});

it("shows every spec of a commit that has few", () => {
  const few = Array.from({ length: 12 }, (_, number) => aCheck({ path: `${number}.yaml` }));
  expect(folding(few)).toEqual({ shown: few, folded: [] });
});

it("folds up the specs of a commit that has many, but for some that are in trouble", () => {
  const fine = Array.from({ length: 11 }, (_, number) => aCheck({ path: `${number}.yaml` }));
  const failed = aCheck({ path: "failed.yaml", state: "failed" });
  const faulty = aCheck({ path: "faulty.yaml", run_id: null });
  expect(folding([failed, ...fine, faulty])).toEqual({ shown: [failed, faulty], folded: fine });
  const faults = Array.from({ length: 100 }, (_, number) => aCheck({ path: `${number}.yaml`, run_id: null }));
  const { shown, folded } = folding(faults);
  expect([...shown, ...folded]).toEqual(faults);
  expect(shown).toHaveLength(12);
});
