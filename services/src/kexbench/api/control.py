"""Runs that wait for their turn: asked for, started, cancelled and resumed. What is done about them is the
dispatcher's, or the measurer's on a machine that measures by itself."""

import secrets
from datetime import UTC, datetime
from http import HTTPStatus
from threading import Event, Lock
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Response

from kexbench.api.access import TheCaller, admit, caller_of
from kexbench.api.control_models import KnownKits, OpenRun, RunWanted, Submission
from kexbench.api.controls import refusal
from kexbench.api.dependencies import LocalSupplies, Supplies, TheQueueing, TheStore, TheSupplies, queueing_of
from kexbench.api.faults import CountedRoute
from kexbench.api.problems import ProblemError
from kexbench.api.reading import known_run, summary
from kexbench.api.run_models import Control, RunSummary
from kexbench.api.uploading import router as uploads
from kexbench.domain.canonical import content_hash
from kexbench.domain.commits import Commit
from kexbench.domain.plans import Plan
from kexbench.domain.runs import Purpose, Run, RunEvent, RunState, Trigger
from kexbench.planning.compose import Wish, spec_text
from kexbench.planning.documents import DocumentError
from kexbench.store.port import RunProgress, Store

_IN_ORDER = [Depends(caller_of), Depends(queueing_of)]
"""Who isn't known is told so, and nothing else."""
router = APIRouter(route_class=CountedRoute, tags=["control"], responses=uploads.responses, dependencies=_IN_ORDER)
IdempotencyKey = Annotated[str | None, Header(max_length=200, description="the same key asks for the same run again")]
one_at_a_time = Lock()
"""Looking whether there is a run, or what state it is in, and adding to it are two steps."""
stirred = Event()
"""Set when a run came to another state here, so that whoever sees to the queue in this process need not ask again and
again, which would disturb what is measured."""


@router.post("/runs", operation_id="submit_run", status_code=201)
def submit_run(
    store: TheStore,
    supplies: TheQueueing,
    caller: TheCaller,
    wanted: RunWanted,
    response: Response,
    idempotency_key: IdempotencyKey = None,
) -> RunSummary:
    """Plan a spec and queue a run of it. A spec with faults is a 422 problem that names them all with their places."""
    admit(caller, "submitter")
    plan = planned(supplies, wanted)
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
def cancel_run(store: TheStore, supplies: TheQueueing, caller: TheCaller, run_id: str) -> RunSummary:
    """Ask for an end. What is measured by then is kept; asking again changes nothing."""
    admit(caller, "submitter")
    with one_at_a_time:
        run, progress = _asked_of(store, run_id, "cancel")
        ask_for_end(store, supplies, progress.event, caller.name)
    return _summary(store, run)


def ask_for_end(store: Store, supplies: Supplies | LocalSupplies, newest: RunEvent, who: str) -> None:
    """Of an open run, by its newest event. For who holds `one_at_a_time`."""
    if newest.state is RunState.QUEUED and isinstance(supplies, LocalSupplies):
        record(store, newest.run_id, RunState.CANCELLED, f"cancelled by {who}")  # nobody has begun it
    elif newest.state is not RunState.CANCELLING:
        record(store, newest.run_id, RunState.CANCELLING, f"cancelled by {who}")


@router.post("/runs/{run_id}/resume", operation_id="resume_run", status_code=202)
def resume_run(store: TheStore, caller: TheCaller, run_id: str) -> RunSummary:
    """Queue again what a run that ended lacks."""
    admit(caller, "submitter")
    run, _ = _asked_of(store, run_id, "resume")
    record(store, run_id, RunState.QUEUED, f"resumed by {caller.name}")
    return _summary(store, run)


@router.get("/open-runs", operation_id="open_runs")
def open_runs(store: TheStore, caller: TheCaller) -> list[OpenRun]:
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
def open_run(store: TheStore, caller: TheCaller, run_id: str) -> Run:
    """A run with its whole plan. Once it is started it is the same for good."""
    admit(caller, "dispatcher", "submitter", "run", run_id=run_id)
    return known_run(store, run_id)


@router.get("/runs/{run_id}/kits", operation_id="known_kits")
def known_kits(store: TheStore, supplies: TheSupplies, caller: TheCaller, run_id: str) -> KnownKits:
    """Which kits there are for a run, and which are to be built. Of a started run, those that it began with."""
    admit(caller, "dispatcher")
    run = known_run(store, run_id)
    architecture = one_architecture(supplies, run.plan)
    if run.is_started:
        return KnownKits(architecture=architecture, kits={name: kit.kit_id for name, kit in run.kits.items()})
    found = supplies.depot.kits_of(run.plan, architecture)
    return KnownKits(architecture=architecture, kits={name: kit.kit_id if kit else None for name, kit in found.items()})


