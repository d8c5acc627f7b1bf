// A run's state and how far it is.
import type { RunSummary } from "@/api/generated";

/** Whether something is still to happen by itself, so that it is worth asking again. */
export function isOpen(state: RunSummary["state"]): boolean {
  return state === "queued" || state === "building" || state === "running" || state === "cancelling";
}

export function RunState({ state }: { state: RunSummary["state"] }) {
  return <span className={`chip ${state}`}>{state}</span>;
}

/** What is said of the state; red once a run has ended with it, unless somebody wanted that. */
export function RunNote({ summary: { detail, state } }: { summary: Pick<RunSummary, "detail" | "state"> }) {
  const isBad = !isOpen(state) && state !== "cancelled";
  return detail && <p className={isBad ? "said bad" : "said"}>{detail}</p>;
}

export function RunProgress({ summary }: { summary: RunSummary }) {
  const { invocations_stored: stored, invocations_planned: planned, state } = summary;
  return (
    <span className="progress">
      {isOpen(state) && <progress value={stored} max={planned} aria-label="Invocations stored" />}
      {stored} of {planned} invocations
    </span>
  );
}
