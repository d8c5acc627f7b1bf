"""Which node disagrees with the others of its pool, and how often an equal one is named by chance."""

import numpy as np
import pytest

from kexbench.analysis import peers
from kexbench.analysis.detectable import ALPHA
from kexbench.analysis.peers import NEWEST_RUNS, disagreements

STORES = 500
QUIET = (0.0002, -0.0001, 0.0001, 0.0, -0.0002)


def around(level: float, runs: int = 2, shift: int = 0) -> list[float]:
    return [level + QUIET[(place + shift) % len(QUIET)] for place in range(runs)]


def test_a_node_that_is_three_percent_slower_is_named_at_its_second_run() -> None:
    slow = float(np.log(1.03))
    assert disagreements({"a": around(0), "b": around(slow, runs=1)}) == {}
    named = disagreements({"a": around(0), "b": around(slow, shift=2)})
    assert list(named) == ["b"]
    assert named["b"].ratio == pytest.approx(1.03, abs=0.001)
    assert 1 < named["b"].low < named["b"].ratio < named["b"].high
    assert (named["b"].runs, named["b"].peers) == (2, 1)


def test_one_slow_node_does_not_make_the_others_look_fast() -> None:
    named = disagreements(
        {"a": around(0), "b": around(0.03, shift=1), "c": around(0, shift=2), "d": around(0, shift=3)}
    )
    assert list(named) == ["b"]
    assert named["b"].peers == 3


def test_several_nodes_are_named_the_furthest_first() -> None:
    equal = {f"n{place}": around(0, 4, place) for place in range(5)}
    assert list(
        disagreements({**equal, "slow": around(0.02, 4), "slower": around(0.05, 4), "fast": around(-0.03, 4)})
    ) == [
        "slower",
        "fast",
        "slow",
    ]


def test_a_certain_difference_below_half_a_percent_is_none() -> None:
    assert disagreements({"a": around(0, 5), "b": around(0.004, 5, 1), "c": around(0, 5, 2)}) == {}
    assert list(disagreements({"a": around(0, 5), "b": around(0.008, 5, 1), "c": around(0, 5, 2)})) == ["b"]


def test_only_the_newest_runs_count() -> None:
    became_slow = [*around(0, 20), *around(0.03, NEWEST_RUNS)]
    assert list(disagreements({"a": around(0, 25), "b": became_slow, "c": around(0, 25, 2)})) == ["b"]
    assert disagreements({"a": around(0, 25), "b": became_slow[::-1], "c": around(0, 25, 2)}) == {}


def test_nodes_without_noise_or_without_peers_are_no_fault() -> None:
    assert (
        disagreements({}) == disagreements({"a": [0.0, 0.0]}) == disagreements({"a": [0.0, 0.0], "b": [0.0, 0.0]}) == {}
    )


@pytest.mark.parametrize("nodes", [2, 5, 20])
def test_equal_nodes_are_named_less_often_than_stated(nodes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the size that a difference needs, so that the test alone decides."""
    monkeypatch.setattr(peers, "RELEVANT", 0.0)
    chance = np.random.default_rng(nodes)
    named = sum(bool(disagreements(dict(enumerate_names(chance.normal(0, 0.003, (nodes, 3)))))) for _ in range(STORES))
    assert named / STORES <= ALPHA


def enumerate_names(runs: "np.ndarray[tuple[int, int], np.dtype[np.float64]]") -> list[tuple[str, list[float]]]:
    return [(f"node-{place}", list(map(float, values))) for place, values in enumerate(runs)]
