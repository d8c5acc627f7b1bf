"""The overview: what is new of each library, and which runs measure. The search. The queue: running and waiting runs,
in the order in which they will run. How far a run is. What is measured now, as streams."""

from collections.abc import AsyncIterator, Hashable
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query, Request
from fastapi.sse import EventSourceResponse, ServerSentEvent

from kexbench.alerts.events import alerts_of
from kexbench.answers.overview import library_states
from kexbench.answers.search import MOST_OF_A_KIND, Hit, alert_hit, best_hits, measured_hits, run_hit, words_of
from kexbench.api.answers import KeptRoute
from kexbench.api.dependencies import MaybeSupplies, TheCatalogue, TheStore
from kexbench.api.gate import api_router
from kexbench.api.problems import ProblemError
from kexbench.api.reading import PROBLEMS, known_run, newest_event
from kexbench.api.run_models import (
    Overview,
    QueueEntry,
    QueueView,
    RunProgressView,
    RunUnderWay,
    SpecView,
    UnderWay,
)
from kexbench.domain.canonical import content_hash
from kexbench.domain.runs import Run
from kexbench.planning.queue import in_order, priority_of, superseded
from kexbench.queue.progress import Done, expected_end_at, jobs_progress, left_s
from kexbench.queue.runs import as_queued, done_of, open_runs, takes, waiting_states
from kexbench.queue.streams import News, Read, Streams, TooManyStreams, Topic
from kexbench.queue.supplies import LocalSupplies, Supplies
from kexbench.store.port import OpenRunRow, Store

router = api_router(tags=["reading"], responses=PROBLEMS)
_kept = APIRouter(route_class=KeptRoute)


@_kept.get("/overview", operation_id="overview")
def overview(request: Request, store: TheStore, catalogue: TheCatalogue, supplies: MaybeSupplies) -> Overview:
    """The newest upgrade of each library with its result, which runs measure now, which specs were measured, and the
    named views."""
    return Overview(
        libraries=library_states(store, catalogue),
        specs=[SpecView(name=name, begun_at=begun_at) for name, begun_at in sorted(store.last_begun().items())],
        views=request.app.state.views,  # the same for as long as the service runs, so that answers can be kept
        **dict(under_way(store, supplies)),
    )


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
def queue(store: TheStore, supplies: MaybeSupplies) -> QueueView:
    """Runs that have not ended: the current runs, then the waiting runs in the order they will begin if no other run is
    queued."""
    waits, is_local = waiting_states(supplies), isinstance(supplies, LocalSupplies)
    rows, stored = open_runs(store)
    last_begun = store.kept_until_stored("last begun", store.last_begun)
    runs = [as_queued(row, waits) for row in rows.values()]
    waiting, newer = [run.run_id for run in in_order(runs, last_begun)], superseded(runs)
    begun = [run_id for run_id, row in rows.items() if row.event.state not in waits]
    entries, before_s, now, takes_s = [], 0.0, datetime.now(UTC), takes(store)
    for run_id in [*begun, *waiting]:
        row = rows[run_id]
        done = done_of(store, supplies, run_id, row.event, stored[run_id].invocations_stored)
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
                invocations_stored=stored[run_id].invocations_stored,
                invocations_measured=done.measured,
                left_s=rest_s,
                wait_s=round(before_s, 1) if is_local and run_id in waiting else None,
                superseded_by=newer.get(run_id),
            )
        )
        before_s += rest_s
    return QueueView(runs=entries)


@router.get("/runs/{run_id}/progress", operation_id="run_progress")
def run_progress(store: TheStore, supplies: MaybeSupplies, run_id: str) -> RunProgressView:
    """How far a run is. `/runs/{run_id}/stream` sends the same as server-sent events, whenever it changes, until the
    run has ended."""
    return _progress_of(store, supplies, known_run(store, run_id))


def _progress_of(store: Store, supplies: Supplies | LocalSupplies | None, run: Run) -> RunProgressView:
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
        log=_log_of(supplies, run.run_id),
        expected_end_at=expected_end_at(whole_s, run.plan.invocations, done, datetime.now(UTC)),
        **dict(jobs_progress(run.plan, event.state, stored, attempts, namespace)),
    )


def _log_of(supplies: Supplies | LocalSupplies | None, run_id: str) -> list[str]:
    return supplies.log_tail(run_id) if isinstance(supplies, LocalSupplies) else []


class _RunNews:
    """The news of a run. Its log grows, and with it what is measured, while nothing is stored."""

    def __init__(self, store: Store, supplies: Supplies | LocalSupplies | None, run_id: str) -> None:
        self._store = store
        self._supplies = supplies
        self._run_id = run_id
        self._view: RunProgressView | None = None

    def __call__(self, changed: bool) -> News | None:
        """Raises a 404 problem."""
        if not changed and self._view and self._view.log == _log_of(self._supplies, self._run_id):
            return None
        self._view = _progress_of(self._store, self._supplies, known_run(self._store, self._run_id))
        return _news(self._view, is_last=not self._view.state.is_open)


def _news(view: RunProgressView | UnderWay, *, is_last: bool = False) -> News:
    """Its id does not change with the time."""
    lasting = view.model_dump(
        mode="json", exclude={"expected_end_at": True, "under_way": {"__all__": {"expected_end_at"}}}
    )
    return News(content_hash(lasting), view.model_dump_json(), is_last)


async def _followed(request: Request, key: Hashable, read: Read) -> AsyncIterator[Topic]:
    """Raises a 503 problem if all streams are taken."""
    streams: Streams = request.app.state.streams
    try:
        client = request.client.host if request.client else ""
        with streams.opened(key, read, client) as topic:
            await streams.begin(topic)
            yield topic
    except TooManyStreams as error:
        raise ProblemError(HTTPStatus.SERVICE_UNAVAILABLE, str(error), "poll, or try again later") from None


async def _followed_run(
    request: Request, store: TheStore, supplies: MaybeSupplies, run_id: str
) -> AsyncIterator[Topic]:
    async for topic in _followed(request, run_id, _RunNews(store, supplies, run_id)):
        yield topic


async def _followed_runs(request: Request, store: TheStore, supplies: MaybeSupplies) -> AsyncIterator[Topic]:
    def read(changed: bool) -> News | None:
        measures = isinstance(supplies, LocalSupplies)  # while nothing is stored
        return _news(under_way(store, supplies)) if changed or measures else None

    async for topic in _followed(request, "under way", read):
        yield topic


async def _events_of(request: Request, topic: Topic, seen: str) -> AsyncIterator[ServerSentEvent]:
    streams: Streams = request.app.state.streams
    async for news in streams.news_of(topic, seen):
        yield ServerSentEvent(raw_data=news.content, id=news.news_id)


LastEventId = Annotated[str, Header(alias="Last-Event-ID", max_length=100)]


@router.get("/runs/{run_id}/stream", include_in_schema=False, response_class=EventSourceResponse)
async def run_stream(
    request: Request, topic: Annotated[Topic, Depends(_followed_run)], seen: LastEventId = ""
) -> AsyncIterator[ServerSentEvent]:
    """`RunProgressView` whenever it changes, until the run has ended."""
    async for event in _events_of(request, topic, seen):
        yield event


@router.get("/overview/stream", include_in_schema=False, response_class=EventSourceResponse)
async def overview_stream(
    request: Request, topic: Annotated[Topic, Depends(_followed_runs)], seen: LastEventId = ""
) -> AsyncIterator[ServerSentEvent]:
    """`UnderWay` whenever it changes."""
    async for event in _events_of(request, topic, seen):
        yield event


router.include_router(_kept)
