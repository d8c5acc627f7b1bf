import { expect, it } from "vitest";
import type { MetricView } from "@/api/generated";
import { expectGolden } from "@/testing/golden";
import { defaultMetricOf, metricChoices } from "./metrics";

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
