"""Many readers of one service, while a run is delivered to it: how long they wait."""

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx2
import numpy as np

from bench.furnishing import furnish
from bench.large_store import EXTENTS, Extent, in_a_process, invocations_of, make_large_store, run_of, runs_of
from bench.machine import BenchError
from bench.questions import Asked, Question, questions
from kexbench.api.calling import API_PREFIX
from kexbench.client import ApiClient, token_for
from kexbench.domain.runs import RunReason, RunState
from kexbench.queue.runs import run_event
from kexbench.settings import Settings
from kexbench.store.lock import ServiceAddress, StoreLock

RATE = 200
"""Requests in a second."""
DELIVERY_S = 5.0
"""From one delivered invocation to the next."""
READER = {"Cache-Control": ["max-stale"]}
"""What pages ask with."""
CONNECTIONS = 100
"""Fewer than the service takes: requests wait for one, as in browsers."""
PATIENCE_S = 30
VEGETA = "github.com/tsenart/vegeta/v12@v12.13.0"
_START_S = 60


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
    outdated: int
    """Answers that lacked what was stored in the last seconds."""
    waits: Mapping[str, Waits]
    """By answer; those of all are under the empty name."""


def measure_load(millions: int, seconds: float) -> Load:
    extent = EXTENTS[millions]
    with serving_large_store(extent) as address:
        return _loaded(address, extent, seconds)


@contextmanager
def serving_large_store(extent: Extent) -> Iterator[ServiceAddress]:
    """A service in a process of its own, with a store that is made for it."""
    with TemporaryDirectory() as home:
        in_a_process(_make, Path(home) / "store", extent)
        with _serving(Path(home)) as address:
            yield address


def _make(folder: Path, extent: Extent) -> None:
    store = make_large_store(folder, extent)
    furnish(store, extent)
    store.close()


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


def _loaded(address: ServiceAddress, extent: Extent, seconds: float) -> Load:
    """Requests begin at their times, whether or not earlier ones were answered."""
    random, ended = np.random.default_rng(1), threading.Event()
    choices = {_url(address, question): question.name for question in _choices(extent)}
    token = {"Authorization": f"Bearer {token_for(address, 'dispatcher')()}"}
    with httpx2.Client(timeout=60, trust_env=False, headers=token) as client:
        for url in choices:  # a service that has just been started computes what pages share
            client.get(url).raise_for_status()
    targets = random.choice(list(choices), int(seconds * RATE))
    with ThreadPoolExecutor() as pool:
        delivered = pool.submit(_deliver, address, extent, ended)
        try:
            asked = _attack(targets, READER | {name: [value] for name, value in token.items()}, seconds)
        finally:
            ended.set()
        waits: dict[str, list[float]] = defaultdict(list)
        for each in asked:
            for name in ("", choices[each["url"]]):
                waits[name].append(each["latency"] / 1e9)
        return Load(
            seconds,
            delivered.result(),
            refused=sum(each["code"] != HTTPStatus.OK for each in asked),
            outdated=sum((each["headers"] or {}).get("Age", ["0"]) != ["0"] for each in asked),
            waits={name: _summary(of_name) for name, of_name in waits.items()},
        )


def _attack(urls: Iterable[str], header: Mapping[str, list[str]], seconds: float) -> list[dict[str, Any]]:
    """Vegeta's records of the requests. It keeps their rate whatever the service does, and needs little of the CPU."""
    targets = "".join(json.dumps({"method": "GET", "url": url, "header": header}) + "\n" for url in urls)
    rate = ("-rate", str(RATE), "-duration", f"{seconds}s", "-timeout", f"{PATIENCE_S}s")
    bounds = ("-max-connections", str(CONNECTIONS), "-max-body", "0")
    with TemporaryDirectory() as folder:
        results = Path(folder) / "results"
        for arguments, given in (
            (("attack", "-format", "json", *rate, *bounds, "-output", str(results)), targets),
            (("encode", "-to", "json", "-output", f"{results}.json", str(results)), ""),
        ):
            subprocess.run([_vegeta(), *arguments], input=given, text=True, check=True)
        return [json.loads(line) for line in Path(f"{results}.json").read_text().splitlines()]


def _vegeta() -> Path:
    """The load generator, built into the cache first where it is missing. Raises BenchError."""
    folder = Settings().cache / "bench" / VEGETA
    program = folder / "vegeta"
    if not program.exists():
        go = shutil.which("go")
        if go is None:
            raise BenchError("the load generator needs Go 1.26 or newer in PATH: https://go.dev/doc/install")
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run([go, "install", VEGETA], env={**os.environ, "GOBIN": str(folder)}, check=True)
    return program


def _url(address: ServiceAddress, question: Question) -> str:
    return str(httpx2.URL(f"{address.url}{question.path}", params=question.parameters))


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


def _choices(extent: Extent) -> list[Question]:
    """Everything that pages and pollers ask, about all hosts; also the series of several cases, and several runs."""
    runs = runs_of(extent)
    return [
        *(question for run in runs[: extent.hosts] for question in questions(Asked(extent, run))),
        *(
            Question(
                "trends, one series",
                f"{API_PREFIX}/trends",
                {"case_id": case.case_id, "levels": "true", **Asked(extent, runs[-1]).where},
            )
            for case in runs[-1].plan.cases[:10]
        ),
        *(Question("run", f"{API_PREFIX}/runs/{run.run_id}") for run in runs[-10:]),
    ]


def _summary(waits: Sequence[float]) -> Waits:
    median_s, p99_s = map(float, np.quantile(waits, (0.5, 0.99)))
    return Waits(len(waits), median_s, p99_s, max(waits))
