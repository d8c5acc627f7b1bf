import { describe, expect, it } from "vitest";
import { jobsText, leftText, shareOf } from "./live-model";

const BEGAN = Date.parse("2026-01-01T00:00:00Z");
const RUN = {
  state: "running" as const,
  state_at: "2026-01-01T00:00:00Z",
  expected_end_at: "2026-01-01T00:01:40Z",
  invocations_planned: 10,
  invocations_stored: 0,
};

describe("the share of a run that is done", () => {
  it("grows with the time while nothing is stored", () => {
    expect([0, 25, 50].map((seconds) => shareOf(RUN, BEGAN + seconds * 1000))).toEqual([0, 0.25, 0.5]);
  });
  it("is never behind what is stored, and is that alone once the estimate is over", () => {
    expect(shareOf({ ...RUN, invocations_stored: 4 }, BEGAN)).toBe(0.4);
    expect(shareOf({ ...RUN, invocations_stored: 4 }, BEGAN + 500_000)).toBe(0.4);
    expect(shareOf({ ...RUN, expected_end_at: null, invocations_stored: 10 }, BEGAN)).toBe(1);
  });
  it("is not negative where the browser’s clock is behind", () => {
    expect(shareOf(RUN, BEGAN - 5000)).toBe(0);
  });
});

describe("the time left", () => {
  it("is estimated, and says so once it is over", () => {
    expect(leftText(RUN, BEGAN + 10_000)).toBe("about 90 s left");
    expect(leftText(RUN, BEGAN + 200_000)).toBe("takes longer than estimated");
    expect(leftText({ ...RUN, expected_end_at: null }, BEGAN)).toBe("");
  });
});

it("jobs are counted by their states", () => {
  expect(jobsText({ measuring: 1, done: 2, waiting: 3 })).toBe("1 job measuring, 3 waiting, 2 done");
  expect(jobsText({ done: 2 })).toBe("2 jobs done");
});
