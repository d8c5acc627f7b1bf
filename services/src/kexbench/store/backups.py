"""All rows of the store for a backup, and back into an empty store (docs/adr/0047).

A restore is marked by a table, whose comment has the backup's id and whether all its rows are in. While it exists, the
store does not open, and only the same backup can complete it.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pyarrow as pa

from kexbench.store.columns import as_arrow
from kexbench.store.connection import Connection, insert_token
from kexbench.store.port import StoreError

_MARK = "unfinished_restore"
_NOT_BACKED_UP = frozenset({"summaries", "summarised", "schema_migrations", _MARK})
"""Summaries are computed from samples, and the manifest of a backup has the migrations."""
_ROWS_ARE_IN = ": all rows"
LAST = "samples"
"""By far the largest table, read last. A sample whose invocation was stored meanwhile does not count."""
_RESTORING = {
    "async_insert": 0,
    "optimize_on_insert": 0,
    "max_partitions_per_insert_block": 0,  # one file may have rows of many months
}


class BackupTables(Connection):
    """The part of the store's port for backups."""

    def applied_migrations(self) -> dict[int, str]:
        """The SHA-256 of each, by its number."""
        applied = self._query("SELECT version, sha256 FROM schema_migrations FINAL ORDER BY version")
        return {row["version"]: row["sha256"] for row in applied}

    def tables_to_back_up(self) -> list[str]:
        return sorted(self._tables() - _NOT_BACKED_UP, key=lambda table: (table == LAST, table))

    @contextmanager
    def still(self) -> Iterator[None]:
        """Nobody else writes meanwhile. The thread must not write either."""
        with self._turns.still():
            yield
            self._check_may_write()  # otherwise another process may have written meanwhile

    @contextmanager
    def table_rows(self, table: str) -> Iterator[pa.RecordBatchReader]:
        """Each row once, as it counts."""
        schema = self._query_arrow(f"SELECT * FROM `{_checked(table)}` LIMIT 0", {}).schema
        columns = ", ".join(
            f"toUnixTimestamp64Milli(`{field.name}`)" if pa.types.is_timestamp(field.type) else f"`{field.name}`"
            for field in schema
        )
        few = "SETTINGS max_block_size = 2048, max_threads = 1"  # which bounds the memory that it takes
        with self._batches(f"SELECT {columns} FROM `{table}` FINAL {few}", {}, schema) as batches:
            yield pa.RecordBatchReader.from_batches(schema, batches)

    def put_back(self, table: str, content: pa.Table) -> None:
        """Repeating it changes nothing."""
        settings = _RESTORING | {"insert_deduplication_token": insert_token()}
        with self._writing(), self._faults(f"refused rows for {table}"):
            self._client.raw_insert(
                _checked(table), content.column_names, as_arrow(content), settings=settings, fmt="ArrowStream"
            )

    def _tables(self) -> set[str]:
        """Without views."""
        selected = self._query(
            "SELECT name FROM system.tables WHERE database = {database:String} AND engine != 'View'",
            {"database": self._database},
        )
        return {row["name"] for row in selected}

    def _tables_with_rows(self) -> list[str]:
        tables = sorted(self._tables() - {"schema_migrations", _MARK})
        return [table for table in tables if list(self._query(f"SELECT 1 FROM `{_checked(table)}` LIMIT 1"))]

    def _marked_restore(self) -> str | None:
        """The backup whose restore into this store has not finished."""
        selected = self._query(
            "SELECT comment FROM system.tables WHERE database = {database:String} AND name = {mark:String}",
            {"database": self._database, "mark": _MARK},
        )
        return next((str(row["comment"]) for row in selected), None)

    def _has_all_rows(self) -> bool:
        """Of the restore that is marked."""
        return (self._marked_restore() or "").endswith(_ROWS_ARE_IN)

    def _check_restorable(self, backup: str, migrations: Mapping[int, str]) -> None:
        """Raises StoreError if the store has anything that is not of this restore."""
        elsewhere = "set KEXBENCH_STORE_DATABASE to a new database, or KEXBENCH_HOME to a new folder, and restore there"
        marked = self._marked_restore()
        if marked is not None:
            if marked.removesuffix(_ROWS_ARE_IN) != backup:
                remedy = f"restore that backup again, which completes it, or {elsewhere}"
                raise StoreError("another backup's restore into this store has not finished", remedy)
            return
        if full := self._tables_with_rows():
            tables = ", ".join(full[:3]) + (", …" if len(full) > 3 else "")
            raise StoreError(f"the store is not empty: it has rows of {tables}; nothing was changed", elsewhere)
        applied = self.applied_migrations() if "schema_migrations" in self._tables() else {}
        if applied and applied != migrations:
            detail = f"the empty store has migration {max(applied)}, the backup {max(migrations)}; nothing was changed"
            raise StoreError(detail, elsewhere)


def mark_of(backup: str) -> str:
    """SQL that marks a restore. It becomes visible at once, with the backup's id."""
    assert re.fullmatch("[0-9a-f]{64}", backup)
    return f"CREATE TABLE IF NOT EXISTS {_MARK} (x UInt8) ENGINE = $REPLACING ORDER BY x COMMENT '{backup}'"


def mark_of_all_rows(backup: str) -> str:
    """SQL. From now on they may have another schema than in the backup."""
    assert re.fullmatch("[0-9a-f]{64}", backup)
    return f"ALTER TABLE {_MARK} MODIFY COMMENT '{backup}{_ROWS_ARE_IN}'"


UNMARK = f"DROP TABLE IF EXISTS {_MARK}"


def _checked(table: str) -> str:
    assert re.fullmatch("[a-z_]+", table)
    return table
