import { expect, it } from "vitest";
import { timerLines } from "./timer-lines";

const timer = (tick_source: string, tick_cost_ns: number, thread_cpu_clock_cost_ns: number) => ({
  tick_source,
  tick_cost_ns,
  thread_cpu_clock_cost_ns,
});

it("says once for each source what a reading costs, as a range where subjects differ", () => {
  const timers = { a: timer("tsc", 9.2, 230.1), b: timer("tsc", 8.9, 241), c: timer("monotonic", 40, 250) };
  expect(timerLines(timers)).toEqual([
    "tick counter monotonic 40 ns, CPU clock 250 ns a reading",
    "tick counter tsc 9 ns, CPU clock 230 to 241 ns a reading",
  ]);
});

it("says nothing where nothing is known", () => {
  expect(timerLines({})).toEqual([]);
});
