"""Runs that wait for their turn: asked for, started, cancelled and resumed. What is done about them is the
dispatcher's, or the measurer's on a machine that measures by itself."""

import secrets
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Response

from kexbench.api.access import TheCaller, admit, caller_of
from kexbench.api.dependencies import TheQueueing, TheRunStore, TheSupplies, queueing_of
from kexbench.api.gate import CountedRoute
from kexbench.api.problems import ProblemError
from kexbench.api.reading import known_run, summary
from kexbench.api.run_models import KnownKits, OpenRun, RunSummary, RunWanted
from kexbench.api.uploading import router as uploads
from kexbench.domain.canonical import content_hash
from kexbench.domain.runs import Purpose, Run, RunState, Trigger
from kexbench.queue.controls import Control, refusal
from kexbench.queue.runs import (
    ask_for_end,
    one_architecture,
    one_at_a_time,
    planned,
    queue_run,
    record,
    state_of,
    supplied,
)
from kexbench.store.port import RunProgress, RunStore

_IN_ORDER = [Depends(caller_of), Depends(queueing_of)]
"""Who isn't known is told so, and nothing else."""
router = APIRouter(route_class=CountedRoute, tags=["control"], responses=uploads.responses, dependencies=_IN_ORDER)
IdempotencyKey = Annotated[str | None, Header(max_length=200, description="the same key asks for the same run again")]


@router.post("/runs", operation_id="submit_run", status_code=201)
def submit_run(
    store: TheRunStore,
    supplies: TheQueueing,
    caller: TheCaller,
    wanted: RunWanted,
    response: Response,
    idempotency_key: IdempotencyKey = None,
) -> RunSummary:
    """Plan a spec and queue a run of it. A spec with faults is a 422 problem that names them all with their places."""
    admit(caller, "submitter")
    plan = planned(supplies, wanted.spec_text, wanted.spec_file)
    run_id = f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(4)}"
    if idempotency_key is not None:
        run_id = f"once-{content_hash([caller.name, idempotency_key], length=20)}"
    with one_at_a_time:
        known = store.run(run_id)
        if known is None:
            known = queue_run(store, run_id, Trigger.API, wanted.spec_text, plan, purpose=Purpose(wanted.purpose))
        elif known.plan.plan_id != plan.plan_id:
            detail = f"run {run_id} was asked for with this key and another spec"
            raise ProblemError(HTTPStatus.CONFLICT, detail, "use a new key for a new spec")
    response.headers["Location"] = f"/api/v1/runs/{run_id}"
    return _summary(store, known)


@router.post("/runs/{run_id}/cancel", operation_id="cancel_run", status_code=202)
def cancel_run(store: TheRunStore, supplies: TheQueueing, caller: TheCaller, run_id: str) -> RunSummary:
    """Ask for an end. What is measured by then is kept; asking again changes nothing."""
    admit(caller, "submitter")
    with one_at_a_time:
        run, progress = _asked_of(store, run_id, "cancel")
        ask_for_end(store, supplies, progress.event, caller.name)
    return _summary(store, run)


@router.post("/runs/{run_id}/resume", operation_id="resume_run", status_code=202)
def resume_run(store: TheRunStore, caller: TheCaller, run_id: str) -> RunSummary:
    """Queue again what a run that ended lacks."""
    admit(caller, "submitter")
    run, _ = _asked_of(store, run_id, "resume")
    record(store, run_id, RunState.QUEUED, f"resumed by {caller.name}")
    return _summary(store, run)


@router.get("/open-runs", operation_id="open_runs")
def open_runs(store: TheRunStore, caller: TheCaller) -> list[OpenRun]:
    """Runs that something is still to happen to, the oldest first; those that machines measure by themselves are not
    told."""
    admit(caller, "dispatcher")
    found = []
    for run_id in store.open_runs():
        run = store.run(run_id)
        if run is not None and run.host is None:
            found.append(OpenRun(run_id=run_id, is_started=run.is_started, events=store.events(run_id)))
    return found


@router.get("/open-runs/{run_id}", operation_id="open_run")
def open_run(store: TheRunStore, caller: TheCaller, run_id: str) -> Run:
    """A run with its whole plan. Once it is started it is the same for good."""
    admit(caller, "dispatcher", "submitter", "run", run_id=run_id)
    return known_run(store, run_id)


@router.get("/runs/{run_id}/kits", operation_id="known_kits")
def known_kits(store: TheRunStore, supplies: TheSupplies, caller: TheCaller, run_id: str) -> KnownKits:
    """Which kits there are for a run, and which are to be built. Of a started run, those that it began with."""
    admit(caller, "dispatcher")
    run = known_run(store, run_id)
    architecture = one_architecture(supplies, run.plan)
    if run.is_started:
        return KnownKits(architecture=architecture, kits={name: kit.kit_id for name, kit in run.kits.items()})
    found = supplies.depot.kits_of(run.plan, architecture)
    return KnownKits(architecture=architecture, kits={name: kit.kit_id if kit else None for name, kit in found.items()})


@router.post("/runs/{run_id}/start", operation_id="start_run", status_code=204)
def start_run(store: TheRunStore, supplies: TheSupplies, caller: TheCaller, run_id: str) -> None:
    """Fix a run's kits and key material, and say that it runs. Doing it again changes nothing."""
    admit(caller, "dispatcher")
    with one_at_a_time:
        run = known_run(store, run_id)
        if not run.is_started:
            store.add_run(supplied(supplies, run))
        if state_of(store, run_id) in (RunState.QUEUED, RunState.BUILDING):
            record(store, run_id, RunState.RUNNING, "")


def _asked_of(store: RunStore, run_id: str, control: Control) -> tuple[Run, RunProgress]:
    """Raises a 409 problem where a run is not as this asks for."""
    run, progress = known_run(store, run_id), store.progress([run_id])[run_id]
    if problem := refusal(control, run, progress):
        raise problem
    return run, progress


def _summary(store: RunStore, run: Run) -> RunSummary:
    return summary(run, store.progress([run.run_id]).get(run.run_id))
