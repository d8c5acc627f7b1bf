"""Uploads: a run's facts, its attempts, its events, and its invocations one by one.

Everything sent is validated against the run's plan. All writes can be repeated.
"""

from datetime import UTC, datetime
from http import HTTPStatus
from threading import Lock
from typing import Annotated

from fastapi import APIRouter, Query

from kexbench.api.access import Caller, TheCaller, admit
from kexbench.api.dependencies import TheMonitoring, TheRunStore, TheStore
from kexbench.api.gate import CountedRoute
from kexbench.api.models import Problem, StoredInvocation
from kexbench.api.problems import ProblemError
from kexbench.api.reading import PROBLEMS, known_run
from kexbench.domain.hosts import HostFacts
from kexbench.domain.numbers import AttemptNumber
from kexbench.domain.runs import JobAttempt, Run, RunEvent
from kexbench.domain.samples import Invocation
from kexbench.store.port import ResultStore, Store

_one_at_a_time = Lock()
"""Looking whether a number or a run is taken and taking it are two steps."""


router = APIRouter(
    route_class=CountedRoute,
    tags=["uploading"],
    responses={
        **PROBLEMS,
        401: {"model": Problem, "description": "Nobody is known by this token"},
        403: {"model": Problem, "description": "The token is for something else"},
        409: {"model": Problem, "description": "Something else is stored under this id"},
    },
)


@router.put("/runs/{run_id}", operation_id="put_run", status_code=204)
def put_run(store: TheRunStore, caller: TheCaller, run_id: str, run: Run) -> None:
    """Announce a run that a machine measures by itself, or start one that was queued there. Repeating it changes
    nothing; another run of the same id is a conflict, and so is one that was started otherwise."""
    admit(caller, "run", run_id=run_id)
    if run.run_id != run_id:
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, f"the run's own id is {run.run_id}, not {run_id}")
    if fault := incoherent(run):
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, fault)
    with _one_at_a_time:
        known = store.run(run_id)
        if known is None or (known != run and not known.is_started and known == run.announced()):
            store.add_run(run)
        elif known != run:
            raise ProblemError(HTTPStatus.CONFLICT, f"run {run_id} is stored with other facts")


@router.post("/runs/{run_id}/events", operation_id="post_event", status_code=204)
def post_event(store: TheRunStore, caller: TheCaller, run_id: str, event: RunEvent) -> None:
    """Record a change of the run's state."""
    admit(caller, "run", "dispatcher", run_id=run_id)
    known_run(store, run_id)
    if event.run_id != run_id:
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, f"the event is of run {event.run_id}, not {run_id}")
    if caller.role == "dispatcher":  # by this clock, as the events that the API writes: so their order is true
        event = event.model_copy(update={"at": datetime.now(UTC)})
    store.add_event(event)


@router.put("/runs/{run_id}/jobs/{job_id}/attempts/{attempt}", operation_id="put_attempt", status_code=204)
def put_attempt(
    store: TheStore, caller: TheCaller, run_id: str, job_id: str, attempt: AttemptNumber, tried: JobAttempt
) -> None:
    """Announce a try at a job, before anything is measured. Repeating it changes nothing; a number that another pod
    has is a conflict: take the next one."""
    admit(caller, "job", run_id=run_id, job_id=job_id)
    if (tried.run_id, tried.job_id, tried.attempt) != (run_id, job_id, attempt):
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, "the attempt is of another run, job or number")
    if (tried.pod_uid, tried.node) != (caller.pod_uid, caller.node):
        raise ProblemError(HTTPStatus.FORBIDDEN, f"the token is of pod {caller.pod} on node {caller.node}")
    job = known_run(store, run_id).job(job_id)
    if job is None:
        raise ProblemError(HTTPStatus.NOT_FOUND, f"run {run_id} has no job {job_id}")
    with _one_at_a_time:
        known = _attempt(store, run_id, job_id, attempt)
        if known is None:
            store.add_attempt(tried, job.pool)
            return
    if known.pod_uid != tried.pod_uid:
        detail = f"attempt {attempt} at job {job_id} is pod {known.pod}'s"
        raise ProblemError(HTTPStatus.CONFLICT, detail, "announce the next number")


@router.get("/runs/{run_id}/invocations", operation_id="stored_invocations")
def stored_invocations(
    store: TheStore, run_id: str, job_id: Annotated[str, Query(max_length=100)] = ""
) -> list[StoredInvocation]:
    """Which invocations are stored, of one job or of all, so that an interrupted upload goes on where it stopped."""
    known_run(store, run_id)
    return [StoredInvocation(**vars(key)) for key in store.invocations(run_id, job_id)]


