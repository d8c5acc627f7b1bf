"""What makes tests of stores quick, and the one place that reaches behind the port of a store."""

import os
from collections.abc import Iterator
from contextlib import closing
from typing import Any, TypeVar
from urllib.parse import urlsplit

import clickhouse_connect

from kexbench.store.clickhouse import ClickHouseStore
from kexbench.store.migrate import EngineClauses
from kexbench.store.rows import Row

AnyStore = TypeVar("AnyStore", bound=ClickHouseStore)
CLICKHOUSE = os.environ.get("KEXBENCH_TEST_CLICKHOUSE", "")
"""The address of a real server, on which the tests run instead of on their own small one."""
ENGINE = os.environ.get("KEXBENCH_TEST_STORE_ENGINE", "ReplacingMergeTree")
"""Of the tables on the real server."""
_migrated: set[str] = set()
"""The stores that this process has brought to this release's schema."""


def clauses_of(dsn: str) -> EngineClauses:
    return EngineClauses(ENGINE) if dsn == CLICKHOUSE else EngineClauses()


def made(dsn: str, database: str) -> str:
    """The name of a database, which on a real server with replicated tables somebody has to create first."""
    if dsn == CLICKHOUSE and clauses_of(dsn).is_replicated:
        path = f"/clickhouse/databases/{database}"
        with closing(clickhouse_connect.get_client(dsn=dsn, interface=urlsplit(dsn).scheme)) as client:
            client.command(f"CREATE DATABASE IF NOT EXISTS {database} ENGINE = Replicated('{path}', '1', '1')")
    return database


class Raw:
    """The database behind a store, for rows that no release of today writes and for what only the engine knows."""

    def __init__(self, store: ClickHouseStore) -> None:
        self._store = store
        self.database = store._database

    def query(self, sql: str, parameters: dict[str, Any] | None = None) -> list[dict[str, Any]]:
        return list(self._store._query(sql, parameters))

    def insert(self, table: str, rows: list[Row]) -> None:
        self._store._insert(table, rows)

    def command(self, sql: str) -> None:
        self._store._command(sql)

    def opened_as(self, kind: type[AnyStore]) -> AnyStore:
        """The same database, opened once more."""
        return kind(self._store._dsn, self._store._database, self._store._clauses)


def raw(store: ClickHouseStore) -> Raw:
    return Raw(store)


def emptied(dsn: str) -> Iterator[ClickHouseStore]:
    """The same store for every test that asks, without what others have left. A database for each would make all
    slower test by test: chDB loads every table whenever it is opened."""
    clauses = clauses_of(dsn)
    database = made(dsn, f"emptied_{clauses.replacing}")
    store = ClickHouseStore(dsn, database, clauses)
    if dsn not in _migrated:
        store.migrate()
        _migrated.add(dsn)
    raw(store).command(f"TRUNCATE TABLES FROM {database} NOT LIKE 'schema_migrations'")
    yield store
    store.close()
