"""The service's health and its metrics for Prometheus, which `metrics.py` reads, and the removal of old batch
values."""

import asyncio
import math
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from itertools import product
from typing import Annotated, Any, Literal, get_args

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, generate_latest

from kexbench import __version__
from kexbench.answers.pruning import is_measuring, prune_step
from kexbench.api.access import ADMITTED
from kexbench.api.gate import STORE_HANGS, CountedRoute, api_router
from kexbench.api.metrics import DiskMetrics, LoopMetrics, NodeMetrics, RunMetrics, TableMetrics
from kexbench.api.models import (
    Health,
    Problem,
    PrunableView,
    PrunedView,
    PruneWanted,
    StoreTable,
    StoreView,
    TroubleView,
)
from kexbench.api.problems import ProblemError
from kexbench.api.refusals import OTHER, REASONS, Written
from kexbench.domain.commits import GONE_REMEDY, Presence
from kexbench.domain.moments import EARLIEST, Moment
from kexbench.domain.repositories import Repository
from kexbench.queue.supplies import Supplies
from kexbench.queue.troubles import Troubles, with_remedy
from kexbench.store.port import Store, StoreError, StoreFull

router = api_router(
    route_class=CountedRoute,
    tags=["reading"],
    responses={
        422: {"model": Problem, "description": "Not a valid request"},
        503: {"model": Problem, "description": "The store does not answer"},
    },
)
at_root = APIRouter()
"""Prometheus expects /metrics without the API's prefix."""


UploadResult = Literal["stored", "refused", "failed", "no_room"]
_ANSWERS, _UPLOADS = "answers", "uploads"
_CHECK_EVERY_S, _CHECK_WAIT_S = 5.0, 0.5
_HANGS_AFTER_S = 10.0
_METRICS, _METRICS_WAIT_S = "metrics of the store", 5.0
"""Prometheus gives up after ten seconds by default."""
_FAILURE_LASTS = timedelta(minutes=10)
"""Longer than the pauses between two tries of an upload."""


