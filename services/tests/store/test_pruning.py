"""Removed batches: what readers see, repeated deliveries, kills, and the freed space."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from kexbench.analysis.removal import kept_of
from kexbench.answers.pruning import prune_step
from kexbench.domain.batches import RemovedBatches
from kexbench.domain.plans import SENTINEL
from kexbench.domain.runs import Run, Trigger
from kexbench.domain.samples import Metric
from kexbench.store import pruning
from kexbench.store.clickhouse import ClickHouseStore
from kexbench.store.port import Selection, StoreError
from tests.builders import ECDSA, NOON, a_kit, a_run, an_invocation
from tests.exported import exported_rows
from tests.store.test_contract import CPU, ONE, TWO, Killed, started
from tests.stores import raw

AT = NOON + timedelta(days=400)
LATER = NOON + timedelta(days=2)
ODD = Selection(Metric.CPU_NS, run_id="zero")


def measured(store: ClickHouseStore, trigger: Trigger = Trigger.API) -> Run:
    kits = {SENTINEL: a_kit("openssl@system", version="3.0.2")}
    run = started(store, a_run(kits=kits).model_copy(update={"trigger": trigger}))
    for number in range(3):
        for case_id, cost in ((run.plan.cases[0].case_id, 1000), (ECDSA, 500)):
            values = {
                name: [cost + number * 7 + step * each for each in range(5)]
                for step, name in enumerate((ONE, TWO, SENTINEL), start=1)
            }
            store.add_invocation(run, an_invocation(run, number, cpu_ns=values, case_id=case_id))
    return run


def pruned(store: ClickHouseStore, before: datetime = LATER, at: datetime = AT) -> int:
    removed = 0
    while True:
        step = prune_step(store, before, at, duration_s=60)
        removed += step.removed_values
        if step.is_last:
            return removed


def seen(store: ClickHouseStore) -> list[dict[str, Any]]:
    """What an export shows, except the batches."""
    rows = [row for metric in (Metric.CPU_NS, Metric.SERVER_CPU_NS) for row in exported_rows(store, Selection(metric))]
    return [
        {name: value for name, value in row.items() if name not in ("values", "batches_removed_at")} for row in rows
    ]


def raw_rows(store: ClickHouseStore) -> int:
    return int(raw(store).query("SELECT count() AS total FROM samples")[0]["total"])


def test_an_export_shows_the_same_numbers_without_values_and_when_they_were_removed(store: ClickHouseStore) -> None:
    measured(store)
    before, levels = seen(store), store.levels(CPU, [ECDSA])
    values = sum(each.values for each in store.prunable(LATER))
    assert values == 5 * 3 * 3 * 2 * 3
    assert store.prunable_bytes(LATER) >= 0
    assert pruned(store) == values
    assert seen(store) == before
    assert store.levels(CPU, [ECDSA]) == levels
    assert {(tuple(row["values"]), row["batches_removed_at"]) for row in exported_rows(store, CPU)} == {((), AT)}
    assert all(isinstance(row.values, RemovedBatches) for row in store.samples(CPU))
    assert store.prunable(LATER) == []
    assert pruned(store) == 0


def test_newer_invocations_keep_their_batches(store: ClickHouseStore) -> None:
    measured(store)
    assert pruned(store, before=NOON) == 0
    assert {len(row["values"]) for row in exported_rows(store, CPU)} == {5}
    assert {row["batches_removed_at"] for row in exported_rows(store, CPU)} == {None}


def test_batches_of_bisections_stay(store: ClickHouseStore) -> None:
    run = measured(store, trigger=Trigger.BISECTION)
    assert pruned(store) == 0
    assert {len(row.values) for row in store.samples(Selection(Metric.CPU_NS, run_id=run.run_id))} == {5}  # type: ignore[arg-type]


def test_batches_with_a_zero_stay_and_are_not_examined_again(store: ClickHouseStore) -> None:
    run = started(store, a_run("zero"))
    store.add_invocation(run, an_invocation(run, cpu_ns={ONE: [5, 0, 5], TWO: [8, 8, 8]}))
    before = exported_rows(store, ODD)
    assert pruned(store) == 0
    assert store.prunable(LATER) == []
    assert exported_rows(store, ODD) == before


def test_a_repeated_delivery_doubles_nothing_and_can_be_removed_again(store: ClickHouseStore) -> None:
    run = measured(store)
    before = seen(store)
    pruned(store)
    values = {
        ONE: [1000, 1001, 1002, 1003, 1004],
        TWO: [1000, 1002, 1004, 1006, 1008],
        SENTINEL: [1000, 1003, 1006, 1009, 1012],
    }
    store.add_invocation(run, an_invocation(run, cpu_ns=values))
    assert seen(store) == before
    assert pruned(store, at=AT + timedelta(days=1)) == 45
    assert seen(store) == before
    assert raw_rows(store) == 3 * 2 * 3 * 3


def test_a_later_delivery_with_other_numbers_counts(store: ClickHouseStore) -> None:
    run = measured(store)
    pruned(store)
    store.add_invocation(run, an_invocation(run, cpu_ns={ONE: [7, 7, 7], TWO: [9, 9, 9], SENTINEL: [8, 8, 8]}))
    found = [row for row in store.samples(CPU) if row.case.case_id != ECDSA and row.unit.endswith("/0")]
    assert sorted(row.level for row in found) == [7, 9]


class Dying(ClickHouseStore):
    """Ends after so many statements that write."""

    survives = 0

    def _insert_columns(self, table: str, content: Any) -> None:
        self._live()
        super()._insert_columns(table, content)

    def reclaim(self, partition: str) -> None:
        self._live()
        super().reclaim(partition)

    def _live(self) -> None:
        if self.survives == 0:
            raise Killed
        self.survives -= 1


@pytest.mark.parametrize("survives", [0, 1, 4, 9])
def test_after_a_kill_every_number_is_the_same_and_the_rest_can_be_removed(
    store: ClickHouseStore, survives: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nine inserts, then the space is freed."""
    monkeypatch.setattr("kexbench.store.pruning._AT_ONCE", 4)
    measured(store)
    before, levels = seen(store), store.levels(CPU, [ECDSA])
    dying = raw(store).opened_as(Dying)
    dying.survives = survives
    with pytest.raises(Killed):
        pruned(dying)
    dying.close()
    assert seen(store) == before
    assert store.levels(CPU, [ECDSA]) == levels
    pruned(store)
    assert seen(store) == before
    assert raw_rows(store) == 3 * 2 * 3 * 3
    assert {tuple(row["values"]) for row in exported_rows(store, CPU)} == {()}


