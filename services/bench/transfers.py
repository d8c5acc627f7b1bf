"""What uploads to a service with a large store and exports from it cost."""

import asyncio
import gc
import time
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

import httpx2
from fastapi import FastAPI

from bench.large_store import Extent, in_a_process, invocations_of, open_large_store, peak_bytes, run_of
from kexbench.api.access import LocalGatekeeper
from kexbench.api.app import create_app
from kexbench.api.calling import API_PREFIX, sign_run_token
from kexbench.client import batches_of
from kexbench.domain.plans import BATCHES
from kexbench.domain.runs import Run
from kexbench.store.port import Store

SECRET = "s" * 64
ONE_BY_ONE, IN_BATCHES = "invocations", "invocation-batches"
UPLOADED = {ONE_BY_ONE: 120, IN_BATCHES: 720}
"""Invocations that are uploaded in each way, at most."""
_UNUSED = 100
"""Of the runs after those of a store, the first ones are delivered where answers are measured."""


@dataclass(frozen=True)
class Upload:
    values: int
    cpu_s: float
    """Of the service, and of the client's side of the connection in the same process."""


@dataclass(frozen=True)
class Export:
    content_bytes: int
    cpu_s: float
    peak_bytes: int
    """Of the process."""


@dataclass(frozen=True)
class Transfers:
    single: Upload
    """One invocation in each request."""
    in_batches: Upload
    of_usual_length: Upload
    """In batches as well, with as many values in a sample as specs have by default."""
    exports: Mapping[str, Export]
    """By format."""


def measure_transfers(folder: Path, extent: Extent) -> Transfers:
    """Uploads come last, since they change the store."""
    exports = {file_format: in_a_process(_export, folder, file_format) for file_format in ("csv", "parquet")}
    usual = replace(extent, batches=BATCHES)
    ways = ((extent, ONE_BY_ONE), (extent, IN_BATCHES), (usual, IN_BATCHES))
    single, in_batches, of_usual_length = (
        in_a_process(_upload, folder, uploaded, host, way) for host, (uploaded, way) in enumerate(ways)
    )
    return Transfers(single, in_batches, of_usual_length, exports)


def _upload(folder: Path, extent: Extent, host: int, way: str) -> Upload:
    """Invocations of a new run, with their summaries. Those of another run come first, so that everything that a
    service loads once is loaded."""
    store = open_large_store(folder)
    application = create_app(store, LocalGatekeeper(SECRET), None)
    loading, uploaded = (run_of(extent, host, extent.runs + _UNUSED + number) for number in range(2))
    _deliver(store, application, loading, way, 1)
    upload = _deliver(store, application, uploaded, way, UPLOADED[way])
    store.close()
    return upload


def _deliver(store: Store, application: FastAPI, run: Run, way: str, most: int) -> Upload:
    store.add_run(run)
    invocations = list(islice(invocations_of(run), most))
    single = [invocation.model_dump_json().encode() for invocation in invocations]
    bodies = single if way == ONE_BY_ONE else [body for _, body in batches_of(invocations)]
    token = sign_run_token(run.run_id, SECRET, now=datetime.now(UTC))
    gc.collect()  # otherwise the invocations made here count as new objects of the service
    cpu_s = asyncio.run(_post(httpx2.ASGITransport(application), f"/runs/{run.run_id}/{way}", token, bodies))
    began = time.process_time()
    store.content_version()
    cpu_s += time.process_time() - began
    assert len(store.invocations(run.run_id)) == len(invocations)
    return Upload(sum(len(sample.values) for each in invocations for sample in each.samples), cpu_s)


async def _post(transport: httpx2.ASGITransport, path: str, token: str, bodies: Sequence[bytes]) -> float:
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    async with httpx2.AsyncClient(
        transport=transport, base_url=f"http://localhost{API_PREFIX}", headers=headers
    ) as client:
        began = time.process_time()
        for body in bodies:
            (await client.post(path, content=body)).raise_for_status()
        return time.process_time() - began


def _export(folder: Path, file_format: str) -> Export:
    store = open_large_store(folder)
    began = time.process_time()
    size = asyncio.run(_download(create_app(store, LocalGatekeeper(SECRET), None), file_format))
    cpu_s = time.process_time() - began
    store.close()
    return Export(size, cpu_s, peak_bytes())


async def _download(application: FastAPI, file_format: str) -> int:
    """The size of an export. httpx2 would keep all of it in memory."""
    size = 0

    async def receive() -> dict[str, Any]:
        if requested:
            return requested.pop()
        return await asyncio.Future()  # the client stays

    async def send(message: MutableMapping[str, Any]) -> None:
        nonlocal size
        assert message.get("status", 200) == 200, message
        size += len(message.get("body", b""))

    requested = [{"type": "http.request", "body": b"", "more_body": False}]
    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": f"{API_PREFIX}/export",
        "raw_path": f"{API_PREFIX}/export".encode(),
        "query_string": f"format={file_format}".encode(),
        "headers": [(b"host", b"localhost")],
        "client": ("127.0.0.1", 1),
        "server": ("localhost", 80),
        "root_path": "",
    }
    await application(scope, receive, send)
    return size
