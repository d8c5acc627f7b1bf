import { expect, it } from "vitest";
import type { RunVerdict } from "@/api/generated";
import { aCheck, aCommit } from "@/testing/build";
import { expectGolden } from "@/testing/golden";
import {
  dryRunInWords,
  folding,
  isBad,
  missingText,
  originInWords,
  reasonInWords,
  shortHash,
  stateOf,
  tally,
  titleOf,
} from "./commit-words";

const dry = {
  cases: 18,
  jobs: 4,
  minutes: { a: 12, b: 48 },
  runs_ahead: 1,
  minutes_ahead: 25,
  detects: 0.005,
};

it("commits in words", async () => {
  const faulty = aCheck({ run_id: null });
  const finished = aCheck({ state: "finished" });
  await expectGolden("commit-words", {
    "origin: with an author": originInWords(aCommit({ author: "Ada Example" })),
    "origin: without an author": originInWords(aCommit({ author: "" })),
    "title: with a message": titleOf(aCommit({ title: "Measure it" })),
    "title: without a message": titleOf(aCommit({ title: "" })),
    reasons: (["spec", "library"] as const).map(reasonInWords),
    "plan: behind another run": dryRunInWords(dry),
    "plan: one case, next in the queue": dryRunInWords({ ...dry, cases: 1, runs_ahead: 0, detects: null }),
    "plan: pools with different nodes": dryRunInWords({ ...dry, mixed_pools: ["a", "b"] }),
    "tally: several states, the most frequent first": tally([faulty, finished, finished]),
    "tally: one spec": tally([finished]),
  });
});

it("shortens the hash of a commit", () => {
  expect(shortHash(aCommit({ commit: `abc1234${"0".repeat(33)}` }))).toBe("abc1234");
});

it("distinguishes a spec without a run from a run that was just requested", () => {
  expect(
    stateOf(aCheck({ run_id: null, faults: [{ file: "quick.yaml", line: 1, column: 1, text: "no" }] })),
  ).toBe("not run");
  expect(stateOf(aCheck({ state: null }))).toBe("queued");
  expect(stateOf(aCheck({ state: "failed" }))).toBe("failed");
});

it("knows a planned spec", () => {
  expect(stateOf(aCheck({ run_id: null, dry_run: dry }))).toBe("planned");
});

it("shows every spec of a commit that has few", () => {
  const few = Array.from({ length: 12 }, (_, number) => aCheck({ path: `${number}.yaml` }));
  expect(folding(few)).toEqual({ shown: few, folded: [] });
});

it("folds the specs of a commit that has many, except some with problems", () => {
  const fine = Array.from({ length: 11 }, (_, number) => aCheck({ path: `${number}.yaml` }));
  const failed = aCheck({ path: "failed.yaml", state: "failed" });
  const faulty = aCheck({ path: "faulty.yaml", run_id: null });
  expect(folding([failed, ...fine, faulty])).toEqual({ shown: [failed, faulty], folded: fine });
  const faults = Array.from({ length: 100 }, (_, number) => aCheck({ path: `${number}.yaml`, run_id: null }));
  const { shown, folded } = folding(faults);
  expect([...shown, ...folded]).toEqual(faults);
  expect(shown).toHaveLength(12);
});

const verdict: RunVerdict = {
  compared: 9,
  unresolved: 0,
  more: 0,
  less: 0,
  largest: [],
  trouble: "",
  sentence: "",
};

it("says what has no result, and that nothing compared is no success", () => {
  expect(missingText(verdict)).toBe("");
  const missing: RunVerdict["missing"] = { unsupported: 1200, crashed: 1 };
  expect(missingText({ ...verdict, missing, lost: 1 })).toBe(
    "Without a result: 1,200 unsupported, 1 crashed. In 1 comparison, only the newer version failed.",
  );
  expect([verdict, { ...verdict, compared: 0 }, { ...verdict, more: 1 }].map(isBad)).toEqual([
    false,
    true,
    true,
  ]);
});
