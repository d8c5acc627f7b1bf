"""Summaries: computed before the next reading, after a kill, for stores of earlier releases, and all anew."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from unittest.mock import Mock

import pytest

from kexbench.domain.cases import Case
from kexbench.domain.runs import Run
from kexbench.domain.samples import Metric
from kexbench.store import migrate, rows
from kexbench.store.clickhouse import ClickHouseStore
from kexbench.store.migrate import load_migrations
from kexbench.store.port import Selection, StoreError
from tests.builders import ECDSA, RSA, a_run, an_invocation, an_outcome
from tests.store.test_contract import CPU, ONE, TWO, DyingStore, Killed, dies_after, medians, started
from tests.stores import clauses_of, raw

TO_INVOCATIONS = 6
"""Inserts of a new process until an invocation counts: host, samples, outcomes, profiles and the invocation's row."""


def summaries(store: ClickHouseStore) -> list[dict[str, Any]]:
    """What readers see of them."""
    store.content_version()  # computes those that are still to be computed, as before every reading
    return raw(store).query("SELECT * FROM summaries FINAL WHERE notEmpty(counted) ORDER BY ALL")


def computed_at_start(store: ClickHouseStore, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The statements with which the next start computes summaries."""
    commands: list[str] = []
    with monkeypatch.context() as start:
        start.setattr(store, "_command", lambda sql, *given, **named: commands.append(sql))
        store.migrate()
    assert commands
    return [sql for sql in commands if sql.startswith("INSERT INTO summaries")]


def delivered(store: ClickHouseStore) -> Run:
    """A run with repeated attempts in both orders, repeated and half deliveries."""
    run = started(store)
    for attempt in (2, 1):
        costs = {ONE: attempt} if attempt == 2 else {TWO: attempt}
        store.add_invocation(run, an_invocation(run, cpu_ns=costs, outcomes=[an_outcome(ONE)], attempt=attempt))
    for attempt in (1, 2):
        store.add_invocation(run, an_invocation(run, 1, cpu_ns={ONE: attempt, TWO: attempt}, attempt=attempt))
    for _ in range(2):
        store.add_invocations(run, [an_invocation(run, number, cpu_ns={ONE: 7}, case_id=ECDSA) for number in (0, 4)])
    dies_after(1, store, run, an_invocation(run, 2, cpu_ns={ONE: 1}))
    return run


def test_summaries_of_deliveries_are_those_computed_anew(store: ClickHouseStore) -> None:
    delivered(store)
    as_delivered = summaries(store)
    assert store.summarise() == len(as_delivered) > 0
    assert summaries(store) == as_delivered


def test_an_attempt_that_counts_no_more_leaves_no_summary(store: ClickHouseStore) -> None:
    run = delivered(store)
    counted = {
        (row["metric"], row["reference"]): {each["unit"].rpartition("/")[2] for each in row["counted"]}
        for row in summaries(store)
        if row["case_id"] == RSA and row["metric"] in ("cpu_ns", "")
    }
    assert counted == {("cpu_ns", ONE): {"1"}, ("cpu_ns", TWO): {"0", "1"}, ("", ONE): {"0"}}
    assert {row.units for row in store.appearances(replace(CPU, run_id=run.run_id, case_ids=(RSA,)))} == {
        frozenset(f"{job.job_id}/{number}" for job in run.plan.jobs for number in numbers if number in job.numbers)
        for numbers in ((1,), (0, 1))
    }


@pytest.mark.parametrize("with_summaries", [False, True])
def test_a_kill_before_the_summaries_is_made_up_for_at_the_next_start(
    store: ClickHouseStore, with_summaries: bool
) -> None:
    """Before the summaries, or between them and the note that they are there."""
    run = started(store)
    store.add_invocation(run, an_invocation(run, cpu_ns={ONE: 1}))
    dying = raw(store).opened_as(DyingStore)
    dying.survives = TO_INVOCATIONS
    dying.add_invocation(run, an_invocation(run, 1, cpu_ns={ONE: 2}, case_id=ECDSA))
    if with_summaries:
        with pytest.raises(Killed):
            dying.subjects()
    dying.close()
    assert len(medians(store)) == 1 + with_summaries
    store.migrate()
    assert sorted(medians(store)) == [(ONE, 1), (ONE, 2)]
    assert store.summarise() == len(summaries(store))


def test_deliveries_are_summarised_together_once_something_is_read(
    store: ClickHouseStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    summarised: list[set[str]] = []
    compute = ClickHouseStore._summarise_cases
    run = started(store)

    def seen(self: ClickHouseStore, run_id: str, cases: Sequence[Case]) -> None:
        summarised.append({case.case_id for case in cases})
        compute(self, run_id, cases)

    monkeypatch.setattr(ClickHouseStore, "_summarise_cases", seen)
    for number, case_id in enumerate((RSA, ECDSA, RSA)):
        store.add_invocation(run, an_invocation(run, number, cpu_ns={ONE: number}, case_id=case_id))
    assert summarised == []
    assert [len(medians(store)) for _ in range(2)] == [3, 3]
    assert summarised == [{RSA, ECDSA}]


def test_a_clean_end_leaves_no_work_for_the_next_start(store: ClickHouseStore, monkeypatch: pytest.MonkeyPatch) -> None:
    ending = raw(store).opened_as(ClickHouseStore)
    run = started(store)
    ending.add_invocation(run, an_invocation(run, cpu_ns={ONE: 1}))
    ending.close()
    assert computed_at_start(store, monkeypatch) == []
    assert medians(store) == [(ONE, 1)]


def test_what_could_not_be_summarised_is_at_the_next_reading(
    store: ClickHouseStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = started(store)
    store.add_invocation(run, an_invocation(run, cpu_ns={ONE: 1}))
    with monkeypatch.context() as fault:
        fault.setattr(store, "_command", Mock(side_effect=StoreError("away")))
        with pytest.raises(StoreError):
            medians(store)
    assert medians(store) == [(ONE, 1)]


def test_a_start_after_a_clean_end_computes_nothing(store: ClickHouseStore, monkeypatch: pytest.MonkeyPatch) -> None:
    delivered(store)
    summaries(store)
    assert computed_at_start(store, monkeypatch) == []


def test_a_store_of_an_earlier_release_gets_summaries(dsn: str, database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run = a_run()
    earlier = [migration for migration in load_migrations() if migration.version < 23]
    store = ClickHouseStore(dsn, database, clauses_of(dsn))
    run_row = rows.run_row
    with monkeypatch.context() as before:
        before.setattr(migrate, "load_migrations", lambda: earlier)
        before.setattr(
            rows, "run_row", lambda run: {key: run_row(run)[key] for key in run_row(run) if key != "first_look"}
        )
        before.setattr(store, "_apply_set_asides", lambda: None)
        before.setattr(store, "_summarise_missing", lambda: None)
        before.setattr(store, "_summarise_cases", lambda *_: None)
        store.migrate()
        store.add_run(run)
        for number in range(3):
            invocation = an_invocation(run, number, cpu_ns={ONE: number + 1}, outcomes=[an_outcome(TWO)])
            store.add_invocation(run, invocation)
    store.migrate()
    assert [row.level for row in store.samples(CPU)] == [1, 2, 3]
    assert [row.invocations for row in store.outcomes(Selection(Metric.CPU_NS))] == [3]
    store.close()


def test_the_version_of_the_content_changes_with_every_insert(store: ClickHouseStore) -> None:
    versions = [store.content_version()]
    run = started(store)
    versions.append(store.content_version())
    store.add_invocation(run, an_invocation(run, cpu_ns={ONE: 1}))
    versions.append(store.content_version())
    assert len(set(versions)) == 3
    assert store.content_version() == versions[-1]
