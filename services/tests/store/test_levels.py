"""Histories without their batches: what each cell cost, by itself and relative to the sentinel."""

from datetime import timedelta

import numpy as np
import pytest

from kexbench.analysis.rounds import log_ratios
from kexbench.domain.plans import SENTINEL
from kexbench.domain.runs import Run
from kexbench.domain.samples import ABSENT, Metric
from kexbench.store.port import LevelRow, Selection, Store
from tests.builders import HOST, NOON, RSA, a_kit, a_run, an_invocation
from tests.store.test_contract import ONE, TWO, started

OWN = [[11, 12, 40, 12, 11, 13, 12, 12, 90], [12, 12, 13, 12, 99, 12, 14, 11, 12], [10, 11, 12, 13, 14, 15, 16, 17, 18]]
FROZEN = [[8, 9, 10, 9, 9, 9, 31, 9, 9], [9, 9, 9, 9, 70, 8, 9, 9, 9], [5, 6, 5, 6, 5, 6, 5, 6, 5]]


def stored(store: Store, run_id: str = "one", *, day: int = 0, frozen: str = "3.0.2") -> Run:
    kits = {SENTINEL: a_kit("openssl@system", version=frozen)}
    return started(store, a_run(run_id, kits=kits, created_at=NOON + timedelta(days=day)))


def levels(store: Store, metric: Metric = Metric.CPU_NS) -> list[LevelRow]:
    return store.levels(Selection(metric), [RSA])


def test_each_subject_has_the_median_of_its_newest_run_and_how_invocations_scatter(store: Store) -> None:
    for day, factor in enumerate((1, 2)):
        run = stored(store, str(day), day=day)
        for number, value in enumerate((10, 11, 15)):
            cpu_ns = {ONE: factor * value, TWO: 7} if day else {ONE: factor * value}
            store.add_invocation(run, an_invocation(run, number, cpu_ns=cpu_ns, host=HOST))
    one, two = levels(store)
    assert (one.subject.version, one.run_id, one.invocations, one.level) == ("1.0", "1", 3, 22)
    assert one.spread == pytest.approx(np.std([20, 22, 30], ddof=1))
    assert (two.subject.version, two.level, two.spread, two.to_sentinel) == ("1.1", 7, 0, None)


def test_a_later_run_without_the_sentinel_does_not_hide_one_with_it(store: Store) -> None:
    """As a confirming run is, which has no need of it."""
    with_it, without = stored(store, "with"), started(store, a_run("without", created_at=NOON + timedelta(days=1)))
    store.add_invocation(with_it, an_invocation(with_it, cpu_ns={ONE: 10, SENTINEL: 5}))
    store.add_invocation(without, an_invocation(without, cpu_ns={ONE: 12, TWO: 12}))
    assert [(row.run_id, row.level) for row in levels(store)] == [("with", 10), ("without", 12)]


@pytest.mark.parametrize("count", [1, 2, 3, 7, 9])
def test_the_level_relative_to_the_sentinel_is_that_of_rounds(store: Store, count: int) -> None:
    run = stored(store)
    own, frozen = [[values[:count] for values in several] for several in (OWN, FROZEN)]
    for number, (values, others) in enumerate(zip(own, frozen, strict=True)):
        store.add_invocation(run, an_invocation(run, number, cpu_ns={ONE: values, SENTINEL: others}))
    ratios = np.exp(log_ratios(*({str(n): values for n, values in enumerate(one)} for one in (own, frozen))))
    (row,) = levels(store)
    assert row.to_sentinel is not None
    assert (row.to_sentinel.kit_id, row.to_sentinel.invocations) == (run.kits[SENTINEL].kit_id, 3)
    assert row.to_sentinel.level == pytest.approx(np.median(ratios))
    assert row.to_sentinel.spread == pytest.approx(np.std(ratios, ddof=1))


def test_where_rounds_are_not_known_medians_are_compared(store: Store) -> None:
    run = stored(store)
    store.add_invocation(run, an_invocation(run, cpu_ns={ONE: [10, 12, 14], SENTINEL: [6, 6]}))
    (row,) = levels(store)
    assert row.to_sentinel is not None
    assert row.to_sentinel.level == pytest.approx(2)


def test_an_invocation_without_the_sentinel_or_with_a_zero_is_of_the_level_alone(store: Store) -> None:
    run = stored(store)
    measured = ({ONE: 10, SENTINEL: 5}, {ONE: 12}, {ONE: 14, SENTINEL: 0}, {ONE: 16, SENTINEL: 4})
    for number, cpu_ns in enumerate(measured):
        store.add_invocation(run, an_invocation(run, number, cpu_ns=cpu_ns))
    (row,) = levels(store)
    assert (row.invocations, row.level) == (4, 13)
    assert row.to_sentinel is not None
    assert row.to_sentinel.invocations == 2
    assert row.to_sentinel.level == pytest.approx(3)


def test_each_metric_is_compared_with_its_own_and_each_run_with_its_own_sentinel(store: Store) -> None:
    for day, frozen, subject in ((0, "3.0.2", ONE), (1, "3.0.3", TWO)):
        run = stored(store, str(day), day=day, frozen=frozen)
        store.add_invocation(run, an_invocation(run, cpu_ns={subject: 400, SENTINEL: 200 + 200 * day}))
    rows = levels(store, Metric.SERVER_CPU_NS)
    assert [row.to_sentinel and row.to_sentinel.level for row in rows] == [pytest.approx(2), pytest.approx(1)]
    assert len({row.to_sentinel.kit_id for row in rows if row.to_sentinel}) == 2


def test_batches_that_do_not_know_their_value_are_left_out_of_rounds(store: Store) -> None:
    run = stored(store)
    own: list[list[float]] = [[10, ABSENT, 14, 12], [30, 12, ABSENT, 10]]
    frozen: list[list[float]] = [[5, 6, ABSENT, 4], [5, 6, 5, 5]]
    for number, (values, others) in enumerate(zip(own, frozen, strict=True)):
        store.add_invocation(run, an_invocation(run, number, cpu_ns={ONE: values, SENTINEL: others}))
    ratios = np.exp(log_ratios(*({str(n): values for n, values in enumerate(one)} for one in (own, frozen))))
    (row,) = levels(store)
    assert row.to_sentinel is not None
    assert row.to_sentinel.invocations == 2
    assert row.to_sentinel.level == pytest.approx(np.median(ratios))


def test_a_level_is_what_the_invocation_says_that_its_handshakes_cost(store: Store) -> None:
    run = stored(store)
    for number, level in enumerate((13.0, 12.5, 14.0)):
        invocation = an_invocation(run, number, cpu_ns={ONE: [12, 12, 16]})
        samples = tuple(sample.model_copy(update={"level": level}) for sample in invocation.samples)
        store.add_invocation(run, invocation.model_copy(update={"samples": samples}))
    (row,) = levels(store)
    assert row.level == 13
    assert sorted(sample.level for sample in store.samples(Selection(Metric.CPU_NS))) == [12.5, 13, 14]
