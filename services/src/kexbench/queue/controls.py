"""What can be done to a run in its state. Its page offers exactly that; the routes refuse anything else."""

from typing import Literal, get_args

from kexbench.domain.refusals import Refusal, RefusalReason
from kexbench.domain.runs import Run, RunEvent, RunReason, RunState
from kexbench.store.port import RunProgress

Control = Literal["cancel", "resume"]
"""What can be done to a queued run."""


def controls_of(run: Run, progress: RunProgress) -> list[Control]:
    """The actions that change something: cancelling a run twice is allowed, but has no effect."""
    if progress.event.state is RunState.CANCELLING:
        return []
    refusals = {"cancel": cancel_refusal(progress.event), "resume": resume_refusal(run, progress)}
    return [control for control in get_args(Control) if refusals[control] is None]


def cancel_refusal(newest: RunEvent) -> Refusal | None:
    """Why the run of this newest event cannot be cancelled; None if it can."""
    if _is_by_command(newest):
        return _measured_by_command(newest)
    if newest.state.is_open:
        return None
    return _conflict(f"run {newest.run_id} is {newest.state}: there is nothing to cancel")


def resume_refusal(run: Run, progress: RunProgress) -> Refusal | None:
    """Why a run cannot be resumed; None if it can."""
    newest = progress.event
    if _is_by_command(newest):
        return _measured_by_command(newest)
    if newest.state.is_open:
        return _conflict(f"run {run.run_id} is {newest.state}: it continues by itself")
    if newest.state is RunState.FINISHED and progress.invocations_stored >= run.plan.invocations:
        return _conflict(f"run {run.run_id} already has all its invocations")
    return None


def _is_by_command(newest: RunEvent) -> bool:
    return newest.state.is_open and newest.reason is RunReason.BY_COMMAND


def _measured_by_command(newest: RunEvent) -> Refusal:
    return _conflict(f"run {newest.run_id} is being measured by a command on its machine", "press Ctrl-C there")


def _conflict(detail: str, remedy: str | None = None) -> Refusal:
    return Refusal(RefusalReason.CONFLICT, detail, remedy)
