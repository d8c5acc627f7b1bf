"""Samples as CSV and JSON files, streamed from the store."""

import csv
import io
import json
import math
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse

from kexbench.api.dependencies import TheSampleStore
from kexbench.api.reading import PROBLEMS, Libraries, OneMetric
from kexbench.domain.samples import Metric
from kexbench.store.port import EXPORT_COLUMNS, Selection

router = APIRouter(tags=["reading"], responses=PROBLEMS)
_PIECE = 1 << 16
"""Characters of a piece. Each piece has to wait for other requests."""


@router.get(
    "/export",
    operation_id="export_samples",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/csv": {}, "application/json": {}}, "description": "the samples"}},
)
def export_samples(
    store: TheSampleStore,
    format: Annotated[Literal["csv", "json"], Query()] = "csv",
    metric: OneMetric = Metric.CPU_NS,
    run_id: Annotated[str | None, Query(max_length=100)] = None,
    case_id: Annotated[str | None, Query(max_length=200)] = None,
    library: Libraries = None,
    pool: Annotated[str | None, Query(max_length=200)] = None,
    cpu_model: Annotated[str | None, Query(max_length=200)] = None,
    subject: Annotated[list[str] | None, Query(description="only these unique names", max_length=1000)] = None,
) -> StreamingResponse:
    """Counted samples with all their batch values. Filters that are not given select everything."""
    libraries, subjects = tuple(library or ()), tuple(subject or ())
    rows = store.export(Selection(metric, pool, cpu_model, libraries, case_id, run_id, asides=True, subjects=subjects))
    body, media_type = (_csv(rows), "text/csv") if format == "csv" else (_json(rows), "application/json")
    disposition = {"Content-Disposition": f'attachment; filename="kexbench-samples.{format}"'}
    return StreamingResponse(body, media_type=media_type, headers=disposition)


def _csv(rows: Iterator[dict[str, Any]]) -> Iterator[str]:
    """A header, then a line for each row."""
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, EXPORT_COLUMNS, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        row["values"] = " ".join(map(repr, row["values"]))
        row["measured_at"] = row["measured_at"].isoformat()
        writer.writerow(row)
        if buffer.tell() >= _PIECE:
            yield _taken(buffer)
    yield _taken(buffer)


def _json(rows: Iterator[dict[str, Any]]) -> Iterator[str]:
    """One array of all rows."""
    buffer = io.StringIO()
    separator = "["
    for row in rows:
        values = [None if math.isnan(value) else value for value in row["values"]]
        buffer.write(separator + json.dumps(row | {"measured_at": row["measured_at"].isoformat(), "values": values}))
        separator = ",\n"
        if buffer.tell() >= _PIECE:
            yield _taken(buffer)
    buffer.write("[]" if separator == "[" else "]")
    yield _taken(buffer)


def _taken(buffer: io.StringIO) -> str:
    """Empty the buffer. Returns its text."""
    text = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    return text
