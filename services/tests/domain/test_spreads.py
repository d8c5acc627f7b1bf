"""The spread of values: a share that estimates the standard deviation, and the same of costs and of rates."""

import random
from math import log, pi, sqrt

import pytest

from kexbench.domain.spreads import spread_of


def test_it_is_the_standard_deviation_of_normal_noise_whatever_the_unit_or_the_direction() -> None:
    draw = random.Random(1)
    costs = [1e6 * (1 + 0.02 * draw.gauss(0, 1)) for _ in range(20_000)]
    assert spread_of(costs) == pytest.approx(0.02, rel=0.02)
    assert spread_of([1e9 / cost for cost in costs]) == pytest.approx(spread_of(costs))
    assert spread_of([cost / 1e3 for cost in costs]) == pytest.approx(spread_of(costs))


def test_it_can_be_checked_by_hand_and_constants_have_none() -> None:
    assert spread_of([10, 10, 10, 10, 11]) == pytest.approx(sqrt(pi / 2) * log(1.1) / 5)
    assert spread_of([3, 3, 3]) == 0
