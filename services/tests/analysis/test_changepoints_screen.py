"""Which places are worth fitting: those at which the levels on both sides differ."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kexbench.analysis.changepoints_screen import KEPT_Z, noise_of, places_of, worth_fitting

LEVELS = np.repeat([0.0, 1.0], 4)


@pytest.mark.parametrize(("noise", "kept"), [(0.1, [4]), (0.353, [4]), (0.354, []), (1.0, [])])
def test_a_place_is_kept_whose_step_is_four_standard_errors(noise: float, kept: list[int]) -> None:
    """By hand: four points on each side, so the error of their difference is noise times the root of a half."""
    assert worth_fitting(LEVELS, np.full(8, noise), [4]) == kept


def test_the_weakest_is_dropped_first_and_its_levels_become_one() -> None:
    """At first the true step is below four standard errors too, of the short levels beside it: 0.7 of 0.18."""
    logs = np.array([0.0, 0.0, 0.0, 0.3, 1.0, 1.0, 0.7, 1.0])
    assert worth_fitting(logs, np.full(8, 0.15), [3, 4, 6, 7]) == [4]


def test_a_point_with_more_noise_weighs_less() -> None:
    logs, noise = np.array([0.0, 0.0, 0.0, 0.0, 5.0, 0.0, 0.0, 0.0]), np.full(8, 0.1)
    assert worth_fitting(logs, noise, [4]) == [4]
    noise[4] = 50.0
    assert worth_fitting(logs, noise, [4]) == []


@given(seed=st.integers(0, 10_000), step=st.floats(0, 0.2), count=st.integers(20, 200))
def test_what_is_kept_are_some_of_the_places_in_order_and_each_is_a_step(seed: int, step: float, count: int) -> None:
    logs = 0.02 * np.random.default_rng(seed).standard_normal(count) + step * (np.arange(count) > count // 2)
    noise = noise_of(logs, None)
    places = places_of(logs, noise)
    kept = worth_fitting(logs, noise, places)
    assert [place for place in places if place in kept] == kept
    edges = [0, *kept, count]
    for before, place, after in zip(edges, kept, edges[2:], strict=False):
        weights = [noise[begin:end] ** -2.0 for begin, end in ((before, place), (place, after))]
        levels = [
            np.average(logs[begin:end], weights=weight)
            for (begin, end), weight in zip(((before, place), (place, after)), weights, strict=True)
        ]
        error = np.sqrt(sum(1 / weight.sum() for weight in weights))
        assert abs(levels[1] - levels[0]) / error >= KEPT_Z * (1 - 1e-9)
