"""What can be done to a run in its state. Its page offers exactly that; the routes refuse anything else."""

from typing import Literal, get_args

from kexbench.domain.refusals import Refusal, RefusalReason
from kexbench.domain.runs import Run, RunReason, RunState
from kexbench.store.port import RunProgress

Control = Literal["cancel", "resume"]
"""What can be done to a queued run."""


def controls_of(run: Run, progress: RunProgress) -> list[Control]:
    """The actions that change something: cancelling a run twice is allowed, but has no effect."""
    if progress.event.state is RunState.CANCELLING:
        return []
    return [control for control in get_args(Control) if refusal(control, run, progress) is None]


def refusal(control: Control, run: Run, progress: RunProgress) -> Refusal | None:
    """Why the action is refused; None if it is allowed."""
    name, state = f"run {run.run_id}", progress.event.state
    if state.is_open and progress.event.reason is RunReason.BY_COMMAND:
        return _conflict(f"{name} is being measured by a command on its machine", "press Ctrl-C there")
    if control == "cancel":
        return None if state.is_open else _conflict(f"{name} is {state}: there is nothing to cancel")
    if state.is_open:
        return _conflict(f"{name} is {state}: it continues by itself")
    if state is RunState.FINISHED and progress.invocations_stored >= run.plan.invocations:
        return _conflict(f"{name} already has all its invocations")
    return None


def _conflict(detail: str, remedy: str | None = None) -> Refusal:
    return Refusal(RefusalReason.CONFLICT, detail, remedy)
