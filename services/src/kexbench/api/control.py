"""Queued runs: submitted, started, cancelled and resumed. The dispatcher of a cluster, or the executor of a single
machine, carries them out."""

import secrets
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Annotated

from fastapi import Depends, Header, Request, Response

from kexbench.answers.runs import RunSummary, known_run, summary
from kexbench.api.access import TheCaller, caller_of, check_bounds
from kexbench.api.audit import note_subject
from kexbench.api.dependencies import TheQueueing, TheRunStore, TheStore, TheSupplies, queueing_of
from kexbench.api.gate import CountedRoute, api_router
from kexbench.api.problems import ProblemError
from kexbench.api.run_models import (
    CancelOutcome,
    CancelWanted,
    KnownKits,
    OpenRun,
    RunCancellation,
    RunsCancelled,
    RunWanted,
)
from kexbench.api.uploading import router as uploads
from kexbench.domain.canonical import content_hash
from kexbench.domain.runs import Purpose, Run, RunEvent, RunState, Trigger
from kexbench.material.padding import MaterialError
from kexbench.queue import runs
from kexbench.queue.cancelling import Cancelled, cancel_runs
from kexbench.queue.controls import resume_refusal
from kexbench.queue.runs import (
    one_architecture,
    one_at_a_time,
    planned,
    queue_run,
    record,
    state_of,
    supplied,
)
from kexbench.store.port import RunStore

_IN_ORDER = [Depends(caller_of), Depends(queueing_of)]
"""Unknown callers are refused before anything else."""
router = api_router(route_class=CountedRoute, tags=["control"], responses=uploads.responses, dependencies=_IN_ORDER)
IdempotencyKey = Annotated[str | None, Header(max_length=200, description="a repeated key returns the same run")]


@router.post("/runs", operation_id="submit_run", status_code=201)
def submit_run(
    store: TheRunStore,
    supplies: TheQueueing,
    caller: TheCaller,
    request: RunWanted,
    response: Response,
    idempotency_key: IdempotencyKey = None,
) -> RunSummary:
    """Plan a spec and queue its run. A spec with faults is a 422 problem that lists all faults with their places."""
    plan = planned(supplies, request.spec_text, request.spec_file)
    run_id = f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(4)}"
    if idempotency_key is not None:
        run_id = f"once-{content_hash([caller.name, idempotency_key], length=20)}"
    with one_at_a_time:
        run = store.run(run_id)
        if run is None:
            run = queue_run(store, run_id, Trigger.API, request.spec_text, plan, purpose=Purpose(request.purpose))
        elif run.plan.plan_id != plan.plan_id:
            detail = f"run {run_id} was requested with this key and another spec"
            raise ProblemError(HTTPStatus.CONFLICT, detail, "use a new key for a new spec")
    response.headers["Location"] = f"/api/v1/runs/{run_id}"
    return _summary(store, run)


@router.post("/runs/cancel", operation_id="cancel_runs", status_code=202)
def cancel_several(
    store: TheRunStore, supplies: TheQueueing, caller: TheCaller, request: CancelWanted, http: Request
) -> RunsCancelled:
    """Cancel some runs, or all that have not begun. Results so far are kept. One that cannot be cancelled does not stop
    the others. Repeating it changes nothing."""
    run_ids = None if request.queued else request.run_ids
    note_subject(http, *(run_ids or ["queued"]))
    return RunsCancelled(runs=[_outcome(each) for each in cancel_runs(store, supplies, run_ids, caller.name)])


@router.post("/runs/{run_id}/cancel", operation_id="cancel_run", status_code=202)
def cancel_run(store: TheRunStore, supplies: TheQueueing, caller: TheCaller, run_id: str) -> RunSummary:
    """Cancel a run. Results so far are kept. Repeating it changes nothing."""
    run = known_run(store, run_id)
    (cancelled,) = cancel_runs(store, supplies, [run_id], caller.name)
    if cancelled.refusal:
        raise cancelled.refusal
    return _summary(store, run)


@router.post("/runs/{run_id}/resume", operation_id="resume_run", status_code=202)
def resume_run(store: TheRunStore, caller: TheCaller, run_id: str) -> RunSummary:
    """Queue the missing part of an ended run again."""
    run = known_run(store, run_id)
    if problem := resume_refusal(run, store.progress([run_id])[run_id]):
        raise problem
    record(store, run_id, RunState.QUEUED, f"resumed by {caller.name}")
    return _summary(store, run)


@router.get("/open-runs", operation_id="open_runs")
def open_runs(store: TheStore) -> list[OpenRun]:
    """Runs of this cluster that have not ended, in the order in which they were last queued."""
    rows, _ = runs.open_runs(store)
    ours = [row for row in rows.values() if not row.has_host]
    events = store.events_by_run([row.run_id for row in ours])
    return [
        OpenRun(
            run_id=row.run_id,
            pools=list(row.pools),
            invocations_planned=row.invocations,
            events=events[row.run_id],
        )
        for row in ours
    ]


@router.get("/open-runs/{run_id}", operation_id="open_run")
def open_run(store: TheRunStore, caller: TheCaller, run_id: str) -> Run:
    """A run with its whole plan. A started run never changes."""
    check_bounds(caller, run_id=run_id)
    return known_run(store, run_id)


@router.get("/runs/{run_id}/kits", operation_id="known_kits")
def known_kits(store: TheRunStore, supplies: TheSupplies, run_id: str) -> KnownKits:
    """The kits of a run, and those that must be built first. For a started run, the kits that it started with."""
    run = known_run(store, run_id)
    architecture = one_architecture(supplies, run.plan)
    if run.is_started:
        return KnownKits(architecture=architecture, kits={name: kit.kit_id for name, kit in run.kits.items()})
    kits = supplies.shared_store.kits_of(run.plan, architecture)
    return KnownKits(architecture=architecture, kits={name: kit.kit_id if kit else None for name, kit in kits.items()})


@router.post("/runs/{run_id}/start", operation_id="start_run")
def start_run(store: TheRunStore, supplies: TheSupplies, run_id: str) -> RunEvent:
    """Give a run its kits and key material; its state becomes `running`, or `failed` if the material cannot be made.
    Repeating it changes nothing. Returns the run's newest event, which is another one if the run was cancelled
    meanwhile."""
    outcome = RunState.RUNNING, ""
    with one_at_a_time:
        run = known_run(store, run_id)
        if not run.is_started:
            try:
                store.add_run(supplied(supplies, run))
            except MaterialError as error:
                outcome = RunState.FAILED, f"key material cannot be made: {error}"
        if state_of(store, run_id) in (RunState.QUEUED, RunState.BUILDING):
            record(store, run_id, *outcome)
        return store.progress([run_id])[run_id].event


def _outcome(cancelled: Cancelled) -> RunCancellation:
    event, refusal = cancelled.event, cancelled.refusal
    outcome: CancelOutcome = "accepted" if cancelled.accepted else "unchanged"
    if refusal and (event is None or event.state.is_open):
        outcome = "refused" if event else "unknown"
    return RunCancellation(
        run_id=cancelled.run_id,
        outcome=outcome,
        state=event.state if event else None,
        detail=refusal.detail if refusal else event.detail if event else "",
        remedy=refusal.remedy if refusal else None,
    )


def _summary(store: RunStore, run: Run) -> RunSummary:
    return summary(run, store.progress([run.run_id]).get(run.run_id))
