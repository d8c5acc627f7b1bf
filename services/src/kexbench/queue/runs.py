"""Queued runs. On a cluster the dispatcher works on them, on a single machine the executor."""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from threading import Event, Lock

from kexbench import traces
from kexbench.domain.commits import Commit
from kexbench.domain.plans import Plan
from kexbench.domain.refusals import Refusal, RefusalReason
from kexbench.domain.runs import Purpose, Run, RunEvent, RunReason, RunState, Trigger
from kexbench.planning.compose import Wish, spec_text
from kexbench.planning.documents import DocumentError
from kexbench.planning.queue import QueuedRun
from kexbench.queue.progress import Done, begun_at, expected_s
from kexbench.queue.supplies import LocalSupplies, Supplies
from kexbench.queue.traced import is_stored, trace_states
from kexbench.store.port import OpenRunRow, RunProgress, RunStore, Store

DURATIONS = 50
"""The ended runs that tell how long others will take."""
one_at_a_time = Lock()
"""Checking the existence or state of a run and adding to it are two steps."""
stirred = Event()
"""Set when a run changes its state here. So the executor in this process need not poll, which would disturb
measurements."""


def open_runs(store: Store) -> tuple[dict[str, OpenRunRow], dict[str, RunProgress]]:
    """The runs that have not ended, and how far they are, kept until something is stored."""

    def read() -> tuple[dict[str, OpenRunRow], dict[str, RunProgress]]:
        rows = {row.run_id: row for row in store.open_run_rows()}
        return rows, store.progress(list(rows))

    return store.kept_until_stored("open runs", read)


def takes(store: Store) -> Callable[[str, float], float]:
    """The time that a run is expected to take, by its spec's name and its estimated time."""
    ended = store.kept_until_stored("run durations", lambda: store.run_durations(DURATIONS))
    return partial(expected_s, ended=ended)


def done_of(store: Store, supplies: Supplies | LocalSupplies | None, run_id: str, event: RunEvent, stored: int) -> Done:
    """`event`: the run's newest one. `stored`: its stored invocations. A run that this machine measures has more on the
    disk."""
    if event.state is not RunState.RUNNING:
        return Done(stored)

    def read() -> tuple[datetime, Mapping[str, int], int]:
        begun = begun_at(store.events_by_run([run_id])[run_id])
        return begun, store.stored_by_job(run_id), sum(store.stored_by_job(run_id, begun).values())

    key = ("done", run_id, event.at)
    begun, by_job, before = store.kept_value(key, lambda evidence: evidence.of_run(run_id), read)
    if not isinstance(supplies, LocalSupplies):
        return Done(stored, begun, before)
    here = supplies.measured(run_id)
    measured = sum(max(by_job.get(job_id, 0), here.get(job_id, 0)) for job_id in by_job.keys() | here.keys())
    return Done(measured, begun, before, each_counts=True)


def plan_of(
    supplies: Supplies | LocalSupplies,
    text: str,
    file: str,
    catalogue: str | None = None,
    only: Collection[str] = (),
    *,
    anywhere: bool = False,
) -> Plan:
    """The plan, as `Planner` makes it. Raises DocumentError for faults of the spec, and a Refusal if no cluster can
    measure it."""
    plan = supplies.plan(text, file, catalogue, only, anywhere=anywhere)
    if isinstance(supplies, Supplies):
        one_architecture(supplies, plan)
    return plan


def planned(supplies: Supplies | LocalSupplies, text: str, file: str) -> Plan:
    """Raises a Refusal with the spec's faults, or if no cluster can measure it."""
    try:
        return plan_of(supplies, text, file)
    except DocumentError as error:
        raise Refusal(RefusalReason.UNUSABLE, str(error), "correct the spec") from None


def planned_wish(supplies: Supplies | LocalSupplies, wish: Wish, catalogue_text: str) -> Plan:
    """The plan of a run that the service itself queues. Raises a Refusal if it cannot be measured."""
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
    """Announce a run for the dispatcher or the executor. The caller holds `one_at_a_time`.

    The event is stored first. If the process ends in between, nobody sees an event without a run. A run without an
    event would never be measured."""
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
    kits_or_none = supplies.shared_store.kits_of(run.plan, one_architecture(supplies, run.plan))
    kits = {name: kit for name, kit in kits_or_none.items() if kit is not None}
    if missing := sorted(kits_or_none.keys() - kits.keys()):
        raise Refusal(RefusalReason.CONFLICT, f"the kit of {missing[0]} is not built yet", "build it first")
    material = {case.case_id: supplies.material.provide(case) for case in run.plan.cases}
    return run.model_copy(update={"kits": supplies.shared_store.frozen_for(run.plan, kits), "material": material})


def one_architecture(supplies: Supplies, plan: Plan) -> str:
    """The architecture that all pools of a plan share: a run has one kit of each subject."""
    architectures = supplies.architectures()
    if gone := [pool for pool in plan.pools if pool not in architectures]:
        detail = f"there is no pool {gone[0]}; there are {', '.join(sorted(architectures))}"
        raise Refusal(RefusalReason.CONFLICT, detail, "name pools of the cluster in the spec: pools: [NAME]")
    by_pool = {pool: architectures[pool] for pool in plan.pools}
    if len(set(by_pool.values())) > 1:
        listing = ", ".join(f"{pool} is {architecture}" for pool, architecture in by_pool.items())
        detail = f"the pools have different architectures: {listing}"
        raise Refusal(RefusalReason.UNUSABLE, detail, "write a spec for each architecture")
    return next(iter(by_pool.values()))


def claim(store: RunStore, run_id: str) -> bool:
    """Set a queued run to `building`. False if it is no longer queued."""
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
    keep_events(store, [run_event(run_id, state, detail, reason, about)])
    stirred.set()


def keep_events(store: RunStore, events: Sequence[RunEvent]) -> None:
    """Store an event each of several runs. If it ends the run, the run's states become spans of its trace."""
    ends = [event for event in events if not event.state.is_open] if traces.are_on() else []
    ended = [event.run_id for event in ends if not is_stored(event, store.events(event.run_id))]
    store.add_events(events)
    for run in store.runs_named(ended) if ended else ():
        trace_states(run, store.events(run.run_id))


def run_event(
    run_id: str, state: RunState, detail: str = "", reason: RunReason | None = None, about: tuple[str, ...] = ()
) -> RunEvent:
    now = datetime.now(UTC)
    return RunEvent(run_id=run_id, at=now, state=state, detail=detail, reason=reason, about=about)


def state_of(store: RunStore, run_id: str) -> RunState:
    return store.progress([run_id])[run_id].event.state


def waiting_states(supplies: Supplies | LocalSupplies | None) -> tuple[RunState, ...]:
    """The states of a run that has not begun. On a cluster kits are built while other runs are measured."""
    return (RunState.QUEUED,) if isinstance(supplies, LocalSupplies) else (RunState.QUEUED, RunState.BUILDING)


def as_queued(row: OpenRunRow, waits: Collection[RunState] = (RunState.QUEUED,)) -> QueuedRun:
    """`waits` are the states of a waiting run. If a spec changes again, its earlier runs are no longer needed; runs of
    new library versions are all needed."""
    state = RunState.QUEUED if row.event.state in waits else row.event.state
    branch_key = row.line if row.trigger in (Trigger.COMMIT, Trigger.PULL_REQUEST) else ""
    return QueuedRun(row.run_id, row.trigger, row.spec_name, row.queued_at, state, branch_key)
