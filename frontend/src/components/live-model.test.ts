import { describe, expect, it } from "vitest";
import { doneText, jobsText, leftText } from "./live-model";

const BEGAN = Date.parse("2026-01-01T00:00:00Z");
const RUN = { expected_end_at: "2026-01-01T00:01:40Z" };

it("what is done is what is measured, stored or not", () => {
  expect(doneText({ invocations_measured: 25, invocations_planned: 50 })).toBe(
    "25 of 50 invocations measured",
  );
});

describe("the time left", () => {
  it("is estimated, and says so once it is over", () => {
    expect(leftText(RUN, BEGAN + 10_000)).toBe("about 90 s left");
    expect(leftText(RUN, BEGAN + 200_000)).toBe("takes longer than estimated");
    expect(leftText({ expected_end_at: null }, BEGAN)).toBe("");
  });
});

it("jobs are counted by their states", () => {
  expect(jobsText({ measuring: 1, done: 2, waiting: 3 })).toBe("1 job measuring, 3 waiting, 2 done");
  expect(jobsText({ done: 2 })).toBe("2 jobs done");
});
