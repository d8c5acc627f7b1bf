"""What answers of the API cost with a large store: the CPU time of the process that has the embedded store in it."""

import asyncio
import resource
import statistics
import time
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx

from bench.large_store import EXTENTS, Extent, make_large_store, values_of
from kexbench.api.access import LocalGatekeeper
from kexbench.api.app import create_app
from kexbench.api.calling import API_PREFIX
from kexbench.domain.runs import RunEvent, RunState
from kexbench.store.clickhouse import ClickHouseStore
from kexbench.store.migrate import EngineClauses

REPETITIONS = 5


@dataclass(frozen=True)
class Answer:
    """CPU time of one request, as a median."""

    fresh_s: float
    """Right after something was stored."""
    again_s: float
    """Of the same request once more."""


@dataclass(frozen=True)
class Answers:
    values: int
    """The number of stored values."""
    opened_s: float
    """Wall time until the store was open."""
    answers: Mapping[str, Answer]
    peak_bytes: int
    """Of the process that answered."""


def measure_answers(millions: int) -> Answers:
    """Answers of a new store of this size. A process can have only one embedded store, so it is measured in another."""
    with TemporaryDirectory() as folder:
        with _process() as maker:
            maker.submit(_make, Path(folder), EXTENTS[millions]).result()
        with _process() as answering:
            return answering.submit(_measure, Path(folder)).result()


def _process() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, mp_context=get_context("spawn"))


def _make(folder: Path, extent: Extent) -> None:
    make_large_store(folder, extent).close()


def _measure(folder: Path) -> Answers:
    return asyncio.run(measure(folder))


async def measure(folder: Path) -> Answers:
    began = time.perf_counter()
    store = ClickHouseStore(f"chdb://{folder.absolute()}", "kexbench", EngineClauses())
    store.migrate()
    opened_s = time.perf_counter() - began
    transport = httpx.ASGITransport(create_app(store, LocalGatekeeper("s" * 64), None))
    async with httpx.AsyncClient(transport=transport, base_url=f"http://localhost{API_PREFIX}") as client:
        filters = (await client.get("/filters")).json()
        run = (await client.get("/runs")).json()["runs"][0]
        host_kind = filters["host_kinds"][-1]
        matrix = (await client.get("/matrix", params=host_kind)).json()
        before, after = (subject["version"] for subject in matrix["subjects"][-2:])
        requests: dict[str, tuple[str, Mapping[str, str]]] = {
            "filters": ("/filters", {}),
            "matrix of one CPU": ("/matrix", host_kind),
            "series": ("/series", {"case_id": matrix["cases"][0]["id"], **host_kind}),
            "list of upgrades": ("/upgrades", {}),
            "upgrade report": ("/upgrades/report", {"library": "openssl", "before": before, "after": after}),
            "comparison of two versions": ("/compare", {}),
            "run": (f"/runs/{run['run_id']}", {}),
            "list of runs": ("/runs", {}),
        }
        answers = {}
        for name, (path, parameters) in requests.items():
            fresh, again = [], []
            for _ in range(REPETITIONS):
                store.add_event(RunEvent(run_id=run["run_id"], at=run["created_at"], state=RunState.FINISHED))
                fresh.append(await _cpu_s(client, path, parameters))
                again.append(await _cpu_s(client, path, parameters))
            answers[name] = Answer(statistics.median(fresh), statistics.median(again))
    values = values_of(store)
    peak_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    store.close()
    return Answers(values, opened_s, answers, peak_bytes)


async def _cpu_s(client: httpx.AsyncClient, path: str, parameters: Mapping[str, str]) -> float:
    began = time.process_time()
    response = await client.get(path, params=parameters)
    spent_s = time.process_time() - began
    response.raise_for_status()
    return spent_s
