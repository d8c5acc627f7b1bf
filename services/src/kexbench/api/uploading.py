"""Uploads of runners: a run's facts, its events, and its invocations one by one.

A signed token names the run it may write; everything sent is validated against that run's plan.
All writes can be repeated.
"""

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Depends
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from kexbench.api.dependencies import TheSecret, TheStore
from kexbench.api.models import Problem, StoredInvocation
from kexbench.api.problems import ProblemError
from kexbench.api.reading import PROBLEMS, known_run
from kexbench.api.tokens import TokenError, run_of_token
from kexbench.domain.runs import Run, RunEvent
from kexbench.domain.samples import Invocation

_bearer = HTTPBearer(auto_error=False, description="a token signed for one run")
MAX_UPLOAD_BYTES = 16 * 1024 * 1024
"""Of one request's body; the application refuses a larger one before it reads it."""


router = APIRouter(
    tags=["uploading"],
    responses={
        **PROBLEMS,
        401: {"model": Problem, "description": "No valid token for this run"},
        409: {"model": Problem, "description": "Another run has this id"},
        411: {"model": Problem, "description": "No length given"},
        413: {"model": Problem, "description": "Too large"},
    },
)


def authorised(
    run_id: str,
    secret: TheSecret,
    credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)],
) -> None:
    try:
        allowed = run_of_token(credentials.credentials if credentials else "", secret)
    except TokenError as error:
        raise ProblemError(HTTPStatus.UNAUTHORIZED, str(error), "send the token made for this run") from None
    if allowed != run_id:
        raise ProblemError(HTTPStatus.UNAUTHORIZED, f"the token is for run {allowed}, not {run_id}")


guarded = [Depends(authorised)]


@router.put("/runs/{run_id}", operation_id="put_run", status_code=204, dependencies=guarded)
def put_run(store: TheStore, run_id: str, run: Run) -> None:
    """Announce a run. Repeating it changes nothing; another run of the same id is a conflict."""
    if run.run_id != run_id:
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, f"the run's own id is {run.run_id}, not {run_id}")
    if fault := incoherent(run):
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, fault)
    known = store.run(run_id)
    if known is None:
        store.add_run(run)
    elif known != run:
        raise ProblemError(HTTPStatus.CONFLICT, f"run {run_id} is stored with other facts")


@router.post("/runs/{run_id}/events", operation_id="post_event", status_code=204, dependencies=guarded)
def post_event(store: TheStore, run_id: str, event: RunEvent) -> None:
    """Record a change of the run's state."""
    known_run(store, run_id)
    if event.run_id != run_id:
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, f"the event is of run {event.run_id}, not {run_id}")
    store.add_event(event)


@router.get("/runs/{run_id}/invocations", operation_id="stored_invocations")
def stored_invocations(store: TheStore, run_id: str) -> list[StoredInvocation]:
    """Which invocations are stored, so that an interrupted upload goes on where it stopped."""
    known_run(store, run_id)
    return [StoredInvocation(**vars(key)) for key in store.invocations(run_id)]


@router.post("/runs/{run_id}/invocations", operation_id="post_invocation", status_code=204, dependencies=guarded)
def post_invocation(store: TheStore, run_id: str, invocation: Invocation) -> None:
    """Store one invocation, whole. Sending it again changes nothing."""
    run = known_run(store, run_id)
    if fault := misfit(run, invocation):
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, fault)
    if fault := emulated(run, invocation):
        remedy = "measure on a machine of the kit's own architecture"
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, fault, remedy)
    store.add_invocation(run, invocation)


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


def emulated(run: Run, invocation: Invocation) -> str | None:
    """Why the numbers of an invocation were measured under emulation, or None."""
    peer = run.plan.case(invocation.case_id).peer_reference
    for subject in sorted({sample.subject for sample in invocation.samples}):
        for reference in (subject, peer):
            kit = run.kits.get(reference or "")
            if kit and (made_for := kit.build_profile.architecture) != run.host.architecture:
                where = f"its kit of {reference} is for {made_for}, the host is {run.host.architecture}"
                return f"{subject} was measured under emulation: {where}"
        timer = invocation.timers.get(subject)
        if timer and timer.emulated:
            return f"{subject} was measured under emulation: its worker said so"
    return None
