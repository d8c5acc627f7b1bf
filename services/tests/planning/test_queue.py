"""Whose turn it is, whatever waits, and what a newer run of the same line makes needless."""

from datetime import datetime, timedelta
from itertools import count

from hypothesis import given
from hypothesis import strategies as st

from kexbench.domain.runs import RunState, Trigger
from kexbench.planning.queue import QueuedRun, in_order, next_run, priority_of, superseded
from tests.builders import NOON

SPECS = ("alpha", "beta", "gamma")
_moments = st.integers(0, 20).map(lambda minutes: NOON + timedelta(minutes=minutes))
_last_begun = st.dictionaries(st.sampled_from(SPECS), _moments)
_runs = st.builds(
    QueuedRun,
    run_id=st.uuids().map(str),
    trigger=st.sampled_from(Trigger),
    spec_name=st.sampled_from(SPECS),
    queued_at=_moments,
    state=st.sampled_from(RunState),
    line=st.sampled_from(("", "main", "topic")),
)
_queues = st.lists(_runs, max_size=12, unique_by=lambda run: run.run_id)


def a_run(
    run_id: str, trigger: Trigger = Trigger.API, spec: str = "alpha", minute: int = 0, line: str = ""
) -> QueuedRun:
    return QueuedRun(run_id, trigger, spec, NOON + timedelta(minutes=minute), RunState.QUEUED, line)


def order(*queue: QueuedRun, **last_begun: int) -> str:
    """Run ids in the order of their turns; `last_begun` in minutes."""
    known = {spec: NOON + timedelta(minutes=minute) for spec, minute in last_begun.items()}
    return "".join(run.run_id for run in in_order(queue, known))


def test_a_review_waits_for_nobody_and_a_backfill_for_everybody() -> None:
    triggers = [Trigger.BACKFILL, Trigger.SCHEDULE, Trigger.API, Trigger.COMMIT, Trigger.PULL_REQUEST]
    queue = [a_run(str(place), trigger, minute=place) for place, trigger in enumerate(triggers)]
    assert order(*queue) == "43210"
    assert {priority_of(one) for one in (Trigger.API, Trigger.BISECTION)} == {3}
    assert priority_of(Trigger.CONFIRMATION) == 3, "behind commits, before schedules"


def test_specs_take_turns_however_many_runs_one_of_them_has() -> None:
    many = [a_run(name, minute=minute) for minute, name in enumerate("abc")]
    few = [a_run("x", spec="beta", minute=9), a_run("y", spec="beta", minute=10)]
    assert order(*many, *few) == "axbyc"
    assert order(*many, *few, alpha=1) == "xaybc"
    assert order(*many, *few, alpha=1, beta=2) == "axbyc"


def test_a_turn_counts_whatever_its_priority() -> None:
    queue = [a_run("p", Trigger.PULL_REQUEST), a_run("a", minute=1), a_run("b", spec="beta", minute=2)]
    assert order(*queue) == "pba"


@given(_queues, _last_begun)
def test_every_run_that_waits_has_one_turn_and_none_before_a_higher_priority(
    queue: list[QueuedRun], last_begun: dict[str, datetime]
) -> None:
    found = list(in_order(queue, last_begun))
    assert sorted(run.run_id for run in found) == sorted(r.run_id for r in queue if r.state is RunState.QUEUED)
    assert [run.priority for run in found] == sorted(run.priority for run in found)


@given(_queues, _last_begun)
def test_beginning_one_run_after_the_other_is_the_order_of_turns(
    queue: list[QueuedRun], last_begun: dict[str, datetime]
) -> None:
    turns = list(in_order(queue, last_begun))
    left, known, begun = list(queue), dict(last_begun), []
    for minute in count(100):
        found = next_run(left, known)
        if found is None:
            break
        begun.append(found)
        left.remove(found)
        known[found.spec_name] = NOON + timedelta(minutes=minute)
    assert begun == turns


@given(_queues, _last_begun)
def test_of_one_spec_and_priority_the_oldest_is_first(queue: list[QueuedRun], last_begun: dict[str, datetime]) -> None:
    found = list(in_order(queue, last_begun))
    for spec in SPECS:
        for priority in range(1, 6):
            own = [(r.queued_at, r.run_id) for r in found if (r.spec_name, r.priority) == (spec, priority)]
            assert own == sorted(own)


@given(_queues)
def test_of_each_line_the_newest_run_is_left_and_nothing_that_was_begun_is_superseded(queue: list[QueuedRun]) -> None:
    by_id = {run.run_id: run for run in queue}
    needless = superseded(queue)
    for old, new in ((by_id[old], by_id[new]) for old, new in needless.items()):
        assert old.state is RunState.QUEUED
        assert old.line == new.line != ""
        assert (old.queued_at, old.run_id) < (new.queued_at, new.run_id)
        assert new.run_id not in needless
        assert new.state.is_open
    waiting = [run.line for run in queue if run.state is RunState.QUEUED and run.run_id not in needless and run.line]
    assert len(waiting) == len(set(waiting))


def test_a_run_of_no_line_is_superseded_by_nothing() -> None:
    queue = [a_run("a"), a_run("b", minute=1), a_run("c", line="main"), a_run("d", line="main", minute=1)]
    assert superseded(queue) == {"c": "d"}
