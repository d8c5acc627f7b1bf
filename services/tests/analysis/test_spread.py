"""Spreads from invocation to invocation: what is called a change, and how seldom that is chance."""

import numpy as np
import pytest

from kexbench.analysis.rounds import Batches, Vector
from kexbench.analysis.spread import judge_spreads, spreads

RELEVANT = 0.005


def invocations(logs: Vector, name: str = "i") -> Batches:
    return {f"{name}{number:02}": [float(np.exp(log))] for number, log in enumerate(logs)}


def noise(seed: int, size: float, count: int = 20) -> Vector:
    return np.random.default_rng(seed).normal(0, size, count)


def test_a_spread_estimates_the_standard_deviation_of_normal_noise() -> None:
    found = spreads(invocations(noise(1, 0.01, 4000)), invocations(noise(2, 0.03, 4000)))
    assert found
    assert found.before == pytest.approx(0.01, rel=0.05)
    assert found.after == pytest.approx(0.03, rel=0.05)


@pytest.mark.parametrize("name", ["i", "j"], ids=["paired", "unpaired"])
def test_a_spread_three_times_as_large_is_found_and_one_as_large_is_not(name: str) -> None:
    pairs = [(invocations(noise(1, 0.01)), invocations(noise(2, 0.03), name))]
    pairs += [(invocations(noise(seed, 0.01)), invocations(noise(seed + 100, 0.01), name)) for seed in range(3, 12)]
    moves = judge_spreads([spreads(*pair) for pair in pairs], RELEVANT)
    assert [move.verdict for move in moves if move] == ["more"] + ["unresolved"] * 9
    turned = judge_spreads([spreads(after, before) for before, after in pairs], RELEVANT)
    assert turned[0]
    assert turned[0].verdict == "less"


def test_a_spread_below_what_is_relevant_does_not_count() -> None:
    pairs = [(invocations(noise(1, 0.0005)), invocations(noise(2, 0.002)))]
    assert [move.verdict for move in judge_spreads([spreads(*pair) for pair in pairs], RELEVANT) if move] == [
        "unresolved"
    ]
    assert [move.verdict for move in judge_spreads([spreads(*pair) for pair in pairs], 0.001) if move] == ["more"]


def test_a_disturbance_of_both_at_once_is_no_change() -> None:
    common = noise(7, 0.05)
    pair = (invocations(noise(1, 0.01) + common), invocations(noise(2, 0.01) + common))
    assert [move.verdict for move in judge_spreads([spreads(*pair)], RELEVANT) if move] == ["unresolved"]


@pytest.mark.parametrize("count", [6, 10, 30])
@pytest.mark.parametrize("tails", [3, 1000])
def test_equal_spreads_are_distinguished_no_more_often_than_stated(count: int, tails: float) -> None:
    draw = np.random.default_rng(5)
    chances = []
    for _ in range(1000):
        both = [invocations(0.01 * draw.standard_t(tails, count)) for _ in range(2)]
        found = spreads(*both)
        assert found
        chances.append(found.chance)
    assert np.mean(np.array(chances) < 0.05) < 0.065
    assert np.mean(np.array(chances) < 0.01) < 0.02


def test_too_few_invocations_constants_and_costs_of_nothing_have_no_verdict() -> None:
    few = invocations(noise(1, 0.01, 5))
    assert judge_spreads([spreads(few, few)], RELEVANT) == [None]
    assert judge_spreads([], RELEVANT) == []
    constant = invocations(np.zeros(10))
    assert [move.verdict for move in judge_spreads([spreads(constant, constant)], RELEVANT) if move] == ["unresolved"]
    free = {key: [0.0] for key in constant}
    assert judge_spreads([spreads(free, constant)], RELEVANT) == [None]