class Monitoring:
    """The metrics of one application."""

    def __init__(
        self,
        store: Store,
        troubles: Troubles,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        writes: Callable[[], bool] = lambda: True,
    ) -> None:
        """`writes` returns whether this process writes to the store."""
        self._troubles = troubles
        self._clock = clock
        self._failed_at = EARLIEST
        self._of_store = CollectorRegistry()
        """What has to be read from the store, which may hang."""
        self._reading: Future[bytes] | None = None
        self._reading_since_s = -math.inf
        of_store = (RunMetrics(store, troubles, clock), TableMetrics(store, troubles), DiskMetrics(store, troubles))
        for collector in (*of_store, NodeMetrics(store, troubles, clock)):
            self._of_store.register(collector)
        self._registry = CollectorRegistry()
        self._registry.register(LoopMetrics(troubles))
        words = "Uploads of invocations, by result."
        self._uploads = Counter("kexbench_uploads", words, ["result"], registry=self._registry)
        words = "Refused writes, by whether they were uploads of invocations and by reason."
        self._refusals = Counter("kexbench_refusals", words, ["of", "reason"], registry=self._registry)
        # All are 0 from the start, so that the first is an increase.
        for result in get_args(UploadResult):
            self._uploads.labels(result)
        for written, reason in product(get_args(Written), (*REASONS.values(), OTHER)):
            self._refusals.labels(written, reason)
        words = "Parts of the service that currently fail."
        Gauge("kexbench_service_troubles", words, registry=self._registry).set_function(lambda: len(troubles.now()))
        words = "1 in the process that writes to the store, 0 in others."
        Gauge("kexbench_service_writes", words, registry=self._registry).set_function(lambda: float(writes()))
        words = "1 while the store takes no writes because its disk is full."
        Gauge("kexbench_store_full", words, registry=self._registry).set_function(lambda: float(troubles.lacks_room()))

    def refused(self, written: Written, reason: str) -> None:
        self._refusals.labels(written, reason).inc()

    def uploaded(self, result: Literal["stored", "refused"], invocations: int) -> None:
        self._uploads.labels(result).inc(invocations)
        if result == "stored":
            self._troubles.forget(_UPLOADS)
            self._troubles.has_room()

    def failed(self, error: StoreError, invocations: int) -> None:
        """The store could not take an upload. Whoever sent it keeps it, and sends it again."""
        self._uploads.labels("no_room" if isinstance(error, StoreFull) else "failed").inc(invocations)
        if not isinstance(error, StoreFull):
            self._failed_at = self._clock()
            self._troubles.set(_UPLOADS, f"results wait where they were measured: {with_remedy(error)}")

    def has_no_room(self, error: StoreFull) -> None:
        """The store could not take a write, which may have been an upload."""
        self._failed_at = self._clock()
        self._troubles.set_full(_UPLOADS, error)

    def forget_failures(self) -> None:
        """If nobody tried again for long: the runs ended meanwhile."""
        if self._clock() - self._failed_at > _FAILURE_LASTS:
            self._troubles.forget(_UPLOADS)

    def text(self) -> bytes:
        """All metrics, however long the store takes."""
        of_store = generate_latest(self._of_store)  # first: its troubles are counted
        return of_store + self._text_of_this_process()

    async def current_text(self) -> bytes:
        """All metrics; those of the store are missing while it hangs. One thread at a time reads them."""
        if self._reading is None or self._reading.done():
            self._reading, self._reading_since_s = Future(), time.monotonic()
            threading.Thread(target=self._read, args=(self._reading,), name="metrics", daemon=True).start()
        await asyncio.wait([asyncio.wrap_future(self._reading)], timeout=_METRICS_WAIT_S)
        if not self._reading.done():
            if time.monotonic() - self._reading_since_s > _HANGS_AFTER_S:
                self._troubles.set(_METRICS, STORE_HANGS)
            return self._text_of_this_process()
        self._troubles.forget(_METRICS)
        return self._reading.result() + self._text_of_this_process()

    def _read(self, done: "Future[bytes]") -> None:
        try:
            done.set_result(generate_latest(self._of_store))
        except Exception as error:
            done.set_exception(error)

    def _text_of_this_process(self) -> bytes:
        self.forget_failures()
        return generate_latest(self._registry)


@at_root.get("/metrics", include_in_schema=False)
async def metrics(request: Request) -> Response:
    """For Prometheus."""
    monitoring: Monitoring = request.app.state.monitoring
    return Response(await monitoring.current_text(), media_type=CONTENT_TYPE_LATEST)


@at_root.get("/healthz", include_in_schema=False)
async def healthz() -> Response:
    """For the kubelet: this process answers, whatever the store does. A restart would not help the store."""
    return Response("OK", media_type="text/plain; charset=utf-8")


