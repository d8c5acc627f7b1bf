"""Cases beyond the first dimensions: apart from each other in the store for ever, also in a store from before them."""

from datetime import timedelta
from typing import Any

import pyarrow as pa
import pytest

from kexbench.domain.runs import RunReason
from kexbench.domain.samples import Metric, Timer
from kexbench.store import migrate
from kexbench.store.clickhouse import ClickHouseStore
from kexbench.store.migrate import load_migrations
from kexbench.store.port import Selection
from kexbench.store.rows import Row
from tests.builders import NOON, RSA, SPEC, a_run, an_invocation, an_outcome
from tests.exported import exported_rows
from tests.store.test_contract import CPU, ONE, TWO, started, whole_state
from tests.stores import clauses_of, raw

pytestmark = pytest.mark.thorough
THREADS = SPEC.replace("[RSA, ECDHE-ECDSA]", "[RSA]\n  threads: [1, 2]\n  cpuFeatures: [native, no-aes]")


def tidied(store: ClickHouseStore) -> None:
    """Merge all parts, which is when rows of one sorting key replace each other."""
    for table in ("samples", "outcomes", "invocations"):
        raw(store).command(f"OPTIMIZE TABLE {table} FINAL")


def test_cases_that_differ_only_in_a_variation_stay_apart(store: ClickHouseStore) -> None:
    run = started(store, a_run(spec=THREADS))
    for number, case in enumerate(run.plan.cases, start=1):
        invocation = an_invocation(run, case_id=case.case_id, cpu_ns={ONE: number}, outcomes=[an_outcome(TWO)])
        store.add_invocation(run, invocation)
    before = whole_state(store, run)
    tidied(store)
    assert whole_state(store, run) == before
    assert [(row.case, row.level) for row in store.samples(CPU)] == [
        (case, number)
        for case, number in sorted(zip(run.plan.cases, (1, 2, 3, 4), strict=True), key=lambda found: found[0].case_id)
    ]
    assert {row.case for row in store.outcomes(CPU)} == set(run.plan.cases)
    assert {row["case_id"]: row["variation"] for row in exported_rows(store, CPU)} == {
        RSA: "",
        f"{RSA}_cpu-no-aes": '{"cpu_features":"no-aes"}',
        f"{RSA}_threads-2": '{"threads":2}',
        f"{RSA}_threads-2_cpu-no-aes": '{"cpu_features":"no-aes","threads":2}',
    }


def test_a_repeated_upload_of_a_variation_changes_nothing(store: ClickHouseStore) -> None:
    run = started(store, a_run(spec=THREADS))
    invocation = an_invocation(run, case_id=f"{RSA}_threads-2", cpu_ns={ONE: 1})
    for _ in range(2):
        store.add_invocation(run, invocation)
    tidied(store)
    assert len(exported_rows(store, CPU)) == 1
    assert len(store.samples(Selection(Metric.CPU_NS, case_ids=(f"{RSA}_threads-2",)))) == 1


LATER = {
    "variation": 2,
    "timers": 3,
    "commit": 7,
    "trigger": 9,
    "watched": 9,
    "aside": 12,
    "number": 13,
    "level": 18,
    "reason": 20,
    "about": 20,
    "first_look": 25,
}
"""Columns by the migration that brought them."""


class OldStore(ClickHouseStore):
    """Writes rows as an earlier release did."""

    version = 1

    def _next_numbers(self, *_: object) -> dict[str, int]:
        """It had none."""
        return {}

    def _note_host(self, _: object) -> None:
        """Nor were hosts noted."""

    def _recognise_hosts(self) -> None:
        """Nor recognised."""

    def _apply_set_asides(self) -> None:
        """Nor set aside."""

    def _summarise_missing(self) -> None:
        """Nor were there summaries."""

    def _summarise_cases(self, *_: object) -> None:
        """Nor of what was delivered."""

    def _insert(self, table: str, content: list[Row] | pa.Table) -> None:
        later = {name for name, version in LATER.items() if version > self.version}
        if table != "run_events":  # outcomes always had reasons
            later.discard("reason")
        if isinstance(content, pa.Table):
            super()._insert(table, content.drop_columns([name for name in content.column_names if name in later]))
            return
        super()._insert(table, [{name: row[name] for name in row if name not in later} for row in content])


def fill(store: ClickHouseStore) -> Any:
    run = started(store)
    for number in range(3):
        store.add_invocation(run, an_invocation(run, number, cpu_ns={ONE: number + 1}, outcomes=[an_outcome(TWO)]))
    return run


@pytest.mark.parametrize("version", [1, 2])
def test_an_old_store_is_migrated_and_reads_the_same(
    version: int, dsn: str, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(migrate, "load_migrations", lambda: load_migrations()[:version])
        old = OldStore(dsn, database, clauses_of(dsn))
        old.version = version
        old.migrate()
        run = fill(old)
        old.close()
    fresh = ClickHouseStore(dsn, f"{database}_fresh", clauses_of(dsn))
    fresh.migrate()
    assert fill(fresh) == run

    migrated = ClickHouseStore(dsn, database, clauses_of(dsn))
    migrated.migrate()
    assert whole_state(migrated, run) == whole_state(fresh, run)
    assert migrated.timers(run.run_id) == {}
    migrated.add_invocation(run, an_invocation(run, 1, cpu_ns={ONE: 2}, outcomes=[an_outcome(TWO)]))
    tidied(migrated)
    assert whole_state(migrated, run) == whole_state(fresh, run), "a row of before is not the same as one of after"
    timer = Timer(tick_source="tsc", tick_cost_ns=8, thread_cpu_clock_cost_ns=250)
    migrated.add_invocation(run, an_invocation(run, 5, cpu_ns={ONE: 2}, timers={ONE: timer}))
    assert migrated.timers(run.run_id) == {ONE: timer}
    migrated.close()
    fresh.close()


def test_what_did_not_build_is_known_of_runs_of_earlier_releases(
    dsn: str, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = a_run()
    failed = {"run_id": run.run_id, "at": NOON, "state": "failed", "detail": "make: it fails", "number": 1}
    with monkeypatch.context() as patch:
        patch.setattr(migrate, "load_migrations", lambda: load_migrations()[:19])
        patch.setattr(ClickHouseStore, "_summarise_missing", lambda _: None)  # it had no summaries
        patch.setattr(ClickHouseStore, "_apply_set_asides", lambda _: None)
        old = ClickHouseStore(dsn, database, clauses_of(dsn))
        old.migrate()
        again = {**failed, "at": NOON + timedelta(hours=1), "number": 2}
        raw(old).insert("run_events", [{**failed, "unbuilt": [ONE]}, {**again, "unbuilt": []}])
        old.close()
    migrated = ClickHouseStore(dsn, database, clauses_of(dsn))
    migrated.migrate()
    events = [(event.reason, event.about, event.detail) for event in migrated.events(run.run_id)]
    migrated.close()
    assert events == [(RunReason.UNBUILDABLE, (ONE,), "make: it fails"), (None, (), "make: it fails")]
