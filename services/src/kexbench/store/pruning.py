"""Removes the batches of old invocations, and frees their space.

A row is replaced by one without values, as a repeated delivery replaces rows. So a reader sees either all batches of an
invocation or what is kept of them, a kill leaves the one or the other, and the time of removal is the caller's. A TTL
of the column would go by the server's clock, and a mutation of rows cannot compute ratios to other rows.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kexbench.domain.batches import LOG_STEPS
from kexbench.domain.moments import EARLIEST, LATEST
from kexbench.domain.plans import SENTINEL
from kexbench.domain.runs import Trigger
from kexbench.store.connection import Connection
from kexbench.store.port import Kept, KeptOf, Prunable, TableSize

_INVOCATION = ("case_id", "job_id", "invocation", "attempt")
"""Within a run."""
_PRUNABLE = (
    "measured_at < {before:DateTime64(3, 'UTC')}"
    f" AND run_id NOT IN (SELECT run_id FROM runs WHERE trigger = '{Trigger.BISECTION}')"
)
_TO_PRUNE = "length(`values`) > 1 AND pruned_at = toDateTime64(0, 3, 'UTC')"
_HAS_BATCHES = f"max({_TO_PRUNE}) OVER (PARTITION BY {', '.join(_INVOCATION)})"
_AT_ONCE = 50_000
"""Rows in one insert, which is one part of the table: of whole invocations."""
_KEPT_TYPE = pa.list_(pa.struct([("subject", pa.string()), ("mean", pa.int32()), ("median", pa.int32())]))


class PruningTables(Connection):
    """The part of the store's port for removed batches."""

    def sizes(self) -> list[TableSize]:
        selected = self._query(
            "SELECT `table`, sum(rows) AS total_rows, sum(bytes_on_disk) AS size_bytes FROM system.parts"
            " WHERE database = {database:String} AND active GROUP BY `table` ORDER BY size_bytes DESC, `table`",
            {"database": self._database},
        )
        return [TableSize(row["table"], int(row["total_rows"]), int(row["size_bytes"])) for row in selected]

    def prunable(self, before: datetime) -> list[Prunable]:
        selected = self._query(
            "SELECT run_id, metric, count() AS samples, sum(length(`values`)) AS removable FROM samples FINAL"
            f" WHERE {_PRUNABLE} AND {_TO_PRUNE} GROUP BY run_id, metric"
            " ORDER BY min(measured_at), run_id, metric",
            {"before": _in_range(before)},
        )
        return [Prunable(row["run_id"], row["metric"], row["samples"], row["removable"]) for row in selected]

    def prunable_bytes(self, before: datetime) -> int:
        """Of each partition, the share of its values."""
        selected = self._query(
            "SELECT toUInt64(sum(stored * removable / greatest(total, 1))) AS size_bytes FROM"
            " (SELECT partition_id, sum(column_data_compressed_bytes) AS stored FROM system.parts_columns"
            " WHERE database = {database:String} AND `table` = 'samples' AND `column` = 'values' AND active"
            " GROUP BY partition_id) AS parts INNER JOIN"
            " (SELECT _partition_id AS partition_id, sum(length(`values`)) AS total,"
            f" sumIf(length(`values`), {_PRUNABLE} AND {_TO_PRUNE}) AS removable"
            " FROM samples GROUP BY partition_id) AS shares USING partition_id",
            {"database": self._database, "before": _in_range(before)},
        )
        return int(next(selected)["size_bytes"])

    def prune(self, prunable: Prunable, before: datetime, at: datetime, kept_of: KeptOf) -> int:
        removed = 0
        with self._replacing:
            samples = self._query_arrow(
                f"SELECT * EXCEPT has_batches FROM (SELECT *, {_HAS_BATCHES} AS has_batches FROM samples FINAL"
                f" WHERE run_id = {{run_id:String}} AND metric = {{metric:String}} AND {_PRUNABLE})"
                f" WHERE has_batches ORDER BY {', '.join(_INVOCATION)}, reference = '{SENTINEL}', reference",
                {"run_id": prunable.run_id, "metric": prunable.metric, "before": _in_range(before)},
            )
            for portion in _portions(samples):
                replacing, values = _without_batches(portion, at, kept_of)
                self._insert_columns("samples", replacing, once=False)
                removed += values
        return removed

    def pruned_partitions(self, before: datetime) -> list[str]:
        """Without FINAL, the rows that were replaced are read as well, until they are merged."""
        selected = self._query(
            f"SELECT DISTINCT _partition_id AS partition FROM samples WHERE {_PRUNABLE} AND {_TO_PRUNE}"
            " ORDER BY partition",
            {"before": _in_range(before)},
        )
        return [row["partition"] for row in selected]

    def reclaim(self, partition: str) -> None:
        """Merging drops the rows that were replaced. ClickHouse deletes the merged files some minutes later."""
        assert partition.isalnum()
        self._command(f"OPTIMIZE TABLE samples PARTITION ID '{partition}' FINAL")


def _in_range(before: datetime) -> datetime:
    return min(max(before, EARLIEST), LATEST)


def _portions(samples: pa.Table) -> Iterator[pa.Table]:
    start = 0
    while start < len(samples):
        end = min(start + _AT_ONCE, len(samples))
        while end < len(samples) and _is_same(samples, end - 1, end):
            end += 1
        yield samples.slice(start, end - start)
        start = end


def _is_same(samples: pa.Table, first: int, second: int) -> bool:
    return all(samples[column][first] == samples[column][second] for column in _INVOCATION)


def _without_batches(samples: pa.Table, at: datetime, kept_of: KeptOf) -> tuple[pa.Table, int]:
    """The rows that replace the samples of whole invocations, and how many values they no longer have. Batches that
    must stay are marked, so that nobody asks again."""
    keys = list(zip(*(samples[column].to_pylist() for column in _INVOCATION), strict=True))
    references, medians = (samples[column].to_pylist() for column in ("reference", "median"))
    lists = samples["values"].combine_chunks()
    offsets = lists.offsets.to_numpy()
    values, first = lists.values.to_numpy(), 0
    stay = np.ones(len(keys), dtype=bool)
    kept: list[list[dict[str, Any]]] = []
    for _, group in groupby(keys):
        last = first + sum(1 for _ in group)
        batches = [values[offsets[place] : offsets[place + 1]] for place in range(first, last)]
        ratios = kept_of(batches, medians[first:last])
        stay[first:last] = ratios is None
        kept += _rows_of(references[first:last], ratios or [()] * (last - first))
        first = last
    left = pc.if_else(pa.array(stay), lists, pa.scalar([], lists.type))
    columns = {
        "values": left,
        "kept": pa.array(kept, _KEPT_TYPE),
        "pruned_at": pa.array([at] * len(keys), pa.timestamp("ms", "UTC")),
    }
    table = samples
    for name, column in columns.items():
        table = table.set_column(table.schema.get_field_index(name), name, column)
    return table, len(values) - len(left.flatten())


def _rows_of(subjects: Sequence[str], kept: Kept) -> Iterator[list[dict[str, Any]]]:
    for place, ratios in enumerate(kept):
        yield [
            {"subject": subject, "mean": _steps(ratio.mean), "median": _steps(ratio.median)}
            for subject, ratio in zip(subjects[place + 1 :], ratios, strict=bool(ratios))
        ]


def _steps(log: float) -> int:
    return round(log * LOG_STEPS)
