// The events of a run, in lines that people read.
import type { RunEvent } from "@/api/generated";

export interface EventLine {
  state: RunEvent["state"];
  detail: string;
  /** when it was first reported; `last`: most recently */
  first: string;
  last: string;
  times: number;
}

/** Consecutive events with the same state and detail become one line. */
export function eventLines(events: RunEvent[]): EventLine[] {
  const lines: EventLine[] = [];
  for (const { state, detail = "", at } of events) {
    const before = lines.at(-1);
    if (before?.state === state && before.detail === detail) {
      before.last = at;
      before.times += 1;
    } else {
      lines.push({ state, detail, first: at, last: at, times: 1 });
    }
  }
  return lines;
}

/** Whether a run has events other than its start and its end. */
export function isEventful(events: RunEvent[]): boolean {
  return events.some(({ state, detail }) => detail || (state !== "running" && state !== "finished"));
}
