"""What may be asked of a run as it is: its page offers just that, and the routes refuse the rest."""

from typing import Literal, get_args

from kexbench.domain.refusals import Refusal, RefusalReason
from kexbench.domain.runs import Run, RunState
from kexbench.store.port import RunProgress

Control = Literal["cancel", "resume"]
"""What may be asked of a run that was queued."""


def controls_of(run: Run, progress: RunProgress) -> list[Control]:
    """What would be done and change something: a run that is being cancelled may be cancelled again, to no effect."""
    if progress.event.state is RunState.CANCELLING:
        return []
    return [control for control in get_args(Control) if refusal(control, run, progress) is None]


def refusal(control: Control, run: Run, progress: RunProgress) -> Refusal | None:
    """Why not; None where it is done."""
    name, state = f"run {run.run_id}", progress.event.state
    if run.host is not None and not run.was_queued:
        remedy = f"there: kexbench run --resume {run.run_id}" if control == "resume" else "there: Ctrl-C"
        return _conflict(f"{name} is measured by a command of its machine", remedy)
    if control == "cancel":
        return None if state.is_open else _conflict(f"{name} is {state}: there is nothing to cancel")
    if state.is_open:
        return _conflict(f"{name} is {state}: it goes on by itself")
    if progress.invocations_stored >= run.plan.invocations:
        return _conflict(f"{name} has all its invocations")
    return None


def _conflict(detail: str, remedy: str | None = None) -> Refusal:
    return Refusal(RefusalReason.CONFLICT, detail, remedy)