@router.get("/runs/{run_id}/stored-by-job", operation_id="stored_by_job")
def stored_by_job(store: TheStore, run_id: str) -> dict[str, int]:
    """How many invocations of each job are stored, by the job's id; of a job that isn't there, none."""
    known_run(store, run_id)
    return store.stored_by_job(run_id)


@router.post("/runs/{run_id}/invocations", operation_id="post_invocation", status_code=204)
def post_invocation(
    store: TheStore, monitoring: TheMonitoring, caller: TheCaller, run_id: str, invocation: Invocation
) -> None:
    """Store one invocation, whole. Sending it again changes nothing."""
    try:
        _store_invocation(store, caller, run_id, invocation)
    except ProblemError:
        monitoring.uploaded("refused")
        raise
    monitoring.uploaded("stored")


def _store_invocation(store: Store, caller: Caller, run_id: str, invocation: Invocation) -> None:
    admit(caller, "run", "job", run_id=run_id, job_id=invocation.job_id)
    run = known_run(store, run_id)
    if fault := misfit(run, invocation):
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, fault)
    host = _host_of(store, run, invocation, caller)
    if fault := emulated(run, invocation, host):
        remedy = "measure on a machine of the kit's own architecture"
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, fault, remedy)
    # A pod that an earlier release started may still send one. It is not refused, since that would end the upload.
    if not invocation.was_cut_short:
        store.add_invocation(run, invocation, host)


def _host_of(store: ResultStore, run: Run, invocation: Invocation, caller: Caller) -> HostFacts:
    """What an invocation was measured on: of a pod only what it announced itself."""
    if run.host is not None:
        return run.host
    attempt = _attempt(store, run.run_id, invocation.job_id, invocation.attempt)
    if attempt is None or attempt.pod_uid != caller.pod_uid or attempt.host.host_id != invocation.host_id:
        detail = f"attempt {invocation.attempt} at job {invocation.job_id} was not announced by {caller.name}"
        raise ProblemError(HTTPStatus.CONFLICT, detail, "announce it first")
    return attempt.host


def _attempt(store: ResultStore, run_id: str, job_id: str, number: int) -> JobAttempt | None:
    return next((one for one in store.attempts(run_id, job_id) if one.attempt == number), None)


def incoherent(run: Run) -> str | None:
    """Why the parts of a run do not belong together, or None."""
    for subject in run.plan.subjects:
        if subject.reference not in run.kits:
            return f"the run has no kit of subject {subject.reference}"
    cases = {case.case_id for case in run.plan.cases}
    for job in run.plan.jobs:
        if unknown := sorted(set(job.case_ids) - cases):
            return f"the plan has no case {unknown[0]} of job {job.job_id}"
    return None


def misfit(run: Run, invocation: Invocation) -> str | None:
    """Why an invocation does not belong to a run, or None."""
    if invocation.run_id != run.run_id:
        return f"the invocation is of run {invocation.run_id}, not {run.run_id}"
    job = next((job for job in run.plan.jobs if job.job_id == invocation.job_id), None)
    if job is None:
        return f"the plan has no job {invocation.job_id}"
    if invocation.case_id not in job.case_ids or invocation.invocation not in job.numbers:
        return f"job {job.job_id} has no invocation {invocation.invocation} of case {invocation.case_id}"
    named = {sample.subject for sample in invocation.samples} | {outcome.subject for outcome in invocation.outcomes}
    if unknown := sorted((named | invocation.negotiated.keys()) - run.kits.keys()):
        return f"the run has no subject {unknown[0]}"
    pairs = [(sample.subject, sample.metric) for sample in invocation.samples]
    if len(pairs) != len(set(pairs)):
        return "a subject's metric is given twice"
    return None


def emulated(run: Run, invocation: Invocation, host: HostFacts) -> str | None:
    """Why the numbers of an invocation were measured under emulation, or None."""
    peer = run.plan.case(invocation.case_id).peer_reference
    for subject in sorted({sample.subject for sample in invocation.samples}):
        for reference in (subject, peer):
            kit = run.kits.get(reference or "")
            if kit and (made_for := kit.build_profile.architecture) != host.architecture:
                where = f"its kit of {reference} is for {made_for}, the host is {host.architecture}"
                return f"{subject} was measured under emulation: {where}"
        timer = invocation.timers.get(subject)
        if timer and timer.emulated:
            return f"{subject} was measured under emulation: its worker said so"
    return None
