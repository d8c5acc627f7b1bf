"""The sentinel tells a host that moved from a library that did."""

from collections.abc import Mapping

import numpy as np
import pytest

from kexbench.analysis.estimates import compare
from kexbench.analysis.rounds import Batches
from kexbench.analysis.sentinel import HostMove, host_moves, through_sentinel

CASES = {"rsa": 900.0, "dhe": 4000.0, "ecdhe": 300.0, "ecdsa": 150.0, "x25519": 120.0}
Run = Mapping[str, list[float]]


def sentinel_run(seed: int, slowdown: float = 0.0, noise: float = 0.004) -> dict[str, list[float]]:
    """Ten invocation medians of the sentinel in every case."""
    random = np.random.default_rng(seed)
    return {
        case: (cost * (1 + slowdown) * np.exp(random.normal(0, noise, 10))).tolist() for case, cost in CASES.items()
    }


def moved(earlier: Run, later: Run) -> HostMove:
    found = host_moves(earlier, later)
    assert found is not None
    return found


@pytest.mark.parametrize("seed", range(5))
def test_a_host_that_became_two_percent_slower_is_found(seed: int) -> None:
    found = moved(sentinel_run(seed), sentinel_run(100 + seed, slowdown=0.02))
    assert found.moved
    assert found.ratio == pytest.approx(1.02, abs=0.01)
    assert (found.low < found.ratio < found.high, found.cases) == (True, 5)


def test_a_host_that_became_faster_has_moved_too() -> None:
    found = moved(sentinel_run(1, slowdown=0.02), sentinel_run(2))
    assert found.moved
    assert found.high < 1


@pytest.mark.parametrize("seed", range(5))
def test_a_host_that_stayed_as_it_was_has_not_moved(seed: int) -> None:
    assert not moved(sentinel_run(seed), sentinel_run(100 + seed)).moved


def test_a_move_below_half_a_percent_is_none() -> None:
    for slowdown in (0.004, -0.004):
        assert not moved(sentinel_run(1, noise=0), sentinel_run(2, slowdown=slowdown, noise=0)).moved
    for slowdown in (0.006, -0.006):
        assert moved(sentinel_run(1, noise=0), sentinel_run(2, slowdown=slowdown, noise=0)).moved


def test_cases_that_disagree_are_no_host_event() -> None:
    found = moved({"a": [1.0], "b": [1.0], "c": [1.0]}, {"a": [1.0], "b": [1.01], "c": [1.03]})
    assert found.ratio > 1.01
    assert not found.moved


def test_one_odd_case_is_no_host_event() -> None:
    later = sentinel_run(2)
    later["dhe"] = [3 * value for value in later["dhe"]]
    assert not moved(sentinel_run(1), later).moved


def test_cases_that_only_one_run_has_do_not_count() -> None:
    earlier, later = sentinel_run(1), sentinel_run(2, slowdown=0.02)
    assert host_moves({**earlier, "old": [1.0]}, {**later, "new": [9.0]}) == host_moves(earlier, later)


@pytest.mark.parametrize("broken", [[], [0.0, 0.0]])
def test_fewer_than_three_usable_cases_tell_nothing(broken: list[float]) -> None:
    earlier = {"a": [1.0], "b": [1.0], "c": [1.0]}
    assert host_moves(earlier, {"a": [1.0], "b": [1.0], "c": broken}) is None
    assert host_moves(earlier, {"a": [1.0], "b": [1.0]}) is None
    assert host_moves({**earlier, "c": broken}, earlier) is None


def invocations(run: str, cost: float, host: float, seed: int) -> tuple[Batches, Batches]:
    """A subject and the sentinel in ten invocations of one run, both with the host's slow phases in them."""
    random = np.random.default_rng(seed)
    phases = host * np.exp(random.normal(0, 0.05, 10))
    own, sentinel = (
        {
            f"{run}/{number}": [float(value)]
            for number, value in enumerate(level * phases * random.lognormal(0, 0.002, 10))
        }
        for level in (cost, 300.0)
    )
    return own, sentinel


def test_through_the_sentinel_a_slower_host_is_no_slower_library() -> None:
    earlier, later = invocations("a", 900, 1.0, 1), invocations("b", 900, 1.3, 2)
    plain = compare(later[0], earlier[0])
    through = compare(through_sentinel(*later), through_sentinel(*earlier))
    assert plain is not None
    assert through is not None
    assert plain.low > 1.2
    assert 0.995 < through.low < through.high < 1.005


def test_through_the_sentinel_a_slower_library_is_seen_on_a_faster_host() -> None:
    found = compare(through_sentinel(*invocations("b", 927, 0.8, 4)), through_sentinel(*invocations("a", 900, 1.0, 3)))
    assert found is not None
    assert found.low > 1.02
    assert found.ratio == pytest.approx(1.03, abs=0.005)


def test_only_invocations_that_hold_both_go_through_the_sentinel() -> None:
    subject, sentinel = (
        {"1": [6.0], "2": [8.0], "3": [9.0], "4": [0.0]},
        {"1": [3.0], "3": [0.0], "4": [2.0], "5": [1.0]},
    )
    through = through_sentinel(subject, sentinel)
    assert {unit: ratio for unit, (ratio,) in through.items()} == {"1": pytest.approx(2)}
