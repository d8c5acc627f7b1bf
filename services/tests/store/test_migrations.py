"""Migrations: once, in order, never backwards, and again after a kill anywhere."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from kexbench.domain.alerts import AlertAction, AlertEvent, AlertKind
from kexbench.domain.samples import Invocation, Metric, OutcomeKind, Sample
from kexbench.store import measured, migrate
from kexbench.store.clickhouse import ClickHouseStore
from kexbench.store.columns import sample_columns
from kexbench.store.migrate import EngineClauses, load_migrations, pending
from kexbench.store.port import Selection, StoreError
from tests.builders import a_cause, a_run, an_alert_event, an_invocation, an_outcome, newest_runs
from tests.stores import clauses_of, raw

pytestmark = pytest.mark.thorough
STATEMENTS = sum(len(migration.statements) for migration in load_migrations())
NEWEST = 12
"""So many statements at the end are each interrupted. Of those before them, which never change, every fifth is by
`make test-long`."""


class WatchedStore(ClickHouseStore):
    """Keeps the statements it was asked to run, and fails at one of them if asked to."""

    fails_at: int | None = None

    def __init__(self, dsn: str, database: str) -> None:
        super().__init__(dsn, database, clauses_of(dsn))
        self.statements: list[str] = []

    def _command(self, sql: str, *given: Any, **named: Any) -> None:
        if len(self.statements) == self.fails_at:
            raise InterruptedError
        self.statements.append(sql)
        super()._command(sql, *given, **named)


def test_the_migrations_of_this_release_are_numbered_and_each_does_something() -> None:
    found = load_migrations()
    assert [migration.version for migration in found] == list(range(1, len(found) + 1))
    assert all(migration.statements for migration in found)


def test_migrations_run_once(dsn: str, database: str) -> None:
    first, second = WatchedStore(dsn, database), WatchedStore(dsn, database)
    first.migrate()
    second.migrate()
    assert len(first.statements) == len(second.statements) + STATEMENTS
    assert all("IF NOT EXISTS" in statement for statement in second.statements)
    first.close()
    second.close()


@pytest.mark.parametrize(
    "fails_at",
    [
        0,
        *(pytest.param(number, marks=pytest.mark.long) for number in range(5, STATEMENTS - NEWEST, 5)),
        *range(STATEMENTS - NEWEST, STATEMENTS + 2),
    ],
)
def test_a_migration_killed_at_any_statement_goes_on_the_next_time(
    warm_chdb: str, database: str, fails_at: int
) -> None:
    dying, store = WatchedStore(warm_chdb, database), WatchedStore(warm_chdb, database)
    dying.fails_at = fails_at
    with pytest.raises(InterruptedError):
        dying.migrate()
    dying.close()
    store.migrate()
    store.add_run(a_run())
    assert newest_runs(store, 1) == [a_run()]
    assert store.host_kinds() == []
    store.close()


def test_a_store_of_a_newer_release_is_refused(dsn: str, database: str) -> None:
    store = ClickHouseStore(dsn, database, clauses_of(dsn))
    store.migrate()
    newer = {"version": len(load_migrations()) + 1, "name": "later", "sha256": "0" * 64, "statements": 1}
    raw(store).insert("schema_migrations", [newer])
    with pytest.raises(StoreError, match="use the newer release"):
        store.migrate()
    store.close()


def test_a_store_whose_migration_was_another_is_refused(
    dsn: str, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = ClickHouseStore(dsn, database, clauses_of(dsn))
    store.migrate()
    edited = [replace(migration, sha256="0" * 64) for migration in load_migrations()]
    monkeypatch.setattr(migrate, "load_migrations", lambda: edited)
    with pytest.raises(StoreError, match="migration 1 differs"):
        store.migrate()
    store.close()


def test_a_columns_comment_comes_before_its_codec_as_older_servers_want_it() -> None:
    statements = [statement for migration in load_migrations() for statement in migration.statements]
    assert any(re.search(r"COMMENT '[^']*'\s+CODEC", statement) for statement in statements)
    assert [statement for statement in statements if re.search(r"CODEC\(\S+\s+COMMENT", statement)] == []


def test_what_is_pending_is_what_was_not_applied() -> None:
    found = load_migrations()
    assert pending(found, {}) == found
    assert pending(found, {migration.version: migration.sha256 for migration in found}) == []


def test_a_gap_in_the_numbers_is_a_damaged_installation(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "0002_later.sql").write_text("CREATE TABLE later (x Int8) ENGINE = Memory")
    monkeypatch.setattr(migrate, "files", lambda _: tmp_path)
    with pytest.raises(StoreError, match="not numbered 1, 2, 3"):
        load_migrations()


def test_a_cluster_fills_in_its_own_engine() -> None:
    clauses = EngineClauses("ReplicatedReplacingMergeTree")
    for migration in load_migrations():
        for statement in migration.statements:
            filled = clauses.fill(statement)
            assert "$" not in filled
            assert "ENGINE = Replac" not in filled


@pytest.mark.parametrize("name", ["", "a-b", "a; DROP", "a`b", "1a"])
def test_a_database_name_that_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(StoreError, match="not a database name"):
        ClickHouseStore("chdb:///nowhere", name, EngineClauses())


def test_a_server_that_does_not_answer_is_an_error_in_words() -> None:
    store = ClickHouseStore("http://127.0.0.1:1", "kexbench", EngineClauses())
    with pytest.raises(StoreError, match="the ClickHouse server does not answer"):
        store.migrate()


def test_crashes_that_somebody_outside_had_caused_go_with_their_invocations(
    dsn: str, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They were stored by releases before the migration that takes them out."""
    run = a_run()
    before = [migration for migration in load_migrations() if migration.name != "cut_short"]
    store = ClickHouseStore(dsn, database, clauses_of(dsn))
    with monkeypatch.context() as earlier:
        earlier.setattr(migrate, "load_migrations", lambda: before)
        store.migrate()
        store.add_run(run)
        for number, ended_by in enumerate((15, 9, 11)):
            crash = an_outcome("fake@1.1", OutcomeKind.CRASHED, f"the worker was ended by signal {ended_by}")
            store.add_invocation(run, an_invocation(run, number, cpu_ns={"fake@1.0": [1.0]}, outcomes=[crash]))
        assert {key.invocation for key in store.invocations(run.run_id)} == {0, 1, 2}
    store.migrate()
    assert {key.invocation for key in store.invocations(run.run_id)} == {2}
    assert [outcome.reason for outcome in store.outcomes(Selection(Metric.CPU_NS))] == [
        "the worker was ended by signal 11"
    ]
    assert [row.unit.rpartition("/")[2] for row in store.samples(Selection(Metric.CPU_NS))] == ["2"]

    again = an_invocation(run, 0, cpu_ns={"fake@1.0": [2.0], "fake@1.1": [3.0]})
    store.add_invocation(run, again)
    assert sorted(row.level for row in store.samples(Selection(Metric.CPU_NS))) == [1.0, 2.0, 3.0]
    store.close()