def test_many_invocations_are_removed_in_portions_that_do_not_split_one(
    store: ClickHouseStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kexbench.store.pruning._AT_ONCE", 4)
    portions: list[int] = []
    insert = ClickHouseStore._insert_columns

    def counting(self: ClickHouseStore, table: str, content: Any) -> None:
        portions.append(len(content))
        insert(self, table, content)

    measured(store)
    before = seen(store)
    monkeypatch.setattr(ClickHouseStore, "_insert_columns", counting)
    (first, *_) = store.prunable(LATER)
    assert store.prune(first, LATER, AT, kept_of) == first.values
    assert portions == [6] * 9
    assert seen(store) == before


def test_the_sizes_of_all_tables_are_known(store: ClickHouseStore) -> None:
    measured(store)
    sizes = {size.table: size for size in store.sizes()}
    assert sizes["samples"].rows == 3 * 2 * 3 * 3
    assert sizes["samples"].size_bytes > 0


def test_the_disk_that_has_the_tables_is_known_with_its_room(store: ClickHouseStore) -> None:
    measured(store)
    (disk,) = store.disks()
    assert disk.disk == "default"
    assert 0 < disk.free_bytes < disk.size_bytes


def test_what_was_computed_before_a_removal_is_computed_again(store: ClickHouseStore) -> None:
    measured(store)
    evidence = store.evidence()
    assert pruned(store) > 0
    later = store.evidence()
    assert later.of_case(ECDSA) != evidence.of_case(ECDSA)
    assert later.of_run(a_run().run_id) != evidence.of_run(a_run().run_id)


def test_a_part_of_an_invocation_that_comes_again_leaves_what_is_kept_of_the_rest(
    store: ClickHouseStore,
) -> None:
    run = measured(store)
    assert pruned(store) > 0
    kept = kept_of_all(store)
    costs = {ONE: [1009.0, 1010, 1011, 1012, 1013]}
    store.add_invocation(run, an_invocation(run, 0, cpu_ns=costs, case_id=ECDSA))
    assert pruned(store) == 0
    assert {**kept, **kept_of_all(store)} == kept
    assert kept_of_all(store)


def test_a_partition_that_cannot_be_merged_is_a_fault_and_no_endless_loop(
    store: ClickHouseStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured(store)
    monkeypatch.setattr(pruning, "_MERGING_S", 0.0)
    command, tried = store._command, []

    def refused(sql: str, *given: Any, **named: Any) -> None:
        if "OPTIMIZE" not in sql:
            return command(sql, *given, **named)
        tried.append(sql)
        raise StoreError("no space")

    monkeypatch.setattr(store, "_command", refused)
    with pytest.raises(StoreError, match="no space"):
        pruned(store)
    assert 1 <= len(tried) <= 2
    assert all("optimize_throw_if_noop = 1" in sql for sql in tried)


def kept_of_all(store: ClickHouseStore) -> dict[tuple[str, str, str], Any]:
    """What is kept of the batches of each removed row."""
    return {
        (row.case.case_id, row.unit, row.subject.name): dict(row.values.ratios)
        for row in store.samples(replace(CPU, run_id=a_run().run_id))
        if isinstance(row.values, RemovedBatches) and row.values.ratios
    }
