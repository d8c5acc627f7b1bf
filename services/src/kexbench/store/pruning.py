"""Removes the batches of old invocations, and frees their space.

A row is replaced by one without values, as a repeated delivery replaces rows. So a reader sees either all batches of an
invocation or what is kept of them, a kill leaves the one or the other, and the time of removal is the caller's. A TTL
of the column would go by the server's clock, and a mutation of rows cannot compute ratios to other rows.
"""

import time
from collections.abc import Iterator
from datetime import datetime
from itertools import groupby

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kexbench.domain.moments import EARLIEST, LATEST
from kexbench.domain.plans import SENTINEL
from kexbench.domain.runs import Trigger
from kexbench.store.evidence import RunCase
from kexbench.store.kept import KeptTables
from kexbench.store.port import KeptOf, Prunable, StoreError, TableSize

_INVOCATION = ("case_id", "job_id", "invocation", "attempt")
"""Within a run."""
_PRUNABLE = (
    "measured_at < {before:DateTime64(3, 'UTC')}"
    f" AND run_id NOT IN (SELECT run_id FROM runs WHERE trigger = '{Trigger.BISECTION}')"
)
_TO_PRUNE = "length(`values`) > 1 AND pruned_at = toDateTime64(0, 3, 'UTC')"
_HAS_BATCHES = f"max({_TO_PRUNE}) OVER (PARTITION BY {', '.join(_INVOCATION)})"
_MERGING_S, _DELETING_S, _POLL_S = 20.0, 10.0, 0.3
_AT_ONCE = 50_000
"""Rows in one insert, of whole invocations. ClickHouse inserts up to a million at once."""


class PruningTables(KeptTables):
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
            "SELECT run_id, groupUniqArray(metric) AS metrics, count() AS samples, sum(length(`values`)) AS removable"
            f" FROM samples FINAL WHERE {_PRUNABLE} AND {_TO_PRUNE} GROUP BY run_id ORDER BY min(measured_at), run_id",
            {"before": _in_range(before)},
        )
        return [
            Prunable(row["run_id"], tuple(sorted(row["metrics"])), row["samples"], row["removable"]) for row in selected
        ]

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
        """One insert holds as many metrics as it can, since each makes a part of the table that is merged later."""
        removed, waiting = 0, 0
        replacing: list[pa.Table] = []
        with self._replacing:
            for metric in prunable.metrics:
                for portion in _portions(self._with_batches(prunable.run_id, metric, before)):
                    table, values = _without_batches(portion, at, kept_of)
                    replacing.append(table)
                    removed, waiting = removed + values, waiting + len(table)
                    if waiting >= _AT_ONCE:
                        self._replace(prunable.run_id, replacing)
                        replacing, waiting = [], 0
            if replacing:
                self._replace(prunable.run_id, replacing)
        self._delete_merged_parts()
        return removed

    def _replace(self, run_id: str, tables: list[pa.Table]) -> None:
        """What is computed meanwhile may be of batches on one side of a ratio and of what is kept on the other, so it
        must not be kept."""
        replaced = pa.concat_tables(tables)
        try:
            self._insert_columns("samples", replaced)
        finally:
            self._note_delivery({RunCase(run_id, case_id) for case_id in replaced["case_id"].unique().to_pylist()})

    def _with_batches(self, run_id: str, metric: str, before: datetime) -> pa.Table:
        """Whole invocations, one after the other, with the sentinel last."""
        return self._query_arrow(
            f"SELECT * EXCEPT has_batches FROM (SELECT *, {_HAS_BATCHES} AS has_batches FROM samples FINAL"
            f" WHERE run_id = {{run_id:String}} AND metric = {{metric:String}} AND {_PRUNABLE})"
            f" WHERE has_batches ORDER BY {', '.join(_INVOCATION)}, reference = '{SENTINEL}', reference",
            {"run_id": run_id, "metric": metric, "before": _in_range(before)},
        )

    def pruned_partitions(self, before: datetime) -> list[str]:
        """Without FINAL, the rows that were replaced are read as well, until they are merged."""
        selected = self._query(
            f"SELECT DISTINCT _partition_id AS partition FROM samples WHERE {_PRUNABLE} AND {_TO_PRUNE}"
            " ORDER BY partition",
            {"before": _in_range(before)},
        )
        return [row["partition"] for row in selected]

    def reclaim(self, partition: str) -> None:
        """Merging drops the rows that were replaced. Raises StoreError if they cannot be merged, such as on a full
        disk."""
        assert partition.isalnum()
        end_s = time.monotonic() + _MERGING_S
        while not self._merged(partition, is_last_try=time.monotonic() > end_s):
            time.sleep(_POLL_S)
        end_s = time.monotonic() + _DELETING_S
        while self._has_merged_parts() and time.monotonic() < end_s:
            time.sleep(_POLL_S)
            self._delete_merged_parts()

    def _merged(self, partition: str, *, is_last_try: bool) -> bool:
        """A merge in the background can be in the way for a while. Raises StoreError at the last try."""
        try:
            self._command(
                f"OPTIMIZE TABLE samples PARTITION ID '{partition}' FINAL SETTINGS optimize_throw_if_noop = 1"
            )
        except StoreError:
            if is_last_try:
                raise
            return False
        return True

    def _delete_merged_parts(self) -> None:
        """ClickHouse does it some minutes later; a command does not live so long. It also does it after it dropped a
        partition, even one that does not exist."""
        self._command(f"ALTER TABLE samples DROP PARTITION ID '{EARLIEST.year - 100}01'")

    def _has_merged_parts(self) -> bool:
        merged = (
            "SELECT 1 FROM system.parts"
            " WHERE database = {database:String} AND `table` = 'samples' AND NOT active LIMIT 1"
        )
        return bool(list(self._query(merged, {"database": self._database})))


