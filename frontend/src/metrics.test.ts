import { expect, it } from "vitest";
import type { MetricView } from "@/api/generated";
import { metricChoices } from "./metrics";

const view = (metric: MetricView["metric"], stored = true): MetricView => ({
  metric,
  title: metric,
  unit: "ns",
  stored,
});

it("groups metrics by what they are, whatever order they come in", () => {
  const choices = metricChoices([
    view("client_cycles"),
    view("cpu_ns"),
    view("round_trips"),
    view("wall_ns"),
  ]);
  expect(choices.map(({ value, group }) => [group, value])).toEqual([
    ["Time", "cpu_ns"],
    ["Time", "wall_ns"],
    ["Structure", "round_trips"],
    ["Hardware counters", "client_cycles"],
  ]);
});

it("shows a metric without numbers as absent instead of hiding it", () => {
  expect(metricChoices([view("client_cycles", false)])[0]).toMatchObject({
    label: "client_cycles (not counted on this machine)",
    disabled: true,
  });
});
