"""The service removes old batches by its setting, and not while its machine measures."""

from datetime import timedelta

import pytest

from kexbench.domain.runs import RunState
from kexbench.queue.troubles import Troubles
from kexbench.service.pruning import PAUSE_S, Pruner
from kexbench.store.clickhouse import ClickHouseStore
from tests.builders import NOON, a_run, an_event, an_invocation
from tests.store.test_contract import ONE, TWO, started

MONTH = timedelta(days=30)


def pruner(store: ClickHouseStore, days: int, *, measures_here: bool = True) -> Pruner:
    return Pruner(store, MONTH, Troubles(), measures_here=measures_here, clock=lambda: NOON + timedelta(days=days))


def left(store: ClickHouseStore) -> int:
    return sum(each.values for each in store.prunable(NOON + timedelta(days=1)))


@pytest.fixture
def measured(empty_store: ClickHouseStore) -> ClickHouseStore:
    run = started(empty_store)
    empty_store.add_invocation(run, an_invocation(run, cpu_ns={ONE: [10, 12, 14], TWO: [11, 13, 12]}))
    empty_store.add_event(an_event(run, RunState.FINISHED))
    return empty_store


def test_batches_are_removed_at_their_age(measured: ClickHouseStore) -> None:
    for days, values in ((29, 18), (32, 0)):
        working = pruner(measured, days)
        while working.once() < PAUSE_S:
            pass
        assert left(measured) == values


def test_nothing_is_removed_while_this_machine_measures(measured: ClickHouseStore) -> None:
    other = started(measured, a_run("other"))
    measured.add_event(an_event(other, RunState.RUNNING))
    assert 0 < pruner(measured, 40).once() < PAUSE_S
    assert left(measured) == 18
    pruner(measured, 40, measures_here=False).once()
    assert left(measured) == 0


def test_it_works_in_a_thread_for_as_long_as_the_service(measured: ClickHouseStore) -> None:
    with pruner(measured, 40).working():
        pass
    assert left(measured) == 0
