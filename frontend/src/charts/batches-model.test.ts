import { describe, expect, it } from "vitest";
import type { Distribution, InvocationBatches } from "@/api/generated";
import { aCase, aSubject } from "@/testing/build";
import { batchesModel, batchesText } from "./batches-model";

function anInvocation(batches: (number | null)[], level = 100): InvocationBatches {
  const quantiles = { p05: 1, p25: 1, p50: 1, p75: 1, p95: 1 };
  return { job_id: "j", invocation: 0, measured_at: "2026-01-01T00:00:00Z", level, ...quantiles, batches };
}

function aDistribution(distribution: Partial<Distribution>): Distribution {
  return {
    case: aCase("c"),
    subject: aSubject("openssl", "3"),
    metric: "cpu_ns",
    host_kind: { pool: "local", cpu_model: "a CPU" },
    run_id: "r",
    invocations: [],
    left_out: 0,
    disturbed: 0,
    removed: 0,
    host_kinds: [],
    runs: [],
    ...distribution,
  };
}

describe("batches by invocation", () => {
  it("have an axis around all of them, with round numbers", () => {
    const { low, high, ticks } = batchesModel([anInvocation([100, null, 200]), anInvocation([150], 120)]);
    expect([low, high]).toEqual([95, 205]);
    expect(ticks).toEqual([100, 150, 200]);
  });

  it("have an axis where all of them are equal, or nothing", () => {
    for (const value of [0, 5, 1e9]) {
      const { low, high, ticks } = batchesModel([anInvocation([value, value], value)]);
      expect(low).toBeLessThanOrEqual(value);
      expect(high).toBeGreaterThan(value);
      expect(ticks.length).toBeLessThan(10);
    }
  });

  it("are counted, and so is what was left out", () => {
    expect(batchesText(aDistribution({ invocations: [anInvocation([1, 2]), anInvocation([3, 4])] }))).toBe(
      "4 batches in 2 invocations.",
    );
    const lacking = { invocations: [anInvocation([1, null])], disturbed: 1, left_out: 3, removed: 2 };
    expect(batchesText(aDistribution(lacking))).toBe(
      "1 batch in 1 invocation. 1 batch was left out, since another program interrupted it. " +
        "1 invocation has no numbers: too few of the batches were undisturbed. " +
        "The batches of 2 invocations were removed because of their age. Their levels are kept. 3 later invocations not shown.",
    );
  });
});
