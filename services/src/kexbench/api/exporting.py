"""Samples as CSV, JSON and Parquet files, and all of the store as a backup, streamed in memory of a bounded size."""

import io
import json
import math
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from http import HTTPStatus
from itertools import chain
from threading import BoundedSemaphore
from typing import Annotated, Any, Literal

import pyarrow as pa
import pyarrow.compute as pc
from anyio import CancelScope, fail_after
from fastapi import Query, Request
from fastapi.responses import StreamingResponse
from pyarrow import csv, parquet
from starlette.concurrency import run_in_threadpool
from starlette.types import Message, Receive, Scope, Send

from kexbench.api.access import ADMITTED
from kexbench.api.dependencies import TheSampleStore
from kexbench.api.gate import api_router
from kexbench.api.models import Problem
from kexbench.api.problems import ProblemError
from kexbench.api.reading import PROBLEMS, Libraries, OneMetric
from kexbench.domain.samples import Metric
from kexbench.store.port import EXPORT_COLUMNS, Selection

EXPORTS_AT_ONCE = 2
"""Each keeps a query, a batch and a row group in memory for as long as its download takes."""
STALLED_S = 60.0
"""A download ends if its client takes nothing for so long. Otherwise it would keep its place for ever."""
_GROUP_BYTES = 16 << 20
"""Of the values of a row group of Parquet, before compression."""
Format = Literal["csv", "json", "parquet"]
MEDIA_TYPES: dict[Format, str] = {
    "csv": "text/csv",
    "json": "application/json",
    "parquet": "application/vnd.apache.parquet",
}

_TIMES = ("measured_at", "batches_removed_at")

router = api_router(tags=["reading"], responses=PROBLEMS)
_places = BoundedSemaphore(EXPORTS_AT_ONCE)
_backup = BoundedSemaphore(1)


class _Download(StreamingResponse):
    """A response that closes its source when it ends, also when its client is gone."""

    def __init__(self, pieces: Iterator[bytes], source: ExitStack, **given: Any) -> None:
        super().__init__(pieces, **given)
        self._source = source

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_in_time(message: Message) -> None:
            with fail_after(STALLED_S):
                await send(message)

        try:
            await super().__call__(scope, receive, send_in_time)
        finally:
            with CancelScope(shield=True):
                await run_in_threadpool(self._source.close)


@router.get(
    "/export",
    operation_id="export_samples",
    response_class=StreamingResponse,
    responses={
        200: {"content": {media_type: {} for media_type in MEDIA_TYPES.values()}, "description": "the samples"},
        503: {"model": Problem, "description": "Too many exports at once, or the store does not answer"},
    },
)
def export_samples(
    store: TheSampleStore,
    format: Annotated[Format, Query()] = "csv",
    metric: OneMetric = Metric.CPU_NS,
    run_id: Annotated[str | None, Query(max_length=100)] = None,
    case_id: Annotated[str | None, Query(max_length=200)] = None,
    library: Libraries = None,
    pool: Annotated[str | None, Query(max_length=200)] = None,
    cpu_model: Annotated[str | None, Query(max_length=200)] = None,
    subject: Annotated[list[str] | None, Query(description="only these unique names", max_length=1000)] = None,
) -> StreamingResponse:
    """Counted samples with all their batch values, or the time when these were removed. Filters that are not given
    select everything. An export that breaks off is incomplete: its last chunk is missing."""
    libraries, subjects, cases = tuple(library or ()), tuple(subject or ()), (case_id,) if case_id else ()
    selection = Selection(metric, pool, cpu_model, libraries, cases, run_id, asides=True, subjects=subjects)
    with ExitStack() as source:
        source.enter_context(_place())
        pieces = _FORMATS[format](source.enter_context(store.export(selection)))
        source.callback(pieces.close)
        # Most faults of the store show here, where they are still answered with a problem.
        begun = chain((next(pieces),), pieces)
        headers = {"Content-Disposition": f'attachment; filename="kexbench-samples.{format}"'}
        return _Download(begun, source.pop_all(), media_type=MEDIA_TYPES[format], headers=headers)


@router.get(
    "/store/backup",
    operation_id="backup",
    response_class=StreamingResponse,
    responses={
        200: {"content": {"application/x-tar": {}}, "description": "the backup, whole if it ends with its manifest"},
        401: {"model": Problem, "description": "No valid token"},
        403: {"model": Problem, "description": "The token may not do this"},
        409: {"model": Problem, "description": "Another backup is being made, or none is"},
    },
    dependencies=ADMITTED,
)
def back_up(request: Request) -> StreamingResponse:
    """A backup of the store, and of what else this service would lose with its home. Only for its owner."""
    if not (backup := request.app.state.backup):
        raise ProblemError(HTTPStatus.CONFLICT, "this service makes no backups", "run kexbench serve")
    with ExitStack() as source:
        source.enter_context(_only_backup())
        pieces: Generator[bytes, None, None] = backup()
        source.callback(pieces.close)
        begun = chain((next(pieces),), pieces)
        return _Download(begun, source.pop_all(), media_type="application/x-tar")


