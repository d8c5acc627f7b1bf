"""Running and waiting runs, in the order in which they will run, and how far a run is."""

from datetime import UTC, datetime

from pydantic import Field

from kexbench.answers.runs import newest_event
from kexbench.domain.frozen import Frozen
from kexbench.domain.runs import Run, RunState, Trigger
from kexbench.planning.queue import in_order, priority_of, superseded
from kexbench.queue.progress import Done, JobsProgress, expected_end_at, jobs_progress, left_s
from kexbench.queue.runs import as_queued, done_of, open_runs, takes, waiting_states
from kexbench.queue.supplies import LocalSupplies, Supplies
from kexbench.store.port import OpenRunRow, Store


class RunProgressView(JobsProgress):
    """How far a run is."""

    run_id: str
    state: RunState
    state_at: datetime
    detail: str
    invocations_planned: int
    invocations_stored: int
    invocations_measured: int = Field(description="also those that the measuring machine has not stored yet")
    expected_end_at: datetime | None = Field(
        description="by the pace of the run, or as planned until it has one; null unless it is being measured"
    )
    log: list[str] = Field(description="the last lines of its log, on the machine that measures it")


class QueueEntry(Frozen):
    """A run that is under way or waits."""

    run_id: str
    spec_name: str
    trigger: Trigger
    priority: int = Field(description="by the trigger; 1 comes first")
    state: RunState
    detail: str
    queued_at: datetime
    spec_begun_at: datetime | None = Field(
        description="when a run of the spec last began; within a priority, the spec with the oldest one is next"
    )
    pools: list[str]
    invocations_planned: int
    invocations_stored: int
    invocations_measured: int = Field(description="also those that the measuring machine has not stored yet")
    left_s: float = Field(
        description="expected time until the end of the run once it has begun, by how long runs took before"
    )
    wait_s: float | None = Field(
        description="estimated time of the runs before it; null once it has begun, and on a cluster, where runs may be "
        "measured in parallel"
    )
    superseded_by: str | None = Field(description="the newer run of the same branch or schedule that replaces it")


class QueueView(Frozen):
    runs: list[QueueEntry] = Field(description="runs under way first, then in the order they will begin")


class RunUnderWay(Frozen):
    """A run that has begun and not ended."""

    run_id: str
    spec_name: str
    trigger: Trigger
    state: RunState
    detail: str
    state_at: datetime = Field(description="since when it is in this state")
    invocations_planned: int
    invocations_stored: int
    invocations_measured: int = Field(description="also those that the measuring machine has not stored yet")
    expected_end_at: datetime | None = Field(description="estimated; null unless it is being measured")


class UnderWay(Frozen):
    """What is measured now."""

    under_way: list[RunUnderWay] = Field(description="oldest first")
    waiting: int = Field(description="the number of runs that wait")


def under_way(store: Store, supplies: Supplies | LocalSupplies | None) -> UnderWay:
    waits = waiting_states(supplies)
    (rows, progress), now, takes_s = open_runs(store), datetime.now(UTC), takes(store)
    begun = [
        _run_under_way(
            row,
            stored := progress[row.run_id].invocations_stored,
            done_of(store, supplies, row.run_id, row.event, stored),
            takes_s(row.spec_name, row.estimated_s),
            now,
        )
        for row in rows.values()
        if row.event.state not in waits
    ]
    return UnderWay(under_way=begun, waiting=len(rows) - len(begun))


def _run_under_way(row: OpenRunRow, stored: int, done: Done, whole_s: float, now: datetime) -> RunUnderWay:
    return RunUnderWay(
        run_id=row.run_id,
        spec_name=row.spec_name,
        trigger=row.trigger,
        state=row.event.state,
        detail=row.event.detail,
        state_at=row.event.at,
        invocations_planned=row.invocations,
        invocations_stored=stored,
        invocations_measured=done.measured,
        expected_end_at=expected_end_at(whole_s, row.invocations, done, now),
    )


def progress_of(store: Store, supplies: Supplies | LocalSupplies | None, run: Run) -> RunProgressView:
    progress, stored, attempts = store.kept_until_stored(
        ("progress", run.run_id),
        lambda: (
            store.progress([run.run_id]).get(run.run_id),
            store.stored_by_job(run.run_id),
            store.attempts(run.run_id),
        ),
    )
    event, namespace = newest_event(run, progress), supplies.namespace if isinstance(supplies, Supplies) else ""
    done = done_of(store, supplies, run.run_id, event, sum(stored.values()))
    whole_s = takes(store)(run.plan.spec_name, run.plan.estimated_s)
    return RunProgressView(
        run_id=run.run_id,
        state=event.state,
        state_at=event.at,
        detail=event.detail,
        invocations_planned=run.plan.invocations,
        invocations_stored=sum(stored.values()),
        invocations_measured=done.measured,
        log=log_of(supplies, run.run_id),
        expected_end_at=expected_end_at(whole_s, run.plan.invocations, done, datetime.now(UTC)),
        **dict(jobs_progress(run.plan, event.state, stored, attempts, namespace)),
    )


def log_of(supplies: Supplies | LocalSupplies | None, run_id: str) -> list[str]:
    return supplies.log_tail(run_id) if isinstance(supplies, LocalSupplies) else []


def queue(store: Store, supplies: Supplies | LocalSupplies | None) -> QueueView:
    """The current runs, then the waiting runs in the order they will begin if no other run is queued."""
    waits, now = waiting_states(supplies), datetime.now(UTC)
    rows, stored = open_runs(store)
    last_begun = store.kept_until_stored("last begun", store.last_begun)
    runs, takes_s = [as_queued(row, waits) for row in rows.values()], takes(store)
    waiting, newer = [run.run_id for run in in_order(runs, last_begun)], superseded(runs)
    begun = [run_id for run_id, row in rows.items() if row.event.state not in waits]
    waited = set(waiting) if isinstance(supplies, LocalSupplies) else set()
    entries, before_s = [], 0.0
    for run_id in [*begun, *waiting]:
        row, stored_here = rows[run_id], stored[run_id].invocations_stored
        done = done_of(store, supplies, run_id, row.event, stored_here)
        rest_s = left_s(takes_s(row.spec_name, row.estimated_s), row.invocations, done, now)
        entries.append(
            QueueEntry(
                run_id=run_id,
                spec_name=row.spec_name,
                trigger=row.trigger,
                priority=priority_of(row.trigger),
                state=row.event.state,
                detail=row.event.detail,
                queued_at=row.queued_at,
                spec_begun_at=last_begun.get(row.spec_name),
                pools=list(row.pools),
                invocations_planned=row.invocations,
                invocations_stored=stored_here,
                invocations_measured=done.measured,
                left_s=rest_s,
                wait_s=round(before_s, 1) if run_id in waited else None,
                superseded_by=newer.get(run_id),
            )
        )
        before_s += rest_s
    return QueueView(runs=entries)
