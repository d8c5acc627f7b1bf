"""The overview: what is new of each library, and which runs measure. The search. The queue: running and waiting runs,
in the order in which they will run. How far a run is. What is measured now, as streams."""

from collections.abc import AsyncIterator, Hashable
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query, Request
from fastapi.sse import EventSourceResponse, ServerSentEvent

from kexbench.alerts.events import alerts_of
from kexbench.answers.overview import Overview, overview
from kexbench.answers.queued import (
    QueueView,
    RunProgressView,
    UnderWay,
    log_of,
    progress_of,
    queue,
    under_way,
)
from kexbench.answers.runs import known_run
from kexbench.answers.search import Hit, search
from kexbench.api.caching import KeptRoute
from kexbench.api.dependencies import MaybeSupplies, TheCatalogue, TheStore
from kexbench.api.gate import api_router
from kexbench.api.problems import ProblemError
from kexbench.api.reading import PROBLEMS
from kexbench.domain.canonical import content_hash
from kexbench.queue.streams import News, Read, Streams, TooManyStreams, Topic
from kexbench.queue.supplies import LocalSupplies, Supplies
from kexbench.store.port import Store

router = api_router(tags=["reading"], responses=PROBLEMS)
_kept = APIRouter(route_class=KeptRoute)


@_kept.get("/overview", operation_id="overview")
def get_overview(request: Request, store: TheStore, catalogue: TheCatalogue, supplies: MaybeSupplies) -> Overview:
    """The newest upgrade of each library with its result, which runs measure now, which specs were measured, and the
    named views."""
    views = request.app.state.views  # the same for as long as the service runs, so that answers can be kept
    return overview(store, catalogue, supplies, views)


@_kept.get("/search", operation_id="search")
def get_search(
    store: TheStore,
    q: Annotated[str, Query(description="words that all must occur, in any case", min_length=1, max_length=200)],
) -> list[Hit]:
    """Cases, upgrades, alerts and runs with some words: at most five of each kind, the best first."""
    alerts = alerts_of(store, [row.alert_id for row in store.alert_rows()], datetime.now(UTC))
    return search(store, q, alerts)


@router.get("/queue", operation_id="queue")
def get_queue(store: TheStore, supplies: MaybeSupplies) -> QueueView:
    """Runs that have not ended: the current runs, then the waiting runs in the order they will begin if no other run is
    queued."""
    return queue(store, supplies)


@router.get("/runs/{run_id}/progress", operation_id="run_progress")
def run_progress(store: TheStore, supplies: MaybeSupplies, run_id: str) -> RunProgressView:
    """How far a run is. `/runs/{run_id}/stream` sends the same as server-sent events, whenever it changes, until the
    run has ended."""
    return progress_of(store, supplies, known_run(store, run_id))


class _RunNews:
    """The news of a run. Its log grows, and with it what is measured, while nothing is stored."""

    def __init__(self, store: Store, supplies: Supplies | LocalSupplies | None, run_id: str) -> None:
        self._store = store
        self._supplies = supplies
        self._run_id = run_id
        self._view: RunProgressView | None = None

    def __call__(self, changed: bool) -> News | None:
        """Raises a 404 problem."""
        if not changed and self._view and self._view.log == log_of(self._supplies, self._run_id):
            return None
        self._view = progress_of(self._store, self._supplies, known_run(self._store, self._run_id))
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
