"""What a service with a large store costs: the CPU time of answers, uploads and exports in the process that has the
embedded store in it, and its memory."""

import asyncio
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx

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
from bench.sample_rows import SampleRows, measure_sample_rows
from bench.transfers import SECRET, Transfers, measure_transfers
from kexbench.api.access import LocalGatekeeper
from kexbench.api.app import create_app
from kexbench.api.calling import API_PREFIX
from kexbench.domain.runs import Run, RunEvent, RunState

REPETITIONS = 5
MOST_ROWS_MILLIONS = 20
"""Larger tables with a row for each sample take SQLite more than a few minutes."""


@dataclass(frozen=True)
class Answer:
    """CPU time of one request. All but the first are medians."""

    first_s: float
    """The first request of its kind after the store was opened."""
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
    store.close()
    return values


def measure(folder: Path, extent: Extent) -> tuple[float, dict[str, Answer], int]:
    """The seconds that opening took, the answers, and the peak memory in bytes."""
    return asyncio.run(_measure(folder, extent))


async def _measure(folder: Path, extent: Extent) -> tuple[float, dict[str, Answer], int]:
    began = time.perf_counter()
    store = open_large_store(folder)
    opened_s = time.perf_counter() - began
    run = run_of(extent, extent.hosts - 1, extent.runs)
    invocations = invocations_of(run)
    store.add_run(run)

    def something_else() -> None:
        store.add_event(RunEvent(run_id=run.run_id, at=run.created_at, state=RunState.RUNNING))

    def next_invocation() -> None:
        store.add_invocations(run, [next(invocations)])

    next_invocation()
    transport = httpx.ASGITransport(create_app(store, LocalGatekeeper(SECRET), None))
    async with httpx.AsyncClient(transport=transport, base_url=f"http://localhost{API_PREFIX}") as client:
        asked = [_Asked(client, name, *request) for name, request in requests(run, extent).items()]
        first = {each.name: await each.cpu_s() for each in asked}
        changed = {each.name: await each.median_s(next_invocation) for each in asked}
        fresh = {each.name: await each.median_s(something_else) for each in asked}
        again = {each.name: await each.median_s(lambda: None) for each in asked}
    store.close()
    return (
        opened_s,
        {name: Answer(first[name], changed[name], fresh[name], again[name]) for name in first},
        peak_bytes(),
    )


def requests(run: Run, extent: Extent) -> dict[str, tuple[str, Mapping[str, str]]]:
    """The path and the parameters of each answer, which has the first case of a run in it."""
    assert run.host is not None
    host_kind = {"pool": run.plan.pools[0], "cpu_model": run.host.cpu_model}
    before, after = (f"3.{version}.0" for version in (extent.versions - 2, extent.versions - 1))
    return {
        "filters": ("/filters", {}),
        "matrix of one CPU": ("/matrix", host_kind),
        "series": ("/series", {"case_id": run.plan.cases[0].case_id, **host_kind}),
        "list of upgrades": ("/upgrades", {}),
        "upgrade report": ("/upgrades/report", {"library": "openssl", "before": before, "after": after}),
        "comparison of two versions": ("/compare", {}),
        "run": (f"/runs/{run.run_id}", {}),
        "list of runs": ("/runs", {}),
    }


@dataclass(frozen=True)
class _Asked:
    client: httpx.AsyncClient
    name: str
    path: str
    parameters: Mapping[str, str]

    async def cpu_s(self) -> float:
        began = time.process_time()
        response = await self.client.get(self.path, params=self.parameters)
        spent_s = time.process_time() - began
        response.raise_for_status()
        return spent_s

    async def median_s(self, before: Callable[[], None]) -> float:
        spent_s = []
        for _ in range(REPETITIONS):
            before()
            spent_s.append(await self.cpu_s())
        return statistics.median(spent_s)
