"""Many readers of one service, while a run is delivered to it: how long they wait."""

import asyncio
import os
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
import numpy as np

from bench.large_store import EXTENTS, Extent, in_a_process, invocations_of, make_large_store, run_of, runs_of
from kexbench.api.calling import API_PREFIX
from kexbench.client import ApiClient
from kexbench.domain.runs import RunReason, RunState
from kexbench.queue.runs import run_event
from kexbench.store.lock import ServiceAddress, StoreLock

RATE = 200
"""Requests in a second."""
DELIVERY_S = 5.0
"""From one delivered invocation to the next."""
CONNECTIONS = 40
_START_S = 60
Request = tuple[str, str, Mapping[str, str]]
"""The name of the answer, and its path and parameters."""


@dataclass(frozen=True)
class Waits:
    """How long the answers of one kind took, in seconds of wall time."""

    requests: int
    median_s: float
    p99_s: float
    longest_s: float


@dataclass(frozen=True)
class Load:
    seconds: float
    delivered: int
    """Invocations."""
    refused: int
    """Requests without the answer."""
    waits: Mapping[str, Waits]
    """By answer; those of all are under the empty name."""


def measure_load(millions: int, seconds: float) -> Load:
    extent = EXTENTS[millions]
    with serving_large_store(extent) as address:
        return asyncio.run(_loaded(address, extent, seconds))


@contextmanager
def serving_large_store(extent: Extent) -> Iterator[ServiceAddress]:
    """A service in a process of its own, with a store that is made for it."""
    with TemporaryDirectory() as home:
        in_a_process(_make, Path(home) / "store", extent)
        with _serving(Path(home)) as address:
            yield address


def _make(folder: Path, extent: Extent) -> None:
    make_large_store(folder, extent).close()


@contextmanager
def _serving(home: Path) -> Iterator[ServiceAddress]:
    command = [sys.executable, "-m", "kexbench.cli", "serve", "--port", "0"]
    log = home / "service.log"
    with log.open("wb") as output:
        service = subprocess.Popen(
            command, env={**os.environ, "KEXBENCH_HOME": str(home)}, stdout=output, stderr=output
        )
    try:
        lock, deadline = StoreLock(home / "store.lock"), time.monotonic() + _START_S
        while (address := lock.read()) is None:
            if service.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the service did not start: {log.read_text()}")
            time.sleep(0.1)
        yield address
    finally:
        service.terminate()
        service.wait()


async def _loaded(address: ServiceAddress, extent: Extent, seconds: float) -> Load:
    """Requests begin at their times, whether or not earlier ones were answered."""
    random, ended = np.random.default_rng(1), threading.Event()
    waits: dict[str, list[float]] = defaultdict(list)
    refused = 0
    limits = httpx.Limits(max_connections=CONNECTIONS, max_keepalive_connections=CONNECTIONS)
    async with httpx.AsyncClient(
        base_url=address.url + API_PREFIX, limits=limits, timeout=60, trust_env=False
    ) as client:

        async def ask(name: str, path: str, parameters: Mapping[str, str]) -> None:
            nonlocal refused
            began = time.perf_counter()
            try:
                answered = (await client.get(path, params=parameters)).is_success
            except httpx.HTTPError:
                answered = False
            waits[name].append(time.perf_counter() - began)
            refused += not answered

        choices = _choices(extent)
        for choice in choices:  # a service that has just been started computes what pages share
            await ask(*choice)
        waits.clear()
        delivery = asyncio.create_task(asyncio.to_thread(_deliver, address, extent, ended))
        began, requests = time.perf_counter(), []
        for number in range(int(seconds * RATE)):
            await asyncio.sleep(max(0.0, began + number / RATE - time.perf_counter()))
            requests.append(asyncio.create_task(ask(*choices[random.integers(len(choices))])))
        await asyncio.gather(*requests)
        ended.set()
        delivered = await delivery
    waits[""] = [wait for of_name in list(waits.values()) for wait in of_name]
    return Load(seconds, delivered, refused, {name: _summary(of_name) for name, of_name in waits.items()})


def _deliver(address: ServiceAddress, extent: Extent, ended: threading.Event) -> int:
    """The number of delivered invocations."""
    run = run_of(extent, extent.hosts - 1, extent.runs)
    delivered = 0
    with closing(ApiClient.of_run(address, run.run_id)) as api:
        api.put_run(run)
        api.add_event(run_event(run.run_id, RunState.RUNNING, reason=RunReason.BY_COMMAND))
        for invocation in invocations_of(run):
            if ended.is_set():
                break
            delivered += sum(api.add_invocations(run.run_id, [invocation]))
            ended.wait(DELIVERY_S)
    return delivered


def _choices(extent: Extent) -> list[Request]:
    """What readers look at: pages of all hosts, several cases, versions and runs."""
    runs = runs_of(extent)[-10:]
    hosts = [run.host.cpu for run in runs_of(extent)[: extent.hosts] if run.host]
    kinds = [{"pool": runs[0].plan.pools[0], "cpu_model": cpu_model} for cpu_model in hosts]
    versions = [f"3.{version}.0" for version in range(extent.versions)]
    pairs = list(pairwise(versions))[-10:]
    return [
        *5 * [("filters", "/filters", {}), ("overview", "/overview", {}), ("list of runs", "/runs", {})],
        *(("matrix", "/matrix", kind) for kind in kinds),
        *(("series", "/series", {"case_id": case.case_id, **kinds[0]}) for case in runs[0].plan.cases[:10]),
        *(("upgrade report", "/upgrades/report", {"library": "openssl", "before": a, "after": b}) for a, b in pairs),
        *(("run", f"/runs/{run.run_id}", {}) for run in runs),
    ]


def _summary(waits: Sequence[float]) -> Waits:
    median_s, p99_s = map(float, np.quantile(waits, (0.5, 0.99)))
    return Waits(len(waits), median_s, p99_s, max(waits))