def test_results_from_before_levels_have_one_that_holds_what_only_some_batches_pay(
    dsn: str, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Batches of two milliseconds: four handshakes of 600,000 ns, or three and one payment of as much."""
    usual, dear = 600_000.0, 800_000.0
    run = a_run()
    before = [migration for migration in load_migrations() if migration.name not in ("level", "withdrawn")]
    store = ClickHouseStore(dsn, database, clauses_of(dsn))

    def without_level(*given: Any) -> pa.Table:
        return sample_columns(*given).drop_columns("level")

    with monkeypatch.context() as earlier:
        earlier.setattr(migrate, "load_migrations", lambda: before)
        earlier.setattr(measured, "sample_columns", without_level)
        store.migrate()
        store.add_run(run)
        store.add_invocation(run, an_invocation(run, cpu_ns={"fake@1.0": [usual] * 29 + [dear] * 4, "fake@1.1": [0.0]}))
    store.migrate()
    levels = {row.subject.source: row.level for row in store.samples(Selection(Metric.CPU_NS))}
    assert levels == {"1.0": pytest.approx(600_000 * (1 + 4 / (29 * 4 + 4 * 3))), "1.1": 0}
    store.close()


def test_the_memory_of_several_connections_that_was_stored_as_that_of_one_is_withdrawn(
    dsn: str, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The earlier release wrote the same rows, and computed summaries of them."""
    run = a_run()
    before = [migration for migration in load_migrations() if migration.name != "withdrawn"]
    store = ClickHouseStore(dsn, database, clauses_of(dsn))

    def measured_once(number: int, *held_bytes: float) -> Invocation:
        made = an_invocation(run, number, cpu_ns={"fake@1.0": [1000.0]})
        metrics = (Metric.CLIENT_HELD_BYTES, Metric.SERVER_HELD_BYTES)
        samples = (Sample(subject="fake@1.0", metric=m, values=(v,)) for m, v in zip(metrics, held_bytes, strict=True))
        return made.model_copy(update={"samples": (*made.samples, *samples)})

    with monkeypatch.context() as earlier:
        earlier.setattr(migrate, "load_migrations", lambda: before)
        store.migrate()
        store.add_run(run)
        for number in (0, 1):
            store.add_invocation(run, measured_once(number, 845_440.0, 747_680.0))
        assert "server_held_bytes" in store.metrics()
    store.close()

    store = ClickHouseStore(dsn, database, clauses_of(dsn))
    store.migrate()
    assert {"client_held_bytes", "server_held_bytes"} & store.metrics() == set()
    kept = raw(store).query("SELECT metric, invocation, value FROM withdrawn FINAL ORDER BY metric, invocation")
    assert [tuple(row.values()) for row in kept] == [
        ("client_held_bytes", 0, 845_440.0),
        ("client_held_bytes", 1, 845_440.0),
        ("server_held_bytes", 0, 747_680.0),
        ("server_held_bytes", 1, 747_680.0),
    ]
    for metric in (Metric.CLIENT_HELD_BYTES, Metric.SERVER_HELD_BYTES):
        assert store.samples(Selection(metric)) == []
        (row,) = store.withdrawn(Selection(metric))
        assert (row.kind, row.invocations) == ("withdrawn", 2)
        with store.export(Selection(metric)) as exported:
            assert exported.read_all().num_rows == 0
    assert [row.level for row in store.samples(Selection(Metric.CPU_NS))] == [1000.0, 1000.0]
    store.close()


def test_what_preemption_spoilt_in_results_from_before_goes(
    dsn: str, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the first invocation all batches of both sides were stored, of the last those that were not preempted."""
    run = a_run()
    before = [migration for migration in load_migrations() if migration.name != "preempted"]
    store = ClickHouseStore(dsn, database, clauses_of(dsn))
    with monkeypatch.context() as earlier:
        earlier.setattr(migrate, "load_migrations", lambda: before)
        store.migrate()
        store.add_run(run)
        for number, (preempted, first) in enumerate(((2, 9.0), (0, 9.0), (1, float("nan")))):
            values = {"fake@1.0": [first, 1000.0, 1000.0]}
            store.add_invocation(run, an_invocation(run, number, cpu_ns=values, preempted_batches=preempted))
        assert len(store.samples(Selection(Metric.CLIENT_CPU_NS))) == 3
    store.migrate()
    units = {
        metric: [row.unit.rpartition("/")[2] for row in store.samples(Selection(metric))]
        for metric in (Metric.CPU_NS, Metric.CLIENT_CPU_NS, Metric.SERVER_CPU_NS)
    }
    assert units == {metric: ["1", "2"] for metric in units}
    store.close()


def test_an_alert_of_an_earlier_release_is_of_cpu_time_and_keeps_its_id(
    dsn: str, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stale = a_cause("no pool", kind=AlertKind.STALE)
    events = [an_alert_event(), an_alert_event(AlertAction.WRONG, 1), an_alert_event(cause=stale)]
    before = [migration for migration in load_migrations() if migration.version < 30]
    store = ClickHouseStore(dsn, database, clauses_of(dsn))
    with monkeypatch.context() as earlier:
        earlier.setattr(migrate, "load_migrations", lambda: before)
        store.migrate()
        raw(store).insert("alert_events", [_written_earlier(event) for event in events])
    store.migrate()
    assert {row.alert_id: row.metric for row in store.alert_rows()} == {
        a_cause().alert_id: Metric.CPU_NS,
        stale.alert_id: None,
    }
    assert store.alert_events(a_cause().alert_id) == events[:2]
    assert store.alert_events(stale.alert_id) == events[2:]
    of_bytes = an_alert_event(cause=a_cause(metric=Metric.SERVER_BYTES))
    store.add_alert_event(of_bytes)
    assert {row.metric for row in store.alert_rows()} == {Metric.CPU_NS, None, Metric.SERVER_BYTES}
    store.close()


def _written_earlier(event: AlertEvent) -> dict[str, Any]:
    """Before there were metrics and values."""
    content = event.model_dump(mode="json")
    if event.cause:
        del content["cause"]["metric"]
    for cell in (content["finding"] or {}).get("cells", ()):
        del cell["before"], cell["after"]
    return {
        "alert_id": event.alert_id,
        "number": event.number,
        "at": event.at.isoformat(sep=" ", timespec="milliseconds").removesuffix("+00:00"),
        "action": str(event.action),
        "kind": str(event.cause.kind) if event.cause else "",
        "library": (event.cause.library if event.cause else None) or "",
        "content": json.dumps(content),
    }
