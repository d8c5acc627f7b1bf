"""A run's state follows the order in which the store got its events, whatever clocks say."""

from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kexbench.domain.bisections import BisectionEventKind
from kexbench.domain.runs import Run, RunEvent, RunState
from kexbench.store.clickhouse import ClickHouseStore
from kexbench.store.port import Store
from tests.builders import NOON, a_bisection_event, a_run
from tests.stores import raw


def event(run: Run, state: RunState, seconds: float, detail: str = "") -> RunEvent:
    return RunEvent(run_id=run.run_id, at=NOON + timedelta(seconds=seconds), state=state, detail=detail)


def known_states(store: Store, run: Run) -> tuple[RunState, RunState, bool, bool]:
    """Of a run: its last event, its progress, and whether it is open, as everybody asks for them."""
    open_rows = {row.run_id: row.event.state for row in store.open_run_rows()}
    return (
        store.events(run.run_id)[-1].state,
        store.progress([run.run_id])[run.run_id].event.state,
        run.run_id in store.open_runs(),
        run.run_id in open_rows,
    )


@pytest.mark.parametrize("ahead_s", [90, 86_400, -90, -86_400])
def test_a_clock_that_jumps_either_way_reopens_no_run_that_has_finished(store: Store, ahead_s: float) -> None:
    run = a_run()
    store.add_run(run)
    store.add_event(event(run, RunState.QUEUED, 0))
    store.add_event(event(run, RunState.RUNNING, ahead_s, "of a machine whose clock is wrong"))
    store.add_event(event(run, RunState.FINISHED, 10))
    assert known_states(store, run) == (RunState.FINISHED, RunState.FINISHED, False, False)
    (row,) = store.run_states()
    assert (row.state, row.runs) == (RunState.FINISHED, 1)


def test_a_run_that_is_queued_again_is_open_though_its_end_has_a_later_time(store: Store) -> None:
    run = a_run()
    store.add_run(run)
    store.add_event(event(run, RunState.FAILED, 3600))
    store.add_event(event(run, RunState.QUEUED, 0, "resumed"))
    assert known_states(store, run) == (RunState.QUEUED, RunState.QUEUED, True, True)
    (row,) = store.open_run_rows()
    assert (row.event.detail, row.queued_at) == ("resumed", NOON)


def test_an_event_that_is_sent_again_keeps_its_place(store: Store) -> None:
    run = a_run()
    store.add_run(run)
    begun, ended = event(run, RunState.RUNNING, 50), event(run, RunState.FINISHED, 10)
    for one in (begun, ended, begun, ended, begun):
        store.add_event(one)
    assert store.events(run.run_id) == [begun, ended]


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(st.sampled_from(list(RunState)), st.integers(-10_000, 10_000)),
        min_size=1,
        max_size=6,
        unique=True,
    )
)
def test_the_last_event_that_came_is_the_state(empty_store: ClickHouseStore, came: list[tuple[RunState, int]]) -> None:
    run = a_run(f"run-{abs(hash(tuple(came)))}")
    empty_store.add_run(run)
    for state, seconds in came:
        empty_store.add_event(event(run, state, seconds))
    assert [found.state for found in empty_store.events(run.run_id)] == [state for state, _ in came]
    assert known_states(empty_store, run)[1] is came[-1][0]


def test_events_from_before_there_were_numbers_go_by_their_times_and_before_later_ones(
    empty_store: ClickHouseStore,
) -> None:
    run = a_run()
    empty_store.add_run(run)
    old = [event(run, RunState.QUEUED, 0), event(run, RunState.RUNNING, 100), event(run, RunState.FINISHED, 200)]
    for one in reversed(old):
        row = {**one.model_dump(), "state": str(one.state), "reason": "", "about": []}
        raw(empty_store).insert("run_events", [row])
    assert empty_store.events(run.run_id) == old
    empty_store.add_event(event(run, RunState.QUEUED, 150, "resumed"))
    assert known_states(empty_store, run) == (RunState.QUEUED, RunState.QUEUED, True, True)


@pytest.mark.parametrize("ahead_minutes", [90, -90])
def test_a_bisections_state_goes_by_the_order_too(store: Store, ahead_minutes: float) -> None:
    first = a_bisection_event(kind=BisectionEventKind.CANCELLED, minutes=ahead_minutes)
    again = a_bisection_event(kind=BisectionEventKind.RESUMED, minutes=0)
    store.add_bisection_event(first)
    store.add_bisection_event(again)
    assert store.bisection_events(first.bisection_id) == [first, again]
    assert store.open_bisections() == [first.bisection_id]


def test_events_of_several_runs_in_one_insert_are_numbered_in_each_run_and_may_be_sent_again(store: Store) -> None:
    first, second, third = (a_run(name) for name in ("first", "second", "third"))
    for run in (first, second, third):
        store.add_run(run)
    store.add_event(event(first, RunState.QUEUED, 50))
    store.add_event(event(first, RunState.RUNNING, 60))
    store.add_event(event(second, RunState.QUEUED, 70))
    ends = [
        event(first, RunState.CANCELLING, 10, "by alice"),
        event(second, RunState.CANCELLED, 5),
        event(third, RunState.QUEUED, 1),
    ]
    for _ in range(2):
        store.add_events(ends)
    assert [[each.state for each in store.events(run.run_id)] for run in (first, second, third)] == [
        [RunState.QUEUED, RunState.RUNNING, RunState.CANCELLING],
        [RunState.QUEUED, RunState.CANCELLED],
        [RunState.QUEUED],
    ]
    assert store.events("first")[-1] == ends[0]
    store.add_events([])
    assert sorted(store.open_runs()) == ["first", "third"]
