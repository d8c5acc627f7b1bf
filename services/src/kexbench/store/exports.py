"""Exported samples, as a stream of Arrow record batches."""

from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa

from kexbench.store.hosts import HOST_KIND
from kexbench.store.measured import COUNTED, MeasuredTables, selected
from kexbench.store.port import EXPORT_COLUMNS, Selection

_OTHER_TYPES = {
    **dict.fromkeys(("measured_at", "batches_removed_at"), pa.timestamp("ms", "UTC")),
    "values": pa.list_(pa.float64()),
    "invocation": pa.uint32(),
    "rsa_bits": pa.uint16(),
    "n": pa.uint32(),
    **dict.fromkeys(("level", "median", "p05", "p95"), pa.float64()),
}
_SCHEMA = pa.schema([(column, _OTHER_TYPES.get(column, pa.string())) for column in EXPORT_COLUMNS])
_EXPRESSIONS = {
    "build_profile": "build_profile_label",
    "cpu_model": HOST_KIND,
    "measured_at": "toUnixTimestamp64Milli(measured_at)",
    "batches_removed_at": "if(empty(`values`), toUnixTimestamp64Milli(pruned_at), NULL)",
}
_COLUMNS = ", ".join(_EXPRESSIONS.get(column, f"`{column}`") for column in EXPORT_COLUMNS)
_ORDER = (
    "ORDER BY metric, library, cpu_model, pool, protocol, key_exchange, rsa_bits, curve, `group`, cipher, version_key,"
    " run_id, job_id, invocation, attempt, reference, variation SETTINGS max_block_size = 2048, max_threads = 1"
)
"""In the order of the table, which needs no sorting: the parts of the table are merged as they are read. Each part has
its own block, and each thread its own parts, so both are kept small."""


class ExportTables(MeasuredTables):
    """The part of the store's port for exports."""

    @contextmanager
    def export(self, selection: Selection) -> Iterator[pa.RecordBatchReader]:
        where = f"metric = {{metric:String}} AND {selected(selection)} AND {COUNTED}"
        query = f"SELECT {_COLUMNS} FROM samples FINAL WHERE {where} {_ORDER}"
        with self._batches(query, self._parameters(selection), _SCHEMA) as batches:
            yield pa.RecordBatchReader.from_batches(_SCHEMA, batches)
