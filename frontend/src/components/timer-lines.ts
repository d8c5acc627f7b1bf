// The cost of reading a run's clocks, one line per tick source. Pure.
import type { Timer } from "@/api/generated";
import { significant } from "@/format";

/** "tick counter tsc: 9 ns per reading; CPU clock: 230 to 241 ns"; different subjects give a range. */
export function timerLines(timers: Record<string, Timer>): string[] {
  const all = Object.values(timers);
  return [...new Set(all.map((timer) => timer.tick_source))].sort().map((source) => {
    const sameSource = all.filter((timer) => timer.tick_source === source);
    const ticks = range(sameSource.map((timer) => timer.tick_cost_ns));
    const cpu = range(sameSource.map((timer) => timer.thread_cpu_clock_cost_ns));
    return `tick counter ${source}: ${ticks} ns per reading; CPU clock: ${cpu} ns per reading`;
  });
}

function range(values: number[]): string {
  const [low, high] = [Math.min(...values), Math.max(...values)].map((value) => significant(value, 1));
  return low === high ? `${low}` : `${low} to ${high}`;
}
