"""Metrics for Prometheus: the states of runs and the results of uploads. Also the service's health."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Literal

from fastapi import APIRouter, Request
from fastapi.responses import Response
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from kexbench import __version__
from kexbench.api.models import Health, TroubleView
from kexbench.api.troubles import Troubles
from kexbench.domain.runs import RunState
from kexbench.store.port import RunStore, Store, StoreError

router = APIRouter(tags=["reading"])
at_root = APIRouter()
"""Prometheus expects /metrics without the API's prefix."""


class Monitoring:
    """The metrics of one application. Each request reads the states of runs from the store."""

    def __init__(self, store: Store, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._registry = CollectorRegistry()
        self._registry.register(_Runs(store, clock))
        words = "Uploads of invocations, by result."
        self._uploads = Counter("kexbench_uploads", words, ["result"], registry=self._registry)
        for result in ("stored", "refused"):
            self._uploads.labels(result)  # 0 from the start, so that the first upload is an increase

    def uploaded(self, result: Literal["stored", "refused"]) -> None:
        self._uploads.labels(result).inc()

    def text(self) -> bytes:
        return generate_latest(self._registry)


class _Runs(Collector):
    def __init__(self, store: RunStore, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._clock = clock

    def describe(self) -> list[GaugeMetricFamily]:
        """Without this, registering would query the store."""
        return [_runs(), _seconds()]

    def collect(self) -> Iterator[GaugeMetricFamily]:
        rows = {row.state: row for row in self._store.run_states()}
        runs, seconds = _runs(), _seconds()
        for state in RunState:
            row = rows.get(state)
            runs.add_metric([state], row.runs if row else 0)
            if state.is_open:
                waited = (self._clock() - row.since).total_seconds() if row else 0.0
                seconds.add_metric([state], max(0.0, waited))
        yield runs
        yield seconds


def _runs() -> GaugeMetricFamily:
    return GaugeMetricFamily("kexbench_runs", "Runs by their state.", labels=["state"])


def _seconds() -> GaugeMetricFamily:
    words = "Seconds that the longest unchanged open run has been in a state."
    return GaugeMetricFamily("kexbench_run_state_seconds", words, labels=["state"])


@at_root.get("/metrics", include_in_schema=False)
def metrics(request: Request) -> Response:
    """For Prometheus."""
    monitoring: Monitoring = request.app.state.monitoring
    return Response(monitoring.text(), media_type=CONTENT_TYPE_LATEST)


@router.get("/health", operation_id="health")
async def health(request: Request) -> Health:
    """Whether the service answers, and which background parts do not work."""
    troubles: Troubles = request.app.state.troubles
    views = [TroubleView(**vars(trouble)) for trouble in troubles.now()]
    status: Literal["ok", "impaired"] = "impaired" if views else "ok"
    return Health(status=status, version=__version__, engine=request.app.state.engine, troubles=views)


def engine_of(store: Store | None) -> str | None:
    """The store's engine and version; None if it does not answer, or if there is no store."""
    try:
        return store.engine() if store else None
    except StoreError:
        return None
