import { expect, it } from "vitest";
import { expectGolden } from "@/testing/golden";
import { timerLines } from "./timer-lines";

const timer = (tick_source: string, tick_cost_ns: number, thread_cpu_clock_cost_ns: number) => ({
  tick_source,
  tick_cost_ns,
  thread_cpu_clock_cost_ns,
});

it("one line per tick source, with a range if subjects differ", async () => {
  const timers = { a: timer("tsc", 9.2, 230.1), b: timer("tsc", 8.9, 241), c: timer("monotonic", 40, 250) };
  await expectGolden("timer-lines", { "two tick sources": timerLines(timers) });
});

it("no lines without timers", () => {
  expect(timerLines({})).toEqual([]);
});
