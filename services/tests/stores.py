"""What makes tests of stores quick."""

from collections.abc import Iterable, Iterator

from kexbench.domain.hosts import HostFacts
from kexbench.domain.runs import Run
from kexbench.domain.samples import Invocation
from kexbench.store import rows
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


def add_together(
    store: ClickHouseStore, run: Run, invocations: Iterable[Invocation], host: HostFacts | None = None
) -> None:
    """What `add_invocation` of each leaves in the store, by three statements instead of three each."""
    found = list(invocations)
    on = host or run.host
    assert on is not None
    store._note_host(on)
    store._insert("samples", [row for one in found for row in rows.sample_rows(run, one, on)])
    store._insert("outcomes", [row for one in found for row in rows.outcome_rows(run, one, on)])
    store._insert("invocations", [rows.invocation_row(one, on) for one in found])
