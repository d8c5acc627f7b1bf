"""Runs that wait for their turn. What is done about them is the dispatcher's, or the measurer's on a machine that
measures by itself."""

from collections.abc import Collection
from datetime import UTC, datetime
from threading import Event, Lock

from kexbench.domain.commits import Commit
from kexbench.domain.plans import Plan
from kexbench.domain.refusals import Refusal, RefusalReason
from kexbench.domain.runs import Purpose, Run, RunEvent, RunReason, RunState, Trigger
from kexbench.planning.compose import Wish, spec_text
from kexbench.planning.documents import DocumentError
from kexbench.planning.queue import QueuedRun
from kexbench.queue.supplies import LocalSupplies, Supplies
from kexbench.store.port import OpenRunRow, RunStore

one_at_a_time = Lock()
"""Looking whether there is a run, or what state it is in, and adding to it are two steps."""
stirred = Event()
"""Set when a run came to another state here, so that whoever sees to the queue in this process need not ask again and
again, which would disturb what is measured."""


def plan_of(
    supplies: Supplies | LocalSupplies,
    text: str,
    file: str,
    catalogue: str | None = None,
    only: Collection[str] = (),
    *,
    anywhere: bool = False,
) -> Plan:
    """As `Planner` makes it. Raises DocumentError for what is wrong with a spec, and a Refusal for what no cluster can
    do."""
    plan = supplies.plan(text, file, catalogue, only, anywhere=anywhere)
    if isinstance(supplies, Supplies):
        one_architecture(supplies, plan)
    return plan


def planned(supplies: Supplies | LocalSupplies, text: str, file: str) -> Plan:
    """Raises a Refusal with the spec's faults, or with what no cluster can do."""
    try:
        return plan_of(supplies, text, file)
    except DocumentError as error:
        raise Refusal(RefusalReason.UNUSABLE, str(error), "correct the spec") from None


def planned_wish(supplies: Supplies | LocalSupplies, wish: Wish, catalogue_text: str) -> Plan:
    """The plan of what this service wants measured itself. Raises a Refusal that says why it cannot be."""
    try:
        return plan_of(supplies, spec_text(wish), wish.name, catalogue_text)
    except DocumentError as error:
        raise Refusal(RefusalReason.UNUSABLE, str(error)) from None


def queue_run(
    store: RunStore,
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


def supplied(supplies: Supplies, run: Run) -> Run:
    found = supplies.depot.kits_of(run.plan, one_architecture(supplies, run.plan))
    kits = {name: kit for name, kit in found.items() if kit is not None}
    if missing := sorted(found.keys() - kits.keys()):
        raise Refusal(RefusalReason.CONFLICT, f"there is no kit of {missing[0]} yet", "have it built first")
    material = {case.case_id: supplies.material.provide(case) for case in run.plan.cases}
    return run.model_copy(update={"kits": supplies.depot.frozen_for(run.plan, kits), "material": material})


def one_architecture(supplies: Supplies, plan: Plan) -> str:
    """The one of all pools of a plan: a run has one kit of each subject."""
    known = supplies.architectures()
    if gone := [pool for pool in plan.pools if pool not in known]:
        raise Refusal(RefusalReason.CONFLICT, f"there is no pool {gone[0]} any more", "see the pools' configuration")
    named = {pool: known[pool] for pool in plan.pools}
    if len(set(named.values())) > 1:
        told = ", ".join(f"{pool} is {architecture}" for pool, architecture in named.items())
        detail = f"the pools are of several architectures: {told}"
        raise Refusal(RefusalReason.UNUSABLE, detail, "write a spec for each architecture")
    return next(iter(named.values()))


def claim(store: RunStore, run_id: str) -> bool:
    """Whether a run still waited; it is `building` then, and its end is to be asked for."""
    with one_at_a_time:
        if state_of(store, run_id) is not RunState.QUEUED:
            return False
        record(store, run_id, RunState.BUILDING, "")
        return True


def record(
    store: RunStore,
    run_id: str,
    state: RunState,
    detail: str,
    reason: RunReason | None = None,
    about: tuple[str, ...] = (),
) -> None:
    now = datetime.now(UTC)
    store.add_event(RunEvent(run_id=run_id, at=now, state=state, detail=detail, reason=reason, about=about))
    stirred.set()


def ask_for_end(store: RunStore, supplies: Supplies | LocalSupplies, newest: RunEvent, who: str) -> None:
    """Of an open run, by its newest event. For who holds `one_at_a_time`."""
    if newest.state is RunState.QUEUED and isinstance(supplies, LocalSupplies):
        record(store, newest.run_id, RunState.CANCELLED, f"cancelled by {who}")  # nobody has begun it
    elif newest.state is not RunState.CANCELLING:
        record(store, newest.run_id, RunState.CANCELLING, f"cancelled by {who}")


def state_of(store: RunStore, run_id: str) -> RunState:
    return store.progress([run_id])[run_id].event.state


def waiting_states(measures_itself: bool) -> tuple[RunState, ...]:
    """Those of a run that has not begun. On a cluster kits are made while others are measured."""
    return (RunState.QUEUED,) if measures_itself else (RunState.QUEUED, RunState.BUILDING)


def as_queued(row: OpenRunRow, waits: Collection[RunState] = (RunState.QUEUED,)) -> QueuedRun:
    """`waits` are the states of a run that waits for its turn. A spec that changed again needs its earlier runs no
    more; those of new versions are all wanted."""
    state = RunState.QUEUED if row.event.state in waits else row.event.state
    line = row.line if row.trigger in (Trigger.COMMIT, Trigger.PULL_REQUEST) else ""
    return QueuedRun(row.run_id, row.trigger, row.spec_name, row.queued_at, state, line)
