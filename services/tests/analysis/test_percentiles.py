"""Intervals of percentiles by order statistics: ranks of published tables, and their coverage."""

import random

import pytest
from scipy.stats import binom

from kexbench.analysis.estimates import estimate_median
from kexbench.analysis.percentiles import interval_ranks, percentile


@pytest.mark.parametrize(
    ("count", "share", "ranks"),
    [
        (5, 0.5, None),
        (6, 0.5, (1, 6)),
        (10, 0.5, (2, 9)),
        (20, 0.5, (6, 15)),
        (100, 0.5, (40, 61)),
        (16, 0.75, (8, 16)),
        (367, 0.99, None),
        (368, 0.99, (360, 368)),
    ],
)
def test_ranks_are_those_of_the_binomial_distribution(count: int, share: float, ranks: tuple[int, int] | None) -> None:
    assert interval_ranks(count, share) == ranks


@pytest.mark.parametrize("share", [0.5, 0.95, 0.99])
@pytest.mark.parametrize("count", [500, 2500, 10_000])
def test_ranks_hold_the_percentile_with_95_percent_and_are_the_closest(count: int, share: float) -> None:
    ranks = interval_ranks(count, share)
    assert ranks
    low, high = ranks
    below = binom(count, share)
    assert below.cdf(high - 1) - below.cdf(low - 1) >= 0.95
    assert below.cdf(low) > 0.025
    assert below.cdf(high - 2) < 0.975


def test_a_percentile_is_a_value_that_was_measured() -> None:
    values = list(range(1, 1001))
    random.Random(1).shuffle(values)
    found = percentile(values, 0.99, 2)
    assert (found.value, found.low, found.high, found.invocations) == (990, 983, 997, 2)
    assert percentile([7.0], 0.99, 1).low is None


def test_the_median_has_the_interval_of_all_other_medians() -> None:
    values = [random.Random(seed).gauss(100, 5) for seed in range(31)]
    ours, theirs = percentile(values, 0.5, 31), estimate_median(values)
    assert (ours.value, ours.low, ours.high) == (theirs.value, theirs.low, theirs.high)


def test_the_interval_covers_the_percentile_as_often_as_it_says() -> None:
    chance, covered, rounds = random.Random(3), 0, 400
    for _ in range(rounds):
        found = percentile([chance.expovariate(1) for _ in range(600)], 0.95, 1)
        low, high = found.bounds
        covered += low <= 2.995732 <= high
    assert covered / rounds >= 0.93
