"""Stores that tests use one after the other. A database for each test would make all of them slower with each that is
kept: chDB loads every table when it is opened, and looks after all of them."""

from collections.abc import Iterator

from kexbench.store.clickhouse import ClickHouseStore
from kexbench.store.migrate import EngineClauses


def emptied(dsn: str) -> Iterator[ClickHouseStore]:
    """The same store for every test that asks, without what others have left; made anew where one has dropped it."""
    store = ClickHouseStore(dsn, "emptied", EngineClauses())
    store.migrate()
    store._command("TRUNCATE TABLES FROM emptied NOT LIKE 'schema_migrations'")
    yield store
    store.close()
