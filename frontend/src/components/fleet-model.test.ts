import { describe, expect, it } from "vitest";
import type { Fleet, FleetNode } from "@/api/generated";
import { answerOf } from "@/testing/mock-api";
import { daysText, differsText, jobsText, marksOf, nodesOf, sentinelText } from "./fleet-model";

const example = answerOf<Fleet>("fleet").pools[0]?.nodes[0] as FleetNode;
const point = { run_id: "one", at: "2026-01-01T12:00:00Z", ratio: 1, low: null, high: null };
const node: FleetNode = {
  ...example,
  ...{ node: "a", differs: null, set_aside: null, findings: [], sentinel: [], days: [0, 4, 6] },
  ...{ jobs: 1, lost_jobs: 0, failed_jobs: 0, failures: {} },
};
const differs = { ratio: 1.03, low: 1.02, high: 1.04, runs: 5, peers: 3 };
const aside = {
  ...{ pool: "p", node: "a", number: 1, by: "x", reason: "fan" },
  at: point.at,
  since: point.at,
};

describe("the nodes of a fleet", () => {
  const fleet = (...nodes: FleetNode[]): Fleet => ({
    ...answerOf<Fleet>("fleet"),
    pools: [
      { pool: "arm", mixed_pool: null, nodes: [node] },
      { pool: "x86", mixed_pool: null, nodes },
    ],
  });
  it("come with those first that differ, are set aside or have a warning, whatever their pool", () => {
    const warned: FleetNode = {
      ...node,
      findings: [{ name: "turbo", verdict: "warning", found: "on" }],
    };
    const all = fleet(
      { ...warned, node: "warned" },
      { ...node, node: "aside", set_aside: aside },
      { ...node, node: "off", differs },
    );
    expect(nodesOf(all, undefined, undefined).map(({ node }) => node)).toEqual([
      "off",
      "aside",
      "warned",
      "a",
    ]);
    expect(nodesOf(all, "arm", undefined).map(({ node }) => node)).toEqual(["a"]);
    expect(nodesOf(all, undefined, "side").map(({ node }) => node)).toEqual(["aside"]);
  });
});

describe("the words about a node", () => {
  it("say by how much it differs, and that one of two may be either", () => {
    expect(differsText({ ...node, differs })).toBe("3.0% slower than its 3 peers [+2.0%, +4.0%], by 5 runs");
    expect(differsText({ ...node, differs: { ...differs, peers: 1 } })).toContain("or the peer is at fault");
    expect(differsText(node)).toBeUndefined();
  });
  it("count jobs and their troubles", () => {
    expect(jobsText(node)).toBe("1 job");
    expect(jobsText({ ...node, jobs: 4, lost_jobs: 2, failed_jobs: 1, failures: { crashed: 3 } })).toBe(
      "4 jobs, 2 lost, 1 failed; 3 crashed",
    );
    expect(daysText(node)).toBe("10 invocations in 3 days, 6 on the last");
  });
  it("say where its newest run is", () => {
    expect(sentinelText(node)).toBe("not measured");
    expect(sentinelText({ ...node, sentinel: [point, { ...point, ratio: 1.03 }] })).toBe(
      "2 runs; the newest is 3.0% slower than the pool’s median",
    );
    expect(sentinelText({ ...node, sentinel: [point] })).toBe("1 run; the newest is at the pool’s median");
  });
});

describe("the chart of a sentinel", () => {
  it("has the median in the middle, and spans two percent at least", () => {
    const marks = marksOf({ ...node, sentinel: [point, { ...point, ratio: 1.01, low: 1, high: 1.02 }] });
    expect(marks.map(({ x, y }) => [x, y])).toEqual([
      [0, 0.5],
      [1, expect.closeTo(0.75)],
    ]);
    expect(marks[1]?.high).toBeCloseTo(1);
  });
  it("reaches to the furthest interval", () => {
    const marks = marksOf({ ...node, sentinel: [{ ...point, ratio: 0.95, low: 0.9, high: 1 }] });
    expect(marks[0]?.low).toBeCloseTo(0);
    expect(marks[0]?.x).toBe(0.5);
  });
});
