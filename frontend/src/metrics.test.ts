import { describe, expect, it } from "vitest";
import type { Measure, MetricView } from "@/api/generated";
import { expectGolden } from "@/testing/golden";
import { defaultMetricOf, metricChoices, unaskedText } from "./metrics";

const view = (
  metric: MetricView["metric"],
  group: MetricView["group"] = "Time",
  stored = true,
): MetricView => ({
  metric,
  group,
  title: metric,
  unit: "ns",
  stored,
});

it("keeps the groups and the order of the API", () => {
  const choices = metricChoices([
    view("cpu_ns"),
    view("wall_ns"),
    view("round_trips", "Structure"),
    view("client_cycles", "Hardware counters"),
  ]);
  expect(choices.map(({ value, group }) => [group, value])).toEqual([
    ["Time", "cpu_ns"],
    ["Time", "wall_ns"],
    ["Structure", "round_trips"],
    ["Hardware counters", "client_cycles"],
  ]);
});

it("lists a metric without values, disabled", async () => {
  const [choice] = metricChoices([view("client_cycles", "Hardware counters", false)]);
  expect(choice?.disabled).toBe(true);
  await expectGolden("metrics", { "without values": choice?.label ?? "" });
});

it("shows the metric first that a run's instrument decides by", () => {
  expect(defaultMetricOf({ instrument: "time" })).toBe("cpu_ns");
  expect(defaultMetricOf({ instrument: "instructions" })).toBe("counted_instructions");
  expect(defaultMetricOf({}), "of earlier releases").toBe("cpu_ns");
});

describe("a metric without values in a run", () => {
  const measure: Measure = { invocations: 10, batches: 10, batch_ns: 1, max_duration_s: 1 };
  const start = view("start_cpu_ns", "Start of a process");
  const age = view("growth_bytes", "Age of a context");
  const callgrind = view("counted_instructions", "Counted by callgrind");
  const ofStart = view("start_counted_instructions", "Counted by callgrind");
  const allocations = view("allocated_bytes", "Counted allocations");
  const atomics = view("atomic_operations", "Counted atomic operations");

  it("names what its spec would have to ask for", async () => {
    const metrics = [start, age, callgrind, ofStart, allocations, atomics];
    const texts = metrics.map((metric) => unaskedText(metric, { ...measure, starts: 0, age: 0 }) ?? "");
    expect(metrics.map((metric) => unaskedText(metric, measure))).toEqual(texts); // of earlier releases
    await expectGolden("unasked", { "a spec of time alone": texts });
  });

  it("is not explained by a spec that asks for it", () => {
    expect(unaskedText(start, { ...measure, starts: 20 })).toBeUndefined();
    expect(unaskedText(age, { ...measure, age: 1000 })).toBeUndefined();
    expect(unaskedText(allocations, { ...measure, instrument: "allocations" })).toBeUndefined();
    expect(unaskedText(atomics, { ...measure, instrument: "atomics" })).toBeUndefined();
    expect(unaskedText(view("client_cycles", "Hardware counters"), measure)).toBeUndefined();
  });

  it("of counted starts needs both", () => {
    const instructions: Measure = { ...measure, instrument: "instructions" };
    expect(unaskedText(callgrind, instructions)).toBeUndefined();
    expect(unaskedText(ofStart, instructions)).toBeDefined();
    expect(unaskedText(ofStart, { ...measure, starts: 20 })).toBeDefined();
    expect(unaskedText(ofStart, { ...instructions, starts: 20 })).toBeUndefined();
  });
});