def _in_range(before: datetime) -> datetime:
    return min(max(before, EARLIEST), LATEST)


def _portions(samples: pa.Table) -> Iterator[pa.Table]:
    start = 0
    while start < len(samples):
        end = min(start + _AT_ONCE, len(samples))
        while end < len(samples) and _is_same(samples, end - 1, end):
            end += 1
        yield samples.slice(start, end - start).combine_chunks()
        start = end


def _is_same(samples: pa.Table, first: int, second: int) -> bool:
    return all(samples[column][first] == samples[column][second] for column in _INVOCATION)


def _without_batches(samples: pa.Table, at: datetime, kept_of: KeptOf) -> tuple[pa.Table, int]:
    """The rows that replace the samples of whole invocations, and how many values they no longer have. Batches that
    must stay are marked, so that nobody asks again. So are those that were delivered after others of their invocation
    had been removed: what is kept of these stays."""
    lists, medians = samples["values"].chunk(0), samples["median"].to_pylist()
    offsets, values = lists.offsets.to_numpy(), lists.values.to_numpy()
    stay = np.ones(len(samples), dtype=bool)
    lengths = np.zeros(len(samples), dtype=np.int32)
    ratios, seconds = [np.empty((0, 2), dtype=np.int32)], [np.empty(0, dtype=np.int64)]
    first = 0
    for _, group in groupby(zip(*(samples[column].to_pylist() for column in _INVOCATION), strict=True)):
        last = first + sum(1 for _ in group)
        batches = [values[offsets[place] : offsets[place + 1]] for place in range(first, last)]
        if (kept := kept_of(batches, medians[first:last])) is not None:
            stay[first:last] = False
            lengths[first:last] = np.arange(last - first)[::-1]
            ratios.append(kept)
            seconds.append(first + np.triu_indices(last - first, 1)[1])
        first = last
    left = pc.if_else(pa.array(stay), lists, pa.scalar([], lists.type))
    means_and_medians = np.concatenate(ratios)
    pairs = {
        "subject": samples["reference"].chunk(0).take(pa.array(np.concatenate(seconds))),
        "mean": pa.array(means_and_medians[:, 0]),
        "median": pa.array(means_and_medians[:, 1]),
    }
    kept_pairs = pa.ListArray.from_arrays(
        pa.array(np.concatenate(([0], np.cumsum(lengths))), pa.int32()),
        pa.StructArray.from_arrays(list(pairs.values()), names=list(pairs)),
    )
    before = samples["kept"].chunk(0)
    columns = {
        "values": left,
        "kept": pc.if_else(pa.array(stay), before.cast(kept_pairs.type), kept_pairs),
        "pruned_at": pa.array([at] * len(samples), pa.timestamp("ms", "UTC")),
    }
    for name, column in columns.items():
        samples = samples.set_column(samples.schema.get_field_index(name), name, column)
    return samples, int(offsets[-1] - offsets[0]) - len(left.flatten())
