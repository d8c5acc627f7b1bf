// A run's state and progress.
import type { RunSummary } from "@/api/generated";

/** Whether the run goes on by itself, so that its page polls. */
export function isOpen(state: RunSummary["state"]): boolean {
  return state === "queued" || state === "building" || state === "running" || state === "cancelling";
}

export function RunState({ state }: { state: RunSummary["state"] }) {
  return <span className={`chip ${state}`}>{state}</span>;
}

/** Its intervals are wide, and full runs take its place in the history. */
export function FirstLookMark({ run }: { run: Pick<RunSummary, "first_look"> }) {
  if (!run.first_look) return null;
  return (
    <span className="chip" title="A first look: a few short invocations of each case">
      --quick
    </span>
  );
}

/** The detail of the state; red if the run ended, unless somebody cancelled it. */
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
