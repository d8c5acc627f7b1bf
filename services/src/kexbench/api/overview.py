"""The overview: what is new of each library, and which runs measure. The search. The queue: running and waiting runs,
in the order in which they will run."""

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Query

from kexbench.alerts.events import alerts_of
from kexbench.api.dependencies import KeptRoute, MeasuresItself, TheCatalogue, TheRunStore, TheStore
from kexbench.api.reading import PROBLEMS
from kexbench.api.run_models import Overview, QueueEntry, QueueView, RunUnderWay, SpecView
from kexbench.comparison.overview import library_states
from kexbench.comparison.search import MOST_OF_A_KIND, Hit, alert_hit, best_hits, measured_hits, run_hit, words_of
from kexbench.domain.runs import RunState
from kexbench.planning.queue import in_order, priority_of, superseded
from kexbench.queue.runs import as_queued, waiting_states
from kexbench.store.port import OpenRunRow

router = APIRouter(tags=["reading"], responses=PROBLEMS)
_kept = APIRouter(route_class=KeptRoute)


@_kept.get("/overview", operation_id="overview")
def overview(store: TheStore, catalogue: TheCatalogue, measures_itself: MeasuresItself) -> Overview:
    """The newest upgrade of each library with its result, which runs measure now, and which specs were measured."""
    waits = waiting_states(measures_itself)
    rows = store.open_run_rows()
    under_way = [row for row in rows if row.event.state not in waits]
    stored = store.progress([row.run_id for row in under_way]) if under_way else {}
    return Overview(
        libraries=library_states(store, catalogue),
        under_way=[
            RunUnderWay(
                run_id=row.run_id,
                spec_name=row.spec_name,
                trigger=row.trigger,
                state=row.event.state,
                detail=row.event.detail,
                state_at=row.event.at,
                invocations_planned=row.invocations,
                invocations_stored=stored[row.run_id].invocations_stored,
            )
            for row in under_way
        ],
        waiting=len(rows) - len(under_way),
        specs=[SpecView(name=name, begun_at=begun_at) for name, begun_at in sorted(store.last_begun().items())],
    )


@_kept.get("/search", operation_id="search")
def search(
    store: TheStore,
    q: Annotated[str, Query(description="words that all must occur, in any case", min_length=1, max_length=200)],
) -> list[Hit]:
    """Cases, upgrades, alerts and runs with some words: at most five of each kind, the best first."""
    words = words_of(q)
    if not words:
        return []
    measured = store.kept_value(("searched",), lambda evidence: evidence.of_all(), lambda: measured_hits(store))
    alerts = alerts_of(store, [row.alert_id for row in store.alert_rows()], datetime.now(UTC))
    runs = store.find_runs(words, MOST_OF_A_KIND)
    return best_hits([*measured, *map(alert_hit, alerts), *map(run_hit, runs)], words)


@router.get("/queue", operation_id="queue")
def queue(store: TheRunStore, measures_itself: MeasuresItself) -> QueueView:
    """Runs that have not ended: the current runs, then the waiting runs in the order they will begin if no other run is
    queued."""
    rows = {row.run_id: row for row in store.open_run_rows()}
    last_begun = store.last_begun()
    waits = waiting_states(measures_itself)
    runs = [as_queued(row, waits) for row in rows.values()]
    waiting, newer = [run.run_id for run in in_order(runs, last_begun)], superseded(runs)
    begun = [run_id for run_id, row in rows.items() if row.event.state not in waits]
    stored = store.progress([*begun, *waiting])
    entries, before_s, now = [], 0.0, datetime.now(UTC)
    for run_id in [*begun, *waiting]:
        row, done = rows[run_id], stored[run_id].invocations_stored
        left_s = _left_s(row, done, now)
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
                invocations_stored=done,
                left_s=left_s,
                wait_s=round(before_s, 1) if measures_itself and run_id in waiting else None,
                superseded_by=newer.get(run_id),
            )
        )
        before_s += left_s
    return QueueView(runs=entries)


def _left_s(row: OpenRunRow, stored: int, now: datetime) -> float:
    """A single machine stores a job only when it is done. Until then the elapsed time estimates better."""
    elapsed_s = (now - row.event.at).total_seconds() if row.event.state is RunState.RUNNING else 0.0
    remaining_s = min(row.estimated_s * (1 - stored / row.invocations), row.estimated_s - elapsed_s)
    return round(max(0.0, remaining_s), 1)


router.include_router(_kept)
