// A run's state and how far it is.
import type { RunSummary } from "@/api/generated";

export function RunState({ state }: { state: RunSummary["state"] }) {
  return <span className={`chip ${state}`}>{state}</span>;
}

export function RunProgress({ summary }: { summary: RunSummary }) {
  const { invocations_stored: stored, invocations_planned: planned, state } = summary;
  return (
    <span className="progress">
      {state === "running" && <progress value={stored} max={planned} aria-label="Invocations stored" />}
      {stored} of {planned} invocations
    </span>
  );
}
