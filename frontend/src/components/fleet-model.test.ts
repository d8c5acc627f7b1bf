import { describe, expect, it } from "vitest";
import type { Fleet, FleetNode } from "@/api/generated";
import { type FleetSort, NODE_STATES } from "@/search";
import { answerOf } from "@/testing/mock-api";
import {
  daysText,
  differsText,
  type FleetChoice,
  marksOf,
  nodesOf,
  sentinelText,
  silentText,
  stateCounts,
  troublesText,
} from "./fleet-model";

const example = answerOf<Fleet>("fleet").pools[0]?.nodes[0] as FleetNode;
const point = { run_id: "one", at: "2026-01-01T12:00:00Z", ratio: 1, low: null, high: null };
const node: FleetNode = {
  ...example,
  ...{
    node: "a",
    state: "fine",
    silent_days: null,
    differs: null,
    set_aside: null,
    findings: [],
    sentinel: [],
    days: [0, 4, 6],
  },
  ...{ jobs: 1, lost_jobs: 0, failed_jobs: 0, failures: {} },
};
const differs = { ratio: 1.03, low: 1.02, high: 1.04, runs: 5, peers: 3 };

describe("the nodes of a fleet", () => {
  const fleet = (...nodes: FleetNode[]): Fleet => ({
    ...answerOf<Fleet>("fleet"),
    pools: [
      { pool: "arm", mixed_pool: null, nodes: [node] },
      { pool: "x86", mixed_pool: null, nodes },
    ],
  });
  const all = fleet(
    ...NODE_STATES.toReversed().map((state) => ({ ...node, node: `Node ${state}`, state })),
    { ...node, node: "Node 10", last_seen: "2020-01-01T00:00:00Z", lost_jobs: 1 },
    { ...node, node: "Node 9", sentinel: [{ ...point, ratio: 1.03 }], failed_jobs: 2 },
  );
  const names = (...asked: [FleetChoice, FleetSort?]) => nodesOf(all, ...asked).map(({ node }) => node);

  it("come in the order of urgency, whatever their pool", () => {
    expect(names({})).toEqual([
      ...NODE_STATES.slice(0, -1).map((state) => `Node ${state}`),
      ...["a", "Node fine", "Node 10", "Node 9"],
    ]);
  });
  it("are found by pool, state and a part of the name", () => {
    expect(names({ pool: "arm" })).toEqual(["a"]);
    expect(names({ state: "silent" })).toEqual(["Node silent"]);
    expect(names({ node: "nODE S" })).toEqual(["Node silent", "Node set aside"]);
    expect(names({ pool: "arm", state: "silent" })).toEqual([]);
  });
  it("are sorted by name, cost, last result and jobs", () => {
    expect(names({ state: "fine" }, "name")).toEqual(["a", "Node 9", "Node 10", "Node fine"]);
    expect(names({}, "cost")[0]).toBe("Node 9");
    expect(names({}, "seen")[0]).toBe("Node 10");
    expect(names({}, "jobs").slice(0, 2)).toEqual(["Node 9", "Node 10"]);
  });
  it("are counted by state", () => {
    expect(stateCounts(nodesOf(all, {})).map(({ text }) => text)).toEqual([
      "1 differs from its peers",
      "1 is silent",
      "1 had jobs lost or failed",
      "1 has other warnings",
      "1 is set aside",
      "4 are fine",
    ]);
  });
});

describe("the words about a node", () => {
  it("say by how much it differs, and that one of two may be either", () => {
    expect(differsText({ ...node, differs })).toBe("3.0% slower than its 3 peers [+2.0%, +4.0%], by 5 runs");
    expect(differsText({ ...node, differs: { ...differs, peers: 1 } })).toContain("or the peer is at fault");
    expect(differsText(node)).toBeUndefined();
  });
  it("say for how long it was silent", () => {
    expect(silentText({ ...node, silent_days: 21 })).toBe("Silent: no result for 21 days");
    expect(silentText(node)).toBeUndefined();
  });
  it("count what happened to jobs", () => {
    const troubled = { ...node, lost_jobs: 2, failed_jobs: 1 };
    expect(troublesText(node)).toBeUndefined();
    expect(troublesText(troubled)).toBe("2 lost, 1 failed");
    expect(troublesText({ ...troubled, failures: { crashed: 3 } })).toBe(
      "2 lost, 1 failed; invocations: 3 crashed",
    );
    expect(troublesText({ ...node, failures: { hung: 1 } })).toBe("invocations: 1 hung");
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
