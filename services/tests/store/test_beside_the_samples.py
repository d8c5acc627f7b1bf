"""What a store holds beside subjects' samples: the sentinel, variants, what was negotiated, clocks, and the past."""

from dataclasses import replace
from datetime import timedelta

from kexbench.domain.plans import SENTINEL
from kexbench.domain.runs import Run
from kexbench.domain.samples import Metric, Timer
from kexbench.domain.schedules import Schedule
from kexbench.domain.upgrades import SIDES
from kexbench.store.clickhouse import ClickHouseStore
from kexbench.store.port import Selection, Store
from tests.builders import ECDSA, NOON, RSA, SPEC, a_kit, a_run, an_invocation, an_outcome
from tests.exported import exported_rows
from tests.store.test_contract import CPU, ONE, TWO, dies_after, medians, started

FROZEN = {SENTINEL: a_kit("openssl@system", version="3.0.2")}
SYSTEM, RELINK, COPY, BURN = (f"openssl@system{suffix}" for suffix in ("", "+relink=1", "+copy=2", "+burn=9"))
TIMER = Timer(tick_source="tsc", tick_cost_ns=8.5, thread_cpu_clock_cost_ns=251.25)


def with_sentinel(store: Store, run_id: str = "one", *, day: int = 0) -> Run:
    return started(store, a_run(run_id, kits=FROZEN, created_at=NOON + timedelta(days=day)))


def with_variants(store: Store, run_id: str = "one") -> Run:
    kits = {reference: a_kit(reference, version="3.0.2") for reference in (SYSTEM, RELINK, COPY, BURN)}
    return started(store, a_run(run_id, kits=kits))


def frozen_medians(store: Store, *run_ids: str) -> list[tuple[str, str, float]]:
    return [
        (row.run_id, row.case.case_id, row.level)
        for row in store.sentinels(Selection(Metric.CPU_NS, runs=tuple(run_ids)))
    ]


def test_the_sentinel_is_neither_among_the_subjects_nor_in_their_numbers(store: Store) -> None:
    run = with_sentinel(store)
    store.add_invocation(run, an_invocation(run, cpu_ns={ONE: 10, SENTINEL: 99}, outcomes=[an_outcome(TWO)]))
    store.add_invocation(run, an_invocation(run, 1, cpu_ns={ONE: 10}, outcomes=[an_outcome(SENTINEL)]))
    assert [row.library for row in store.subjects()] == ["fake"]
    assert medians(store) == medians(store, replace(CPU, run_id=run.run_id)) == [(ONE, 10)] * 2
    assert [row.subject.version for row in store.outcomes(CPU)] == ["1.1"]
    assert {row["library"] for row in exported_rows(store, CPU)} == {"fake"}


def test_a_library_that_is_the_sentinel_and_a_subject_too_keeps_both_apart(store: Store) -> None:
    run = started(store, a_run(kits=FROZEN | {SYSTEM: FROZEN[SENTINEL]}))
    store.add_invocation(run, an_invocation(run, cpu_ns={SYSTEM: 10, SENTINEL: 99}))
    assert medians(store) == [(SYSTEM, 10)]
    assert medians(store, replace(CPU, sentinel=True)) == [(SYSTEM, 99)]
    assert frozen_medians(store, run.run_id) == [(run.run_id, RSA, 99)]


def test_the_sentinels_of_several_runs_are_read_together_with_their_units(store: Store) -> None:
    runs = [with_sentinel(store, run_id, day=day) for day, run_id in enumerate(("one", "two", "three"))]
    for value, run in enumerate(runs, start=1):
        for number in (0, 4):
            store.add_invocation(run, an_invocation(run, number, cpu_ns={ONE: 7, SENTINEL: [value, value, 90]}))
    assert sorted(frozen_medians(store, "one", "three")) == [("one", RSA, 1)] * 2 + [("three", RSA, 3)] * 2
    found = store.sentinels(Selection(Metric.SERVER_CPU_NS, runs=("two",)))
    assert {row.unit for row in found} == {f"{runs[1].plan.jobs[job].job_id}/{n}" for job, n in ((0, 0), (1, 4))}
    assert {(row.level, row.subject.kit_id) for row in found} == {(2, FROZEN[SENTINEL].kit_id)}
    assert frozen_medians(store) == frozen_medians(store, "none") == []


def test_several_metrics_are_read_together_as_each_alone(store: Store) -> None:
    runs = [with_sentinel(store, run_id, day=day) for day, run_id in enumerate(("one", "two"))]
    for run in runs:
        store.add_invocation(run, an_invocation(run, cpu_ns={ONE: 8, SENTINEL: 4}, without_sides=[ONE]))
        store.add_invocation(run, an_invocation(run, 1, cpu_ns={ONE: 16, TWO: 12, SENTINEL: 4}))
    metrics = tuple(SIDES.values())
    for sentinel in (False, True):
        named = Selection(Metric.CPU_NS, runs=("one", "two"), sentinel=sentinel)
        each = {metric: store.samples(replace(named, metric=metric)) for metric in metrics}
        assert all(each.values())
        assert store.samples_by_metric(named, metrics) == each
    assert store.samples_by_metric(Selection(Metric.CPU_NS, runs=("none",)), metrics) == {
        metric: [] for metric in metrics
    }


def test_a_sentinel_of_a_half_stored_invocation_does_not_count(store: ClickHouseStore) -> None:
    run = with_sentinel(store)
    dies_after(1, store, run, an_invocation(run, cpu_ns={ONE: 1, SENTINEL: 2}))
    assert frozen_medians(store, run.run_id) == []


