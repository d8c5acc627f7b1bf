"""The same results in a table with one row for each value, as other benchmark services keep them, in SQLite."""

import sqlite3
import statistics
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from bench.large_store import Extent, invocations_of, runs_of
from kexbench.domain.runs import Run
from kexbench.domain.samples import Metric

REPETITIONS = 5
_TABLE = (
    "CREATE TABLE results (run_id TEXT, host_id TEXT, case_id TEXT, subject TEXT, metric TEXT, measured_at TEXT,"
    " invocation INTEGER, value REAL)"
)
_INDEX = "CREATE INDEX by_cell ON results (host_id, metric, case_id, subject, run_id)"
_VALUES = (
    "WITH newest AS (SELECT case_id, subject, run_id, max(measured_at) FROM results WHERE host_id = :host_id"
    " AND metric = :metric AND (:case_id = '' OR case_id = :case_id) GROUP BY case_id, subject)"
    " SELECT case_id, subject, value FROM newest JOIN results USING (case_id, subject, run_id)"
    " WHERE host_id = :host_id AND metric = :metric"
)
"""SQLite takes `run_id` from the row with the greatest time."""


@dataclass(frozen=True)
class SampleRows:
    """CPU times are of the queries and of medians, without any comparison of versions."""

    rows: int
    stored_bytes: int
    matrix_s: float
    series_s: float


def measure_sample_rows(file: Path, extent: Extent) -> SampleRows:
    runs = runs_of(extent)
    host, case_id = runs[-1].host, runs[-1].plan.cases[0].case_id
    assert host is not None
    with closing(sqlite3.connect(file)) as database:
        database.execute(_TABLE)
        for run in runs:
            database.executemany("INSERT INTO results VALUES (?, ?, ?, ?, ?, ?, ?, ?)", _rows(run))
        database.execute(_INDEX)
        database.commit()
        (rows,) = database.execute("SELECT count(*) FROM results").fetchone()
        matrix_s, series_s = (
            statistics.median(_medians_s(database, host.host_id, chosen) for _ in range(REPETITIONS))
            for chosen in ("", case_id)
        )
    return SampleRows(rows, file.stat().st_size, matrix_s, series_s)


def _rows(run: Run) -> Iterator[tuple[object, ...]]:
    for each in invocations_of(run):
        for sample in each.samples:
            place = (each.run_id, each.host_id, each.case_id, sample.subject, sample.metric)
            for value in sample.values:
                yield *place, each.started_at, each.invocation, value


def _medians_s(database: sqlite3.Connection, host_id: str, case_id: str) -> float:
    """CPU time of the median of each cell in its newest run; in all cases, or in one."""
    began = time.process_time()
    values: dict[tuple[str, str], list[float]] = defaultdict(list)
    chosen = {"host_id": host_id, "metric": Metric.CPU_NS, "case_id": case_id}
    for case, subject, value in database.execute(_VALUES, chosen):
        values[case, subject].append(value)
    medians = {cell: statistics.median(of_cell) for cell, of_cell in values.items()}
    assert medians
    return time.process_time() - began
