// What reading a run's clocks cost, a line for each source of ticks. Pure.
import type { Timer } from "@/api/generated";
import { significant } from "@/format";

/** "tick counter tsc 9 ns, CPU clock 230 to 241 ns a reading"; subjects that differ make a range. */
export function timerLines(timers: Record<string, Timer>): string[] {
  const all = Object.values(timers);
  return [...new Set(all.map((one) => one.tick_source))].sort().map((source) => {
    const own = all.filter((one) => one.tick_source === source);
    const ticks = range(own.map((one) => one.tick_cost_ns));
    const cpu = range(own.map((one) => one.thread_cpu_clock_cost_ns));
    return `tick counter ${source} ${ticks} ns, CPU clock ${cpu} ns a reading`;
  });
}

function range(values: number[]): string {
  const [low, high] = [Math.min(...values), Math.max(...values)].map((value) => significant(value, 1));
  return low === high ? `${low}` : `${low} to ${high}`;
}
