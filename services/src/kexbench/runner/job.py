"""Measures one job, invocation by invocation, and appends each to the results file."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from kexbench.domain.hosts import HostLoad
from kexbench.domain.samples import Invocation, OutcomeKind
from kexbench.runner.cpus import Cpus
from kexbench.runner.invocation import CutShort, measure_invocation
from kexbench.runner.order import turns
from kexbench.runner.results import append_result, read_results
from kexbench.runner.ticket import Ticket

HOPELESS = frozenset({OutcomeKind.UNSUPPORTED, OutcomeKind.HUNG})
"""Outcomes after which a subject is not tried again on a case: it will not change, or costs too much time."""
MOST_TRIES = 3
"""At an invocation that is cut short, before the job gives up."""


@dataclass(frozen=True)
class Progress:
    """After each invocation: how many of the job's are done."""

    case_id: str
    done: int


def measure_job(
    ticket: Ticket, cpus: Cpus, log: Path, load: Callable[[], HostLoad], cancelled: Callable[[], bool]
) -> Iterator[Progress]:
    """Measure what the results file lacks. Ends early when cancelled or out of time, between invocations.
    Of the time that the whole plan may take, a job has the share of its invocations. Raises CutShort where workers are
    ended from outside again and again."""
    known = read_results(ticket.results)
    done = {(invocation.case_id, invocation.invocation) for invocation in known}
    hopeless = {pair for invocation in known for pair in _hopeless(invocation)}
    deadline = time.monotonic() + allowed_s(ticket)
    for number, turn in enumerate(turns(ticket.job, ticket.seed), start=1):
        if cancelled() or time.monotonic() > deadline:
            return
        block = tuple(subject for subject in turn.block if (turn.case_id, subject) not in hopeless)
        if block and (turn.case_id, turn.invocation) not in done:
            whole = partial(measure_invocation, ticket, replace(turn, block=block), cpus, log, load)
            invocation = _unless_cancelled(whole, cancelled)
            if invocation is None:
                return
            append_result(ticket.results, invocation)
            hopeless.update(_hopeless(invocation))
        yield Progress(turn.case_id, number)


def _unless_cancelled(whole: Callable[[], Invocation], cancelled: Callable[[], bool]) -> Invocation | None:
    """An invocation that was not cut short; None where an end was asked for meanwhile. What ends workers asks the
    runner as well, but not always first, so it is tried again. Raises CutShort."""
    for left in reversed(range(MOST_TRIES)):
        try:
            return whole()
        except CutShort:
            if cancelled():
                return None
            if not left:
                raise
    return None


def allowed_s(ticket: Ticket) -> float:
    """The job's share of the plan's time, in seconds."""
    return ticket.measure.max_duration_s * ticket.job.invocations / ticket.measure.invocations


def _hopeless(invocation: Invocation) -> list[tuple[str, str]]:
    return [(invocation.case_id, outcome.subject) for outcome in invocation.outcomes if outcome.kind in HOPELESS]
