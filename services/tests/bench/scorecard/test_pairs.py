"""Tests of two versions: what others do takes batches for measurements, ours takes invocations."""

import numpy as np
import pytest

from bench.scorecard.peers_pairs import PAIR_TESTS, PairTest
from kexbench.analysis.rounds import Batches, values_of

OURS, OURS_RELEVANT, MANN_WHITNEY, POOLED, MEDIANS, APART = PAIR_TESTS


def batches(shift: float = 0.0, *, between: float = 0.02, seed: int = 1, name: str = "a", count: int = 10) -> Batches:
    """Invocations that differ from each other more than their batches do."""
    random = np.random.default_rng(seed)
    return {
        f"{name}/{number}": (1000 * (1 + shift) * np.exp(level + 0.001 * random.standard_normal(20))).tolist()
        for number, level in enumerate(between * random.standard_normal(count))
    }


@pytest.mark.parametrize("test", [MANN_WHITNEY, POOLED], ids=lambda test: test.name)
def test_pooled_batches_call_chance_a_change_and_invocations_do_not(test: PairTest) -> None:
    pairs = [(batches(seed=2 * seed), batches(seed=2 * seed + 1, name="b")) for seed in range(50)]
    wrong = sum(test.chance(*pair) < 0.01 for pair in pairs)
    right = sum(MEDIANS.chance(*pair) < 0.01 for pair in pairs)
    assert wrong > 15
    assert right <= 3


@pytest.mark.parametrize("test", PAIR_TESTS, ids=lambda test: test.name)
def test_every_test_sees_what_is_plain(test: PairTest) -> None:
    assert test.chance(batches(seed=1), batches(0.2, seed=2, name="b")) < 0.001


def test_ours_compares_what_ran_together() -> None:
    before = batches(seed=1)
    after = {key: [1.01 * value for value in values_of(values)] for key, values in batches(seed=1).items()}
    noise = np.random.default_rng(3)
    after = {
        key: [value * np.exp(0.001 * noise.standard_normal()) for value in values] for key, values in after.items()
    }
    assert OURS.chance(before, after) < 1e-6
    assert MEDIANS.chance(before, after) > 0.05


def test_a_threshold_hides_small_differences() -> None:
    before, after = batches(between=0.0), batches(0.003, between=0.0, seed=2)
    assert OURS.chance(before, after) < 0.001
    assert OURS_RELEVANT.chance(before, after) == 1
    assert APART.chance(before, after) == 1


@pytest.mark.parametrize("test", [POOLED, MEDIANS, OURS], ids=lambda test: test.name)
def test_what_does_not_vary_is_no_change(test: PairTest) -> None:
    same = {f"a/{number}": [5.0, 5.0] for number in range(5)}
    assert test.chance(same, same) == 1