@router.post("/runs/{run_id}/start", operation_id="start_run", status_code=204)
def start_run(store: TheStore, supplies: TheSupplies, caller: TheCaller, run_id: str) -> None:
    """Fix a run's kits and key material, and say that it runs. Doing it again changes nothing."""
    admit(caller, "dispatcher")
    with one_at_a_time:
        run = known_run(store, run_id)
        if not run.is_started:
            store.add_run(_supplied(supplies, run))
        if _state(store, run_id) in (RunState.QUEUED, RunState.BUILDING):
            record(store, run_id, RunState.RUNNING, "")


def _asked_of(store: Store, run_id: str, control: Control) -> tuple[Run, RunProgress]:
    """Raises a 409 problem where a run is not as this asks for."""
    run, progress = known_run(store, run_id), store.progress([run_id])[run_id]
    if problem := refusal(control, run, progress):
        raise problem
    return run, progress


def planned(supplies: Supplies | LocalSupplies, submission: Submission) -> Plan:
    """Raises a 422 problem with the spec's faults, or with what no cluster can do."""
    try:
        plan = supplies.plan(submission.spec_text, submission.spec_file)
    except DocumentError as error:
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, str(error), "correct the spec") from None
    if isinstance(supplies, Supplies):
        one_architecture(supplies, plan)
    return plan


def planned_wish(supplies: Supplies | LocalSupplies, wish: Wish, catalogue_text: str) -> Plan:
    """The plan of what this service wants measured itself. Raises a problem that says why it cannot be."""
    try:
        plan = supplies.plan(spec_text(wish), wish.name, catalogue_text)
    except DocumentError as error:
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, str(error)) from None
    if isinstance(supplies, Supplies):
        one_architecture(supplies, plan)
    return plan


def queue_run(
    store: Store,
    run_id: str,
    trigger: Trigger,
    spec_text: str,
    plan: Plan,
    detail: str = "",
    commit: Commit | None = None,
    spec_path: str | None = None,
    purpose: Purpose = Purpose.HISTORY,
) -> Run:
    """Announce a run that the dispatcher or the measurer sees to. For who holds `one_at_a_time`.

    Its event comes first: ended in between, that is an event of nothing, which nobody sees. A run without an event
    would be one that nobody sees to."""
    run = Run(
        run_id=run_id,
        created_at=datetime.now(UTC).replace(microsecond=0),
        trigger=trigger,
        spec_text=spec_text,
        plan=plan,
        kits={},
        host=None,
        material={},
        commit=commit,
        spec_path=spec_path,
        purpose=purpose,
    )
    record(store, run_id, RunState.QUEUED, detail)
    store.add_run(run)
    return run


def _supplied(supplies: Supplies, run: Run) -> Run:
    found = supplies.depot.kits_of(run.plan, one_architecture(supplies, run.plan))
    kits = {name: kit for name, kit in found.items() if kit is not None}
    if missing := sorted(found.keys() - kits.keys()):
        raise ProblemError(HTTPStatus.CONFLICT, f"there is no kit of {missing[0]} yet", "have it built first")
    material = {case.case_id: supplies.material.provide(case) for case in run.plan.cases}
    return run.model_copy(update={"kits": supplies.depot.frozen_for(run.plan, kits), "material": material})


def one_architecture(supplies: Supplies, plan: Plan) -> str:
    """The one of all pools of a plan: a run has one kit of each subject."""
    known = supplies.architectures()
    if gone := [pool for pool in plan.pools if pool not in known]:
        raise ProblemError(HTTPStatus.CONFLICT, f"there is no pool {gone[0]} any more", "see the pools' configuration")
    named = {pool: known[pool] for pool in plan.pools}
    if len(set(named.values())) > 1:
        told = ", ".join(f"{pool} is {architecture}" for pool, architecture in named.items())
        detail = f"the pools are of several architectures: {told}"
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, detail, "write a spec for each architecture")
    return next(iter(named.values()))


def claim(store: Store, run_id: str) -> bool:
    """Whether a run still waited; it is `building` then, and its end is to be asked for."""
    with one_at_a_time:
        if _state(store, run_id) is not RunState.QUEUED:
            return False
        record(store, run_id, RunState.BUILDING, "")
        return True


def record(store: Store, run_id: str, state: RunState, detail: str) -> None:
    store.add_event(RunEvent(run_id=run_id, at=datetime.now(UTC), state=state, detail=detail))
    stirred.set()


def _state(store: Store, run_id: str) -> RunState:
    return store.progress([run_id])[run_id].event.state


def _summary(store: Store, run: Run) -> RunSummary:
    return summary(run, store.progress([run.run_id]).get(run.run_id))
