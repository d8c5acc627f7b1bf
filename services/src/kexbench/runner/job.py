"""Measures one job, invocation by invocation, and appends each to the results file."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from kexbench.domain.hosts import HostLoad
from kexbench.domain.samples import Invocation
from kexbench.runner.counting import count_invocation
from kexbench.runner.cpus import Cpus
from kexbench.runner.invocation import CutShort, measure_invocation
from kexbench.runner.job_input import JobInput, StoredResult
from kexbench.runner.order import Turn, turns
from kexbench.runner.results import append_result, read_results
from kexbench.runner.web_server import clear_leftovers

MOST_TRIES = 3
"""How often an invocation may be cut short before the job fails."""


class OutOfTime(Exception):
    """The job's time is over, and invocations are left."""


@dataclass(frozen=True)
class Progress:
    """Reported after each invocation. `done` is the number of finished invocations of the job."""

    case_id: str
    done: int


def measure_job(
    job_input: JobInput, cpus: Cpus, log: Path, load: Callable[[], HostLoad], cancelled: Callable[[], bool]
) -> Iterator[Progress]:
    """Measure the invocations that neither earlier attempts nor the results file have. Ends early, between invocations,
    when cancelled. Raises OutOfTime, and CutShort when workers are ended from outside repeatedly."""
    clear_leftovers(log)
    invocations: list[StoredResult | Invocation] = [*job_input.stored, *read_results(job_input.results)]
    done = {(invocation.case_id, invocation.invocation) for invocation in invocations}
    hopeless = {(invocation.case_id, subject) for invocation in invocations for subject in invocation.hopeless}
    deadline = time.monotonic() + allowed_s(job_input)
    for number, turn in enumerate(turns(job_input.job, job_input.seed), start=1):
        if cancelled():
            return
        block = tuple(subject for subject in turn.block if (turn.case_id, subject) not in hopeless)
        if block and (turn.case_id, turn.invocation) not in done:
            if time.monotonic() > deadline:
                raise OutOfTime
            measure = partial(_method(job_input), job_input, replace(turn, block=block), cpus, log, load)
            invocation = _unless_cancelled(measure, cancelled)
            if invocation is None:
                return
            append_result(job_input.results, invocation)
            hopeless.update((turn.case_id, subject) for subject in invocation.hopeless)
        yield Progress(turn.case_id, number)


def _method(job_input: JobInput) -> Callable[[JobInput, Turn, Cpus, Path, Callable[[], HostLoad]], Invocation]:
    return count_invocation if job_input.measure.instrument.counts else measure_invocation


def _unless_cancelled(measure: Callable[[], Invocation], cancelled: Callable[[], bool]) -> Invocation | None:
    """Retry an invocation that is cut short. Returns None if the job was cancelled meanwhile: a shutdown signals
    workers and runner, in any order. Raises CutShort after MOST_TRIES."""
    for remaining in reversed(range(MOST_TRIES)):
        try:
            return measure()
        except CutShort:
            if cancelled():
                return None
            if not remaining:
                raise
    return None


def allowed_s(job_input: JobInput) -> float:
    """The job's share of the plan's time, by its number of invocations, in seconds."""
    return job_input.measure.max_duration_s * job_input.job.invocations / job_input.measure.invocations
