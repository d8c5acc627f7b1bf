"""Uploads: a run's facts, its attempts, its events, and its invocations, one by one or several at once.

Everything is validated against the run's plan. All writes can be repeated.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from http import HTTPStatus
from threading import Lock
from typing import Annotated

from fastapi import Depends, Query, Request
from pydantic import Field, TypeAdapter

from kexbench import traces
from kexbench.answers.runs import known_run
from kexbench.api.access import Caller, TheCaller, caller_of, check_bounds
from kexbench.api.dependencies import TheMonitoring, TheRunStore, TheStore
from kexbench.api.gate import CountedRoute, api_router, validated
from kexbench.api.models import Problem, StoredInvocation
from kexbench.api.monitoring import Monitoring
from kexbench.api.problems import ProblemError
from kexbench.api.reading import PROBLEMS
from kexbench.domain.fitting import emulated, incoherent, misfit
from kexbench.domain.hosts import HostFacts
from kexbench.domain.numbers import AttemptNumber
from kexbench.domain.runs import JobAttempt, Run, RunEvent, RunState
from kexbench.domain.samples import Invocation
from kexbench.queue.runs import keep_events, record
from kexbench.store.port import ResultStore, Store, StoreError

_one_at_a_time = Lock()
"""Checking whether a number or run is taken and taking it are two steps."""
_INVOCATIONS: TypeAdapter[Sequence[Invocation]] = TypeAdapter(Annotated[list[Invocation], Field(min_length=1)])


router = api_router(
    route_class=CountedRoute,
    tags=["uploading"],
    responses={
        **PROBLEMS,
        401: {"model": Problem, "description": "The token is not valid here"},
        403: {"model": Problem, "description": "The token is for something else"},
        409: {"model": Problem, "description": "The id is taken by something else"},
    },
)


@router.put("/runs/{run_id}", operation_id="put_run", status_code=204)
def put_run(store: TheRunStore, caller: TheCaller, run_id: str, run: Run) -> None:
    """Queue a run that a command of this machine planned, or start one. Repeating it changes nothing. A different run
    with the same id is a conflict, and so is one started with other facts. Unlike a spec, a plan may use any source:
    a run's token requires the secret of this machine's service."""
    check_bounds(caller, run_id=run_id)
    if run.run_id != run_id:
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, f"the run in the body has id {run.run_id}, not {run_id}")
    if fault := incoherent(run):
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, fault)
    with _one_at_a_time:
        stored = store.run(run_id)
        if stored is None and not run.is_started:
            record(store, run_id, RunState.QUEUED, "")  # first, as for submitted runs
        if stored is None or (stored != run and not stored.is_started and stored == run.announced()):
            store.add_run(run)
        elif stored != run:
            raise ProblemError(HTTPStatus.CONFLICT, f"run {run_id} is already stored with other facts")


@router.post("/runs/{run_id}/events", operation_id="post_event", status_code=204)
def post_event(store: TheRunStore, caller: TheCaller, run_id: str, event: RunEvent) -> None:
    """Record an event of a run. The dispatcher may not queue one: that starts another submission of its jobs."""
    check_bounds(caller, run_id=run_id)
    known_run(store, run_id)
    if event.run_id != run_id:
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, f"the event is of run {event.run_id}, not {run_id}")
    if caller.role == "dispatcher":
        if event.state is RunState.QUEUED:
            raise ProblemError(HTTPStatus.FORBIDDEN, "a dispatcher may not queue a run", "resume it as a submitter")
        # By this clock, as for events of the API, to keep their order.
        event = event.model_copy(update={"at": datetime.now(UTC)})
    keep_events(store, [event])


@router.put("/runs/{run_id}/jobs/{job_id}/attempts/{attempt}", operation_id="put_attempt", status_code=204)
def put_attempt(
    store: TheStore, caller: TheCaller, run_id: str, job_id: str, attempt: AttemptNumber, tried: JobAttempt
) -> None:
    """Announce an attempt at a job, before anything is measured. Repeating it changes nothing. A number that another
    pod has is a conflict: use the next number."""
    check_bounds(caller, run_id=run_id, job_id=job_id)
    _check_attempt(tried, (run_id, job_id, attempt), caller)
    job = known_run(store, run_id).job(job_id)
    if job is None:
        raise ProblemError(HTTPStatus.NOT_FOUND, f"run {run_id} has no job {job_id}")
    with _one_at_a_time:
        announced = _attempt(store, run_id, job_id, attempt)
        if announced is None:
            store.add_attempt(tried, job.pool)
            return
    if announced.pod_uid != tried.pod_uid:
        detail = f"attempt {attempt} at job {job_id} belongs to pod {announced.pod}"
        raise ProblemError(HTTPStatus.CONFLICT, detail, "announce the next number")


def _check_attempt(tried: JobAttempt, address: tuple[str, str, int], caller: Caller) -> None:
    if (tried.run_id, tried.job_id, tried.attempt) != address:
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, "the attempt is of another run, job or number")
    if (tried.pod_uid, tried.node) != (caller.pod_uid, caller.node):
        raise ProblemError(HTTPStatus.FORBIDDEN, f"the token is of pod {caller.pod} on node {caller.node}")


@router.get("/runs/{run_id}/invocations", operation_id="stored_invocations")
def stored_invocations(
    store: TheStore, run_id: str, job_id: Annotated[str, Query(max_length=100)] = ""
) -> list[StoredInvocation]:
    """The stored invocations of one job or of all, so that an interrupted upload or job can continue."""
    known_run(store, run_id)
    keys, hopeless = store.invocations(run_id, job_id), store.hopeless(run_id, job_id)
    return [StoredInvocation(**vars(key), hopeless=hopeless.get(key, [])) for key in keys]


@router.get("/runs/{run_id}/stored-by-job", operation_id="stored_by_job")
def stored_by_job(store: TheStore, run_id: str) -> dict[str, int]:
    """The number of stored invocations by job id. A missing job has none."""
    known_run(store, run_id)
    return store.stored_by_job(run_id)


@router.post("/runs/{run_id}/invocations", operation_id="post_invocation", status_code=204)
def post_invocation(
    store: TheStore, monitoring: TheMonitoring, caller: TheCaller, run_id: str, invocation: Invocation
) -> None:
    """Store one whole invocation. Repeating it changes nothing."""
    _upload(store, monitoring, caller, run_id, [invocation])


async def _body(request: Request) -> AsyncIterator[bytes]:
    """Keeps a turn until the body is stored. A parsed body takes ten times its size."""
    body = await request.body()
    turns: asyncio.Semaphore = request.app.state.upload_turns
    async with turns:
        yield body


@router.post(
    "/runs/{run_id}/invocation-batches",
    operation_id="post_invocations",
    status_code=204,
    dependencies=[Depends(caller_of)],  # unknown callers are refused before their body is read
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {
                    "schema": {"type": "array", "minItems": 1, "items": {"$ref": "#/components/schemas/Invocation"}}
                }
            },
        }
    },
)
def post_invocations(
    store: TheStore,
    monitoring: TheMonitoring,
    caller: TheCaller,
    run_id: str,
    body: Annotated[bytes, Depends(_body)],
) -> None:
    """Store several invocations of a run, which takes much less time than one by one. If one of them is refused, none
    is stored. Repeating it changes nothing."""
    invocations = validated(_INVOCATIONS, body)  # FastAPI would parse it into other objects first
    _upload(store, monitoring, caller, run_id, invocations)


def _upload(
    store: Store, monitoring: Monitoring, caller: Caller, run_id: str, invocations: Sequence[Invocation]
) -> None:
    job_ids = sorted({invocation.job_id for invocation in invocations})
    try:
        with traces.span("store invocations", run_id, job_ids=job_ids, invocations=len(invocations)):
            _store_invocations(store, caller, run_id, invocations)
    except ProblemError:
        monitoring.uploaded("refused", len(invocations))
        raise
    except StoreError as error:
        monitoring.failed(error, len(invocations))
        raise
    monitoring.uploaded("stored", len(invocations))


def _store_invocations(store: Store, caller: Caller, run_id: str, invocations: Sequence[Invocation]) -> None:
    """Everything is checked before anything is stored."""
    for job_id in sorted({invocation.job_id for invocation in invocations}):
        check_bounds(caller, run_id=run_id, job_id=job_id)
    run = known_run(store, run_id)
    hosts: dict[tuple[str, int, str], HostFacts] = {}
    by_host: dict[str, list[Invocation]] = {}
    for invocation in invocations:
        if fault := misfit(run, invocation):
            raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, fault)
        tried = (invocation.job_id, invocation.attempt, invocation.host_id)
        host = hosts.get(tried) or hosts.setdefault(tried, _host_of(store, run, invocation, caller))
        if fault := emulated(run, invocation, host):
            remedy = "measure on a machine of the kit's architecture"
            raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, fault, remedy)
        # A pod of an earlier release may still send one. Refusing it would end the upload.
        if not invocation.was_cut_short:
            by_host.setdefault(host.host_id, []).append(invocation)
    of_host = {host.host_id: host for host in hosts.values()}
    for host_id, measured in by_host.items():
        store.add_invocations(run, measured, of_host[host_id])


def _host_of(store: ResultStore, run: Run, invocation: Invocation, caller: Caller) -> HostFacts:
    """The host of an invocation. A pod may only use an attempt that it announced itself."""
    if run.host is not None:
        return run.host
    attempt = _attempt(store, run.run_id, invocation.job_id, invocation.attempt)
    if attempt is None or attempt.pod_uid != caller.pod_uid or attempt.host.host_id != invocation.host_id:
        detail = f"attempt {invocation.attempt} at job {invocation.job_id} was not announced by {caller.name}"
        raise ProblemError(HTTPStatus.CONFLICT, detail, "announce it first")
    return attempt.host


def _attempt(store: ResultStore, run_id: str, job_id: str, number: int) -> JobAttempt | None:
    return next((attempt for attempt in store.attempts(run_id, job_id) if attempt.attempt == number), None)
