"""Runs are cancelled: one, several, or all that have not begun. One read of the store and one insert, however many."""

from collections.abc import Sequence
from dataclasses import dataclass

from kexbench.domain.refusals import Refusal, RefusalReason
from kexbench.domain.runs import RunEvent, RunState
from kexbench.queue.controls import cancel_refusal
from kexbench.queue.runs import keep_events, one_at_a_time, run_event, stirred, waiting_states
from kexbench.queue.supplies import LocalSupplies, Supplies
from kexbench.store.port import RunStore


@dataclass(frozen=True)
class Cancelled:
    """What a request to cancel did to a run."""

    run_id: str
    event: RunEvent | None = None
    """Its newest event afterwards; None if there is no such run."""
    refusal: Refusal | None = None
    """Why there was nothing to cancel, or why it cannot be cancelled here."""
    accepted: bool = False
    """Whether this request cancels it, and not an earlier one."""


def cancel_runs(
    store: RunStore, supplies: Supplies | LocalSupplies, run_ids: Sequence[str] | None, who: str
) -> list[Cancelled]:
    """`run_ids`: None for all runs that have not begun. Repeating it changes nothing."""
    with one_at_a_time:
        if run_ids is None:
            waits = waiting_states(supplies)
            newest = {row.run_id: row.event for row in store.open_run_rows() if row.event.state in waits}
        else:
            newest = {run_id: progress.event for run_id, progress in store.progress(list(run_ids)).items()}
        refusals = {run_id: refusal for run_id, event in newest.items() if (refusal := cancel_refusal(event))}
        ends = ask_for_end(store, supplies, [event for event in newest.values() if event.run_id not in refusals], who)
    return [
        Cancelled(run_id, ends.get(run_id, newest[run_id]), refusals.get(run_id), run_id in ends)
        if run_id in newest
        else Cancelled(run_id, refusal=_unknown(run_id))
        for run_id in (newest if run_ids is None else dict.fromkeys(run_ids))
    ]


def ask_for_end(
    store: RunStore, supplies: Supplies | LocalSupplies, newest: Sequence[RunEvent], who: str
) -> dict[str, RunEvent]:
    """Cancel open runs, by their newest events. Returns the added events, by run: none for a run that is being
    cancelled. The caller holds `one_at_a_time`."""
    events = {
        event.run_id: run_event(event.run_id, _end(supplies, event.state), f"cancelled by {who}")
        for event in newest
        if event.state is not RunState.CANCELLING
    }
    keep_events(store, list(events.values()))
    stirred.set()
    return events


def _end(supplies: Supplies | LocalSupplies, state: RunState) -> RunState:
    """On one machine a queued run has not started yet."""
    at_once = state is RunState.QUEUED and isinstance(supplies, LocalSupplies)
    return RunState.CANCELLED if at_once else RunState.CANCELLING


def _unknown(run_id: str) -> Refusal:
    return Refusal(RefusalReason.MISSING, f"there is no run {run_id}", "kexbench runs list lists the runs")
