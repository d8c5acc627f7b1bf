"""What makes tests of stores quick."""

from collections.abc import Iterator

from kexbench.store.clickhouse import ClickHouseStore
from kexbench.store.migrate import EngineClauses


def emptied(dsn: str) -> Iterator[ClickHouseStore]:
    """The same store for every test that asks, without what others have left; made anew where one has dropped it. A
    database for each would make all slower test by test: chDB loads every table whenever it is opened."""
    store = ClickHouseStore(dsn, "emptied", EngineClauses())
    store.migrate()
    store._command("TRUNCATE TABLES FROM emptied NOT LIKE 'schema_migrations'")
    yield store
    store.close()
