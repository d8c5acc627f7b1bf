"""What makes tests of stores quick."""

import os
from collections.abc import Iterator

from kexbench.store.clickhouse import ClickHouseStore
from kexbench.store.migrate import EngineClauses

CLICKHOUSE = os.environ.get("KEXBENCH_TEST_CLICKHOUSE", "")
"""The address of a real server, on which the tests run instead of on their own small one."""
ENGINE = os.environ.get("KEXBENCH_TEST_STORE_ENGINE", "ReplacingMergeTree")
"""Of the tables on the real server."""
_migrated: set[str] = set()
"""The stores that this process has brought to this release's schema."""


def clauses_of(dsn: str) -> EngineClauses:
    return EngineClauses(ENGINE) if dsn == CLICKHOUSE else EngineClauses()


def emptied(dsn: str) -> Iterator[ClickHouseStore]:
    """The same store for every test that asks, without what others have left. A database for each would make all
    slower test by test: chDB loads every table whenever it is opened."""
    clauses = clauses_of(dsn)
    database = f"emptied_{clauses.replacing}"
    store = ClickHouseStore(dsn, database, clauses)
    if dsn not in _migrated:
        store.migrate()
        _migrated.add(dsn)
    store._command(f"TRUNCATE TABLES FROM {database} NOT LIKE 'schema_migrations'")
    yield store
    store.close()
