"""Which runs of a cluster are not to be submitted yet."""

from collections.abc import Mapping, Sequence
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from kexbench.domain.runs import Run, RunEvent, RunState
from kexbench.execution.argo.decide import RunView
from kexbench.execution.argo.turns import Turns, outstanding
from tests.builders import NOON
from tests.execution.argo.cases import a_cluster_run

PLENTY = {"amd-epyc": 9, "arm.n1": 9}
NOTHING_STORED: dict[str, dict[str, int]] = {name: {} for name in "abcd"}


def a_view(run_id: str, state: RunState = RunState.QUEUED, pools: str = "both") -> RunView:
    """A run of two jobs on each of its pools, which came to a state."""
    run = a_cluster_run(run_id)
    if pools != "both":
        jobs = tuple(job for job in run.plan.jobs if job.pool == pools)
        run = run.model_copy(update={"plan": run.plan.model_copy(update={"pools": (pools,), "jobs": jobs})})
    states = [RunState.QUEUED] if state is RunState.QUEUED else [RunState.QUEUED, state]
    events = [
        RunEvent(run_id=run_id, at=NOON + timedelta(seconds=second), state=one) for second, one in enumerate(states)
    ]
    return RunView.of(run, events)


def waiting(views: Sequence[RunView], stored: Mapping[str, Mapping[str, int]], nodes: Mapping[str, int]) -> set[str]:
    """The runs that wait for others, as the dispatcher asks: it does not count the jobs of a run that cannot change
    anything."""
    turns, waits = Turns(), set()
    for view in sorted(views, key=lambda view: view.waits):
        if view.waits and turns.has_none_for(view.pools, nodes):
            waits.add(view.run_id)
        if not turns.is_decided(view.pools, nodes):
            turns.add(outstanding(view.run, stored.get(view.run_id, {})))
    return waits


def all_stored(run: Run) -> dict[str, int]:
    return {job.job_id: job.count for job in run.plan.jobs}


def test_a_run_has_its_turn_while_its_pools_have_more_nodes_than_outstanding_jobs_before_it() -> None:
    views = [a_view("a", RunState.RUNNING), a_view("b"), a_view("c")]
    assert waiting(views, NOTHING_STORED, PLENTY) == set()
    assert waiting(views, NOTHING_STORED, {"amd-epyc": 9, "arm.n1": 3}) == {"c"}
    assert waiting(views, NOTHING_STORED, {"amd-epyc": 2, "arm.n1": 2}) == {"b", "c"}


def test_jobs_that_are_stored_hold_no_node() -> None:
    views = [a_view("a", RunState.RUNNING), a_view("b")]
    one_node = {"amd-epyc": 1, "arm.n1": 1}
    assert waiting(views, NOTHING_STORED, one_node) == {"b"}
    assert waiting(views, {"a": all_stored(views[0].run)}, one_node) == set()


def test_a_run_that_could_not_be_looked_at_has_all_its_nodes() -> None:
    views = [a_view("a", RunState.RUNNING), a_view("b")]
    assert waiting(views, {}, {"amd-epyc": 2, "arm.n1": 2}) == {"b"}


def test_a_run_that_waits_is_not_passed_in_its_pools_but_in_others() -> None:
    small = a_view("c", pools="arm.n1")
    views = [a_view("a", RunState.RUNNING, "amd-epyc"), a_view("b"), small]
    nodes = {"amd-epyc": 2, "arm.n1": 2}
    assert waiting(views, NOTHING_STORED, nodes) == {"b", "c"}
    assert waiting([views[0], small], NOTHING_STORED, nodes) == set()


def test_the_first_run_has_its_turn_even_where_no_node_is_ready() -> None:
    assert waiting([a_view("a")], NOTHING_STORED, {}) == set()


def test_who_was_begun_is_before_whoever_waits_and_never_waits() -> None:
    views = [a_view("a"), a_view("b", RunState.CANCELLING), a_view("c", RunState.RUNNING)]
    assert waiting(views, NOTHING_STORED, {"amd-epyc": 1, "arm.n1": 1}) == {"a"}


@given(
    st.lists(st.sampled_from(["both", "amd-epyc", "arm.n1"]), min_size=1, max_size=5),
    st.integers(0, 6),
    st.integers(0, 6),
)
def test_jobs_that_are_not_counted_would_have_changed_nothing(pools: list[str], amd: int, arm: int) -> None:
    nodes, lazy, whole = {"amd-epyc": amd, "arm.n1": arm}, Turns(), Turns()
    for name, each in zip("abcde", pools, strict=False):
        view = a_view(name, pools=each)
        assert lazy.has_none_for(view.pools, nodes) == whole.has_none_for(view.pools, nodes)
        whole.add(outstanding(view.run, {}))
        if not lazy.is_decided(view.pools, nodes):
            lazy.add(outstanding(view.run, {}))


@given(
    st.lists(st.sampled_from([RunState.QUEUED, RunState.BUILDING, RunState.RUNNING]), min_size=1, max_size=4),
    st.integers(0, 9),
    st.integers(0, 9),
)
def test_somebody_always_has_a_turn_and_more_nodes_let_nobody_wait_who_did_not(
    states: list[RunState], amd: int, arm: int
) -> None:
    views = [a_view(name, state) for name, state in zip("abcd", states, strict=False)]
    waits = waiting(views, NOTHING_STORED, {"amd-epyc": amd, "arm.n1": arm})
    assert len(waits) < len(views)
    assert waiting(views, NOTHING_STORED, {"amd-epyc": amd + 1, "arm.n1": arm + 1}) <= waits