def test_only_what_was_measured_before_a_moment_is_read(store: Store) -> None:
    runs = [with_sentinel(store, run_id, day=day) for day, run_id in enumerate(("one", "two", "three"))]
    for value, run in enumerate(runs, start=1):
        store.add_invocation(run, an_invocation(run, cpu_ns={ONE: value, SENTINEL: 10 * value}))
    for sentinel, factor, name in ((False, 1, ONE), (True, 10, SYSTEM)):
        selection = replace(CPU, sentinel=sentinel)
        assert medians(store, selection) == [(name, 3 * factor)]
        assert medians(store, replace(selection, before=runs[2].created_at)) == [(name, 2 * factor)]
        assert medians(store, replace(selection, before=runs[1].created_at)) == [(name, factor)]
        assert medians(store, replace(selection, before=runs[0].created_at)) == []


def test_variants_are_read_where_they_are_asked_for_or_their_run_is_named(store: Store) -> None:
    run = with_variants(store)
    store.add_invocation(
        run, an_invocation(run, cpu_ns={SYSTEM: 1, RELINK: 2, COPY: 3, BURN: 4}, outcomes=[an_outcome(ONE)])
    )
    assert medians(store) == [(SYSTEM, 1)]
    assert [row.source for row in store.subjects()] == ["system"]
    everything = [(SYSTEM, 1), (BURN, 4), (COPY, 3), (RELINK, 2)]
    assert medians(store, replace(CPU, variants=True)) == everything
    assert medians(store, replace(CPU, run_id=run.run_id)) == everything
    assert [row["source"] for row in exported_rows(store, CPU)] == ["system"]


def test_outcomes_of_variants_are_left_out_too(store: Store) -> None:
    run = with_variants(store)
    store.add_invocation(run, an_invocation(run, outcomes=[an_outcome(SYSTEM), an_outcome(COPY)]))
    assert [row.subject.source for row in store.outcomes(CPU)] == ["system"]
    assert len(store.outcomes(replace(CPU, variants=True))) == 2


def test_settings_of_the_fake_are_no_variants(store: Store) -> None:
    run = started(store, a_run(spec=SPEC.replace("[1.0, 1.1]", "[1.0+seed=1+step=1.02]")))
    store.add_invocation(run, an_invocation(run, cpu_ns={"fake@1.0+seed=1+step=1.02": 5}))
    assert medians(store) == [("fake@1.0+seed=1+step=1.02", 5)]


def test_what_was_negotiated_is_known_for_each_run_case_and_subject(store: Store) -> None:
    run, other = with_sentinel(store), with_sentinel(store, "two", day=1)
    invocation = an_invocation(run, cpu_ns={ONE: 1, SENTINEL: 2})
    store.add_invocation(run, invocation)
    store.add_invocation(run, an_invocation(run, 1, cpu_ns={TWO: 1}, case_id=ECDSA))
    store.add_invocation(other, an_invocation(other, cpu_ns={ONE: 1}))
    found = {(row.run_id, row.case_id, row.reference): row.negotiated for row in store.negotiated(["one"])}
    assert found.keys() == {("one", RSA, ONE), ("one", RSA, SENTINEL), ("one", ECDSA, TWO)}
    assert found["one", RSA, ONE] == invocation.negotiated[ONE]
    assert {row.run_id for row in store.negotiated(["one", "two", "none"])} == {"one", "two"}
    assert store.negotiated([]) == []


def test_the_clocks_of_a_run_are_those_of_its_newest_invocation(store: Store) -> None:
    run, other = started(store), started(store, a_run("other", created_at=NOON + timedelta(days=1)))
    older, newer = TIMER, TIMER.model_copy(update={"tick_cost_ns": 9.0})
    store.add_invocation(run, an_invocation(run, 3, cpu_ns={ONE: 1}, timers={ONE: newer, TWO: older}))
    store.add_invocation(run, an_invocation(run, 0, cpu_ns={ONE: 1}, timers={ONE: older}))
    store.add_invocation(other, an_invocation(other, cpu_ns={ONE: 1}))
    assert store.timers(run.run_id) == {ONE: newer, TWO: older}
    assert store.timers("other") == store.timers("none") == {}


def test_the_metrics_are_those_that_have_numbers(store: Store) -> None:
    assert store.metrics() == set()
    run = started(store)
    store.add_invocation(run, an_invocation(run, outcomes=[an_outcome(ONE)]))
    assert store.metrics() == set()
    store.add_invocation(run, an_invocation(run, 1, cpu_ns={ONE: 1}))
    assert store.metrics() == {"cpu_ns", "client_cpu_ns", "server_cpu_ns"}


def a_schedule(name: str = "nightly", *, minutes: int = 0, cron: str = "0 3 * * *", removed: bool = False) -> Schedule:
    changed_at = NOON + timedelta(minutes=minutes)
    return Schedule(
        name=name, cron=cron, spec_text=SPEC, changed_at=changed_at, changed_by="ci:pipeline", removed=removed
    )


def test_of_a_schedule_the_newest_change_counts_in_whatever_order_changes_arrive(store: Store) -> None:
    assert store.schedules() == []
    first, second = a_schedule(), a_schedule(minutes=2, cron="30 4 * * 1")
    for change in (second, first, second):
        store.add_schedule(change)
    store.add_schedule(a_schedule("hourly", minutes=1))
    assert store.schedules() == [a_schedule("hourly", minutes=1), second]


def test_a_schedule_that_was_removed_is_listed_as_that_until_it_is_added_again(store: Store) -> None:
    gone = a_schedule(minutes=1, removed=True)
    for change in (a_schedule(), gone):
        store.add_schedule(change)
    assert store.schedules() == [gone]
    store.add_schedule(a_schedule(minutes=2))
    assert store.schedules() == [a_schedule(minutes=2)]
