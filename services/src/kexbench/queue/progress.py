"""How far a run is: its jobs, and the time left. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import takewhile
from statistics import median
from typing import NamedTuple

from pydantic import Field

from kexbench.domain.frozen import Frozen
from kexbench.domain.plans import Job, Plan
from kexbench.domain.pools import LOCAL
from kexbench.domain.runs import JobAttempt, RunEvent, RunState
from kexbench.store.port import RunDurationRow

MOST_JOBS = 40
"""Jobs that are listed. A plan may have thousands."""
_MEASURING = (RunState.RUNNING, RunState.CANCELLING)


class JobState(StrEnum):
    """In the order in which people look at them."""

    MEASURING = "measuring"
    INCOMPLETE = "incomplete"
    """The run ended before the job had all its invocations."""
    WAITING = "waiting"
    DONE = "done"


class JobProgress(Frozen):
    """How far a job is, with its newest attempt on a cluster."""

    job_id: str
    pool: str
    state: JobState
    invocations_planned: int
    invocations_stored: int
    attempt: int | None = Field(None, description="on a cluster, once the pod has started")
    node: str | None = None
    pod: str | None = None
    started_at: datetime | None = None
    log_command: str | None = Field(None, description="shows the pod's log")


class JobsProgress(Frozen):
    jobs: list[JobProgress] = Field(description=f"at most {MOST_JOBS}; those being measured first")
    job_states: dict[JobState, int] = Field(description="the number of jobs in each state, of all jobs")


def jobs_progress(
    plan: Plan, state: RunState, stored: Mapping[str, int], attempts: Iterable[JobAttempt], namespace: str
) -> JobsProgress:
    """`stored` are invocations by job, `attempts` in order. `namespace` has the pods of jobs."""
    newest = {attempt.job_id: attempt for attempt in attempts}
    jobs = [_job(job, state, stored.get(job.job_id, 0), newest.get(job.job_id), namespace) for job in plan.jobs]
    if state in _MEASURING:
        jobs = _with_local_job(jobs)
    order = list(JobState)
    jobs.sort(key=lambda job: order.index(job.state))
    return JobsProgress(jobs=jobs[:MOST_JOBS], job_states=dict(Counter(job.state for job in jobs)))


def _job(job: Job, state: RunState, stored: int, attempt: JobAttempt | None, namespace: str) -> JobProgress:
    return JobProgress(
        job_id=job.job_id,
        pool=job.pool,
        state=_state_of(job, state, stored, attempt),
        invocations_planned=job.count,
        invocations_stored=stored,
        attempt=attempt and attempt.attempt,
        node=attempt and attempt.node,
        pod=attempt and attempt.pod,
        started_at=attempt and attempt.started_at,
        log_command=attempt and f"kubectl logs {attempt.pod} --namespace {namespace}",
    )


def _state_of(job: Job, state: RunState, stored: int, attempt: JobAttempt | None) -> JobState:
    if stored >= job.count or state is RunState.FINISHED:  # a finished run left out only what is hopeless
        return JobState.DONE
    if not state.is_open:
        return JobState.INCOMPLETE
    return JobState.MEASURING if attempt and state in _MEASURING else JobState.WAITING


def _with_local_job(jobs: list[JobProgress]) -> list[JobProgress]:
    """A single machine measures its jobs in their order, and stores each when it is done."""
    place = next((place for place, job in enumerate(jobs) if job.pool == LOCAL and job.state is JobState.WAITING), None)
    if place is None:
        return jobs
    current = jobs[place].model_copy(update={"state": JobState.MEASURING})
    return [*jobs[:place], current, *jobs[place + 1 :]]


def expected_s(spec_name: str, estimated_s: float, ended: Sequence[RunDurationRow]) -> float:
    """The time from the start of a run to its end. The plan's estimate counts only measuring, on a machine that does
    nothing else, one pool after the other. `ended` runs show what else takes time and whether pools measure at once:
    those of the same spec with a similar estimate by the multiple of it that they took, or else all by what they took
    beyond theirs."""
    alike = [
        row.took_s / row.estimated_s
        for row in ended
        if row.spec_name == spec_name and row.estimated_s and estimated_s / 2 <= row.estimated_s <= 2 * estimated_s
    ]
    if alike:
        return estimated_s * median(alike)
    beyond_s = median(row.took_s - row.estimated_s for row in ended) if ended else 0.0
    return estimated_s + max(0.0, beyond_s)


class Done(NamedTuple):
    """How many invocations of a run are measured."""

    measured: int
    """Also those that the measuring machine has not stored yet."""
    begun_at: datetime | None = None
    """Since when it is being measured, without an interruption; None if it is not."""
    before: int = 0
    """Those measured before that time, since the run was interrupted."""
    each_counts: bool = False
    """Whether each is counted once it is measured, and not only when its job is delivered."""


def left_s(whole_s: float, planned: int, done: Done, now: datetime) -> float:
    """The time until the end of a run, by its pace since it began. `whole_s` decides as long as that is not known, and
    where jobs are counted as a whole until it has passed: the time that the run is expected to take."""
    rest_s = whole_s * (1 - done.measured / planned)
    if done.begun_at is None:
        return round(max(0.0, rest_s), 1)
    elapsed_s = max(0.0, (now - done.begun_at).total_seconds())
    expected_left_s, counted = min(rest_s, whole_s - elapsed_s), done.measured - done.before
    if expected_left_s > 0 and not (counted and done.each_counts):
        return round(expected_left_s, 1)
    return round(elapsed_s * (planned - done.measured) / counted if counted else elapsed_s, 1)


def expected_end_at(whole_s: float, planned: int, done: Done, now: datetime) -> datetime | None:
    """None unless the run is being measured."""
    return now + timedelta(seconds=left_s(whole_s, planned, done, now)) if done.begun_at else None


def begun_at(events: Sequence[RunEvent]) -> datetime:
    """When a run that is being measured was begun or resumed, by its events in order."""
    *_, begun = takewhile(lambda event: event.state is events[-1].state, reversed(events))
    return begun.at
