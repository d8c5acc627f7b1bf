"""What a service with a large store costs: the CPU time of answers, uploads and exports in the process that has the
embedded store in it, and its memory."""

import asyncio
import gc
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx2

from bench.furnishing import furnish
from bench.large_store import (
    EXTENTS,
    Extent,
    in_a_process,
    invocations_of,
    make_large_store,
    open_large_store,
    peak_bytes,
    run_of,
    values_of,
)
from bench.machine import BenchError
from bench.questions import Asked, Question, questions
from bench.sample_rows import SampleRows, measure_sample_rows
from bench.transfers import SECRET, Transfers, measure_transfers
from kexbench.analysis.estimates import MIN_COMPARED_INVOCATIONS
from kexbench.api.access import LocalGatekeeper
from kexbench.api.app import create_app
from kexbench.api.calling import sign_role_token
from kexbench.domain.plans import Plan
from kexbench.domain.runs import RunEvent, RunState
from kexbench.queue.supplies import LocalSupplies
from kexbench.store.clickhouse import ClickHouseStore

REPETITIONS = 3
WAITING = 20
"""Runs in the queue."""
MOST_ROWS_MILLIONS = 20
"""Larger tables with a row for each sample take SQLite more than a few minutes."""


@dataclass(frozen=True)
class Answer:
    """CPU time of one request. All but the first are medians."""

    first_s: float
    """The first request after the store was opened."""
    changed_s: float
    """After an invocation was stored that the answer is about."""
    fresh_s: float
    """After something else was stored."""
    again_s: float
    """The same request once more."""


@dataclass(frozen=True)
class Answers:
    values: int
    """The number of stored values."""
    stored_bytes: int
    opened_s: float
    """Wall time until the store was open."""
    answers: Mapping[str, Answer]
    peak_bytes: int
    """Of the process that answered."""
    transfers: Transfers
    sample_rows: SampleRows | None


def measure_answers(millions: int) -> Answers:
    """Makes a store of this size and measures its parts, each in a process of its own."""
    extent = EXTENTS[millions]
    with TemporaryDirectory() as folder:
        store = Path(folder) / "store"
        values = in_a_process(_make, store, extent)
        stored_bytes = sum(file.stat().st_size for file in store.rglob("*") if file.is_file())
        opened_s, answers, peak = in_a_process(measure, store, extent)
        transfers = measure_transfers(store, extent)
        is_small = millions <= MOST_ROWS_MILLIONS
        rows = measure_sample_rows(Path(folder) / "rows.sqlite", extent) if is_small else None
    return Answers(values, stored_bytes, opened_s, answers, peak, transfers, rows)


def _make(folder: Path, extent: Extent) -> int:
    store = make_large_store(folder, extent)
    values = values_of(store)
    furnish(store, extent)
    store.close()
    return values


def measure(folder: Path, extent: Extent) -> tuple[float, dict[str, Answer], int]:
    """The seconds that opening took, the answers, and the peak memory in bytes."""
    return asyncio.run(_measure(folder, extent))


async def _measure(folder: Path, extent: Extent) -> tuple[float, dict[str, Answer], int]:
    opened_s, first = 0.0, {}
    asked = Asked(extent, run_of(extent, extent.hosts - 1, extent.runs))
    with _opened(folder) as service:
        service.begin(asked)
        service.queue_runs(asked)
    for question in questions(asked):
        began = time.perf_counter()
        with _opened(folder) as service:
            opened_s = opened_s or time.perf_counter() - began
            first[question.name] = await service.cpu_s(question)
    with _opened(folder) as service:
        changed = {name: await _changed_s(service, extent, place) for place, name in enumerate(first)}
        fresh, again = {}, {}
        for question in questions(asked):
            await service.cpu_s(question)
            fresh[question.name] = await service.median_s(question, lambda: service.store_something(asked))
            again[question.name] = await service.median_s(question, lambda: None)
    answers = {name: Answer(first[name], changed[name], fresh[name], again[name]) for name in first}
    return opened_s, answers, peak_bytes()


async def _changed_s(service: "_Service", extent: Extent, place: int) -> float:
    """Of a question by its place among all. Each has a run of its own, since a run has few invocations of a case."""
    asked = Asked(extent, run_of(extent, extent.hosts - 1, extent.runs + 1 + place))
    question = questions(asked)[place]
    deliveries = service.begin(asked)
    await service.cpu_s(question)
    return await service.median_s(question, lambda: next(deliveries))


@contextmanager
def _opened(folder: Path) -> Iterator["_Service"]:
    """A service that has just been started: it keeps no answers."""
    store = open_large_store(folder)
    try:
        yield _Service(store)
    finally:
        store.close()


class _Service:
    def __init__(self, store: ClickHouseStore) -> None:
        self._store = store
        app = create_app(store, LocalGatekeeper(SECRET), None, LocalSupplies(_no_plan))
        transport = httpx2.ASGITransport(app)
        self._client = httpx2.AsyncClient(transport=transport, base_url="http://localhost")
        token = sign_role_token("bench", "dispatcher", SECRET, now=datetime.now(UTC))
        self._token = {"Authorization": f"Bearer {token}"}

    async def cpu_s(self, question: Question) -> float:
        """CPU time of an answer."""
        headers = self._token if question.needs_token else {}
        gc.collect()
        began = time.process_time()
        response = await self._client.get(question.path, params=question.parameters, headers=headers)
        spent_s = time.process_time() - began
        if response.is_error:
            raise BenchError(f"{question.name} was answered with {response.status_code}: {response.text}")
        return spent_s

    async def median_s(self, question: Question, before: Callable[[], None]) -> float:
        spent_s = []
        for _ in range(REPETITIONS):
            before()
            spent_s.append(await self.cpu_s(question))
        return statistics.median(spent_s)

    def begin(self, asked: Asked) -> Iterator[None]:
        """Begins a run with as many invocations as a comparison needs. Each step delivers one more."""
        run = asked.run
        self._store.add_run(run)
        self.store_something(asked)
        first = (each for each in invocations_of(run) if each.case_id == run.plan.cases[0].case_id)
        of_block = (each for each in first if {sample.subject for sample in each.samples} >= set(asked.block))
        self._store.add_invocations(run, list(islice(of_block, MIN_COMPARED_INVOCATIONS)))
        return map(partial(self._store.add_invocation, run), of_block)

    def store_something(self, asked: Asked) -> None:
        """Something that few answers are about."""
        self._store.add_event(RunEvent(run_id=asked.run.run_id, at=asked.run.created_at, state=RunState.RUNNING))

    def queue_runs(self, asked: Asked) -> None:
        """Runs that wait."""
        for number in range(WAITING):
            run = asked.run.model_copy(update={"run_id": f"waiting-{number}", "kits": {}, "host": None, "material": {}})
            self._store.add_run(run)
            self._store.add_event(RunEvent(run_id=run.run_id, at=run.created_at, state=RunState.QUEUED))


def _no_plan(*_: object, **__: object) -> Plan:
    raise AssertionError("nothing is planned here")