class StoreCheck:
    """Whether answers can be read from the store, and whether the branches of `repositories` exist, by the notes of the
    watcher, which may be another process. Tried by one thread at a time and at most every few seconds: probes must get
    an answer however long the store takes."""

    def __init__(
        self,
        store: Store,
        troubles: Troubles,
        repositories: Sequence[Repository] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._troubles = troubles
        self._repositories = repositories
        self._clock = clock
        self._last: Future[None] | None = None
        self._begun_s = -math.inf

    async def current(self) -> None:
        """Waits only for a moment; the outcome is among the troubles, at the latest for the next call."""
        if self._last is None or (self._last.done() and self._clock() - self._begun_s > _CHECK_EVERY_S):
            self._begun_s, self._last = self._clock(), Future()
            threading.Thread(target=self._check, args=(self._last,), name="store check", daemon=True).start()
        await asyncio.wait([asyncio.wrap_future(self._last)], timeout=_CHECK_WAIT_S)
        if self.hangs():
            self._troubles.set(_ANSWERS, STORE_HANGS)

    def hangs(self) -> bool:
        """Whether the check that was begun last has waited for long."""
        is_waiting = self._last is not None and not self._last.done()
        return is_waiting and self._clock() - self._begun_s > _HANGS_AFTER_S

    def _check(self, done: "Future[None]") -> None:
        with self._troubles.guard(_ANSWERS):
            self._store.check_readable()
            for repository in self._repositories:
                self._check_branches(repository)
        done.set_result(None)

    def _check_branches(self, repository: Repository) -> None:
        heads = self._store.heads(repository.name)
        for branch in repository.branches:
            part = f"branch {branch} of {repository.name}"
            if branch in heads and heads[branch].presence is Presence.GONE:
                self._troubles.set(part, f"{part} does not exist; {GONE_REMEDY}")
            else:
                self._troubles.forget(part)


@router.get("/health", operation_id="health")
async def health(request: Request) -> Health:
    """Whether the service answers, can read its store and store uploads, which background parts do not work, and which
    watched branches disappeared."""
    check: StoreCheck = request.app.state.store_check
    await check.current()
    request.app.state.monitoring.forget_failures()
    troubles: Troubles = request.app.state.troubles
    views = [TroubleView(**vars(trouble)) for trouble in troubles.now()]
    status: Literal["ok", "impaired"] = "impaired" if views else "ok"
    return Health(status=status, version=__version__, engine=request.app.state.engine, troubles=views)


@router.get("/store", operation_id="store")
def sizes_of_store(request: Request) -> StoreView:
    """The size of the store by table."""
    store: Store = request.app.state.store
    tables = [StoreTable(**vars(size)) for size in store.sizes()]
    return StoreView(tables=tables, size_bytes=sum(table.size_bytes for table in tables))


_RIGHTS: dict[int | str, dict[str, Any]] = {
    401: {"model": Problem, "description": "No valid token"},
    403: {"model": Problem, "description": "The token may not do this"},
}


@router.get("/store/prunable", operation_id="prunable", tags=["control"], responses=_RIGHTS, dependencies=ADMITTED)
def prunable(
    request: Request,
    before: Annotated[Moment, Query(description="count the batch values of invocations before this time")],
) -> PrunableView:
    """What could be removed. Counting reads the whole store."""
    store: Store = request.app.state.store
    runs = store.prunable(before)
    return PrunableView(
        runs=len(runs),
        samples=sum(each.samples for each in runs),
        values=sum(each.values for each in runs),
        size_bytes=store.prunable_bytes(before),
    )


@router.post(
    "/store/prune",
    operation_id="prune",
    tags=["control"],
    responses=_RIGHTS
    | {409: {"model": Problem, "description": "A cluster does this by its setting, or this machine measures"}},
    dependencies=ADMITTED,
)
def prune(request: Request, wanted: PruneWanted) -> PrunedView:
    """Remove batch values of old invocations for some seconds. What comparisons need of them is kept, so only
    exports and the distribution change. On a cluster only the setting `KEXBENCH_KEEP_BATCHES_DAYS` removes them, on one
    machine its owner and administrators may, by `kexbench prune`."""
    if isinstance(request.app.state.supplies, Supplies):
        detail = "a cluster removes batch values only by its setting"
        raise ProblemError(HTTPStatus.CONFLICT, detail, "set the chart's value store.keepBatchesDays")
    if is_measuring(request.app.state.store):
        detail = "a run is measured on this machine, which removing would disturb"
        raise ProblemError(HTTPStatus.CONFLICT, detail, "try again when the run has ended")
    step = prune_step(request.app.state.store, wanted.before, datetime.now(UTC))
    return PrunedView(
        removed_values=step.removed_values,
        left_values=step.left_values,
        left_partitions=step.left_partitions,
        is_last=step.is_last,
    )


def engine_of(store: Store | None) -> str | None:
    """The store's engine and version; None if it does not answer, or if there is no store."""
    try:
        return store.engine() if store else None
    except StoreError:
        return None