@contextmanager
def _only_backup() -> Iterator[None]:
    """Raises a 409 problem if another is being made."""
    if not _backup.acquire(blocking=False):
        raise ProblemError(HTTPStatus.CONFLICT, "another backup is being made", "try again when it has ended")
    try:
        yield
    finally:
        _backup.release()


@contextmanager
def _place() -> Iterator[None]:
    """Raises a 503 problem if too many exports are being downloaded."""
    if not _places.acquire(blocking=False):
        detail = f"{EXPORTS_AT_ONCE} exports are being downloaded"
        raise ProblemError(HTTPStatus.SERVICE_UNAVAILABLE, detail, "try again when one has ended")
    try:
        yield
    finally:
        _places.release()


def _csv(reader: pa.RecordBatchReader) -> Generator[bytes, None, None]:
    """A header, then a line for each row. Values are separated by spaces."""
    header = (",".join(EXPORT_COLUMNS) + "\n").encode()
    options = csv.WriteOptions(include_header=False)
    for batch in reader:
        texts = {name: _iso(batch[name]) for name in _TIMES} | {"values": _joined(batch["values"])}
        columns = [texts.get(column, batch[column]) for column in EXPORT_COLUMNS]
        sink = io.BytesIO(header)
        sink.seek(len(header))
        csv.write_csv(pa.RecordBatch.from_arrays(columns, names=list(EXPORT_COLUMNS)), sink, options)
        yield sink.getvalue()
        header = b""
    yield header


def _iso(times: pa.Array) -> pa.Array:
    """As `datetime.isoformat` writes them. The times are in UTC, with milliseconds."""
    texts = pc.replace_substring_regex(pc.strftime(times, "%Y-%m-%dT%H:%M:%S"), r"\.000$", "")
    return pc.binary_join_element_wise(pc.replace_substring_regex(texts, r"(\.[0-9]{3})$", r"\1000"), "+00:00", "")


def _joined(lists: pa.Array) -> pa.Array:
    """Each list of numbers as one text. Whole numbers have a decimal point as well."""
    texts = pc.cast(lists.values, pa.string())
    with_point = pc.binary_join_element_wise(texts, ".0", "")
    texts = pc.if_else(pc.match_substring_regex(texts, "^[0-9]+$"), with_point, texts)
    return pc.binary_join(pa.ListArray.from_arrays(lists.offsets, texts), " ")


def _json(reader: pa.RecordBatchReader) -> Generator[bytes, None, None]:
    """One array of all rows."""
    separator = "["
    for batch in reader:
        lines = io.StringIO()
        for row in batch.to_pylist():
            values = [None if math.isnan(value) else value for value in row["values"]]
            times = {name: row[name] and row[name].isoformat() for name in _TIMES}
            whole_row = row | times | {"values": values}
            lines.write(separator + json.dumps(whole_row))
            separator = ",\n"
        yield lines.getvalue().encode()
    yield b"[]" if separator == "[" else b"]"


def _parquet(reader: pa.RecordBatchReader) -> Generator[bytes, None, None]:
    """Row groups, which a reader can select from without reading the others, and their index at the end."""
    sink = _Sink()
    with parquet.ParquetWriter(sink, reader.schema, compression="zstd") as writer:
        group: list[pa.RecordBatch] = []
        for batch in reader:
            group.append(batch)
            if sum(each.nbytes for each in group) >= _GROUP_BYTES:
                writer.write_table(pa.Table.from_batches(group))
                group = []
                yield sink.taken()
        if group:
            writer.write_table(pa.Table.from_batches(group))
    yield sink.taken()


class _Sink(io.RawIOBase):
    """A file of which only what was not taken yet is kept."""

    def __init__(self) -> None:
        super().__init__()
        self._written = bytearray()
        self._taken = 0

    def writable(self) -> bool:
        return True

    def write(self, piece: Any) -> int:
        self._written += piece
        return memoryview(piece).nbytes

    def tell(self) -> int:
        return self._taken + len(self._written)

    def taken(self) -> bytes:
        """What was written since the last call."""
        piece, self._written = bytes(self._written), bytearray()
        self._taken += len(piece)
        return piece


_FORMATS = {"csv": _csv, "json": _json, "parquet": _parquet}
