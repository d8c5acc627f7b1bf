"""Exports: the same rows in every format, in memory of a bounded size, and none goes on without its client."""

import io
import math
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event
from typing import Any

import anyio
import httpx2
import pyarrow as pa
import pytest
from fastapi import FastAPI
from pyarrow import parquet
from starlette.types import Message

from kexbench.api import exporting
from kexbench.api.access import LocalGatekeeper
from kexbench.api.app import create_app
from kexbench.api.exporting import EXPORTS_AT_ONCE
from kexbench.domain.samples import Metric
from kexbench.store.clickhouse import ClickHouseStore
from kexbench.store.port import EXPORT_COLUMNS, Selection
from tests.api.conftest import SECRET, assert_problem
from tests.builders import RSA, a_run, an_invocation

ONE, TWO = "fake@1.0", "fake@1.1"


def in_parquet(client: httpx2.Client, **asked: str) -> pa.Table:
    response = client.get("/export", params={"format": "parquet", **asked})
    assert response.headers["content-type"] == "application/vnd.apache.parquet"
    assert "kexbench-samples.parquet" in response.headers["content-disposition"]
    return parquet.read_table(io.BytesIO(response.content))


@pytest.fixture
def measured(empty_store: ClickHouseStore) -> ClickHouseStore:
    run = a_run()
    empty_store.add_run(run)
    for number in range(3):
        values = [1000.0 + number, float("nan"), 3000.5]
        empty_store.add_invocation(run, an_invocation(run, number, cpu_ns={ONE: values, TWO: [7.0]}))
    return empty_store


@pytest.mark.parametrize("asked", [{}, {"case_id": RSA}, {"metric": "server_cpu_ns"}, {"cpu_model": "other"}])
def test_an_export_as_parquet_holds_the_same_as_json(
    client: httpx2.Client, measured: ClickHouseStore, asked: dict[str, str]
) -> None:
    table = in_parquet(client, **asked)
    assert table.column_names == list(EXPORT_COLUMNS)
    rows = [
        row
        | {
            "measured_at": row["measured_at"].isoformat(),
            "values": [None if math.isnan(value) else value for value in row["values"]],
        }
        for row in table.to_pylist()
    ]
    assert rows == client.get("/export", params={"format": "json", **asked}).json()


def test_an_export_of_nothing_as_parquet_has_its_columns(client: httpx2.Client) -> None:
    table = in_parquet(client)
    assert (table.num_rows, table.column_names) == (0, list(EXPORT_COLUMNS))


class EndlessExport:
    """Exports the first batch of a store again and again, until its reader leaves."""

    def __init__(self, store: ClickHouseStore) -> None:
        with store.export(Selection(Metric.CPU_NS)) as reader:
            self._schema, self._batch = reader.schema, reader.read_next_batch()
        self.begun, self.ended = 0, Event()

    @contextmanager
    def export(self, selection: Selection) -> Iterator[pa.RecordBatchReader]:
        self.begun += 1
        try:
            yield pa.RecordBatchReader.from_batches(self._schema, iter(lambda: self._batch, None))
        finally:
            self.ended.set()


class Download:
    """A download through the application, whose client can leave, or take nothing more."""

    def __init__(self, app: FastAPI, format: str) -> None:
        self._app = app
        self._format = format
        self.took_something, self.left = anyio.Event(), anyio.Event()
        self.is_stalled = False
        self._has_asked = False

    async def run(self) -> None:
        path = "/api/v1/export"
        scope: dict[str, Any] = {
            "type": "http",
            "http_version": "1.1",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "method": "GET",
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "root_path": "",
            "query_string": f"format={self._format}".encode(),
            "headers": [(b"host", b"localhost")],
        }
        await self._app(scope, self._receive, self._send)

    async def _receive(self) -> Message:
        if not self._has_asked:
            self._has_asked = True
            return {"type": "http.request", "body": b"", "more_body": False}
        await self.left.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        if message.get("body"):
            self.took_something.set()
        if message.get("more_body") and self.is_stalled:
            await anyio.sleep_forever()
        await anyio.lowlevel.checkpoint()


@pytest.fixture
def endless(measured: ClickHouseStore, monkeypatch: pytest.MonkeyPatch) -> EndlessExport:
    endless = EndlessExport(measured)
    monkeypatch.setattr(measured, "export", endless.export)
    return endless


@pytest.fixture
def app(measured: ClickHouseStore) -> FastAPI:
    return create_app(measured, LocalGatekeeper(SECRET), None)


@pytest.mark.parametrize("format", ["csv", "json", "parquet"])
def test_a_download_that_is_left_ends_its_query(
    app: FastAPI, endless: EndlessExport, format: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "_GROUP_BYTES", 1)

    async def leaving() -> None:
        download = Download(app, format)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(download.run)
            await download.took_something.wait()
            assert not endless.ended.is_set()
            download.left.set()

    anyio.run(leaving)
    assert endless.ended.is_set()


def test_a_download_whose_client_takes_nothing_ends(
    app: FastAPI, endless: EndlessExport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "STALLED_S", 0.0)

    async def stalling() -> None:
        download = Download(app, "csv")
        download.is_stalled = True
        with pytest.raises(TimeoutError):
            await download.run()

    anyio.run(stalling)
    assert endless.ended.is_set()


def test_only_so_many_exports_are_downloaded_at_once(app: FastAPI, endless: EndlessExport) -> None:
    async def several() -> None:
        downloads = [Download(app, "csv") for _ in range(EXPORTS_AT_ONCE)]
        transport = httpx2.ASGITransport(app)
        async with (
            httpx2.AsyncClient(transport=transport, base_url="http://localhost/api/v1") as client,
            anyio.create_task_group() as tasks,
        ):
            for download in downloads:
                tasks.start_soon(download.run)
                await download.took_something.wait()
            assert_problem(await client.get("/export"), 503, f"{EXPORTS_AT_ONCE} exports")
            for download in downloads:
                download.left.set()
        assert endless.begun == EXPORTS_AT_ONCE

    anyio.run(several)
