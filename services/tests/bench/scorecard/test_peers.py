"""The methods of others, on histories made by hand and against their definitions."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations

import numpy as np
import pytest
import scipy

from bench.scorecard.peers_energy import _best_of_three, _best_of_two, _distances, _t_test, e_divisive, hunter
from bench.scorecard.peers_ruptures import segmentation
from bench.scorecard.peers_windows import iqr_threshold, perfherder, z_threshold
from kexbench.analysis.rounds import Vector
from tests.bench.scorecard.histories import history

Detect = Callable[[Sequence[float]], list[int]]
SEGMENTING: dict[str, Detect] = {
    "e_divisive": e_divisive,
    "hunter": hunter,
    "perfherder": perfherder,
    "pelt": partial(segmentation, kernel="linear"),
    "kernel": partial(segmentation, kernel="rbf"),
}
EVERY: dict[str, Detect] = SEGMENTING | {"iqr": iqr_threshold, "z": z_threshold}


@pytest.mark.parametrize("method", EVERY)
@pytest.mark.parametrize("values", [[], [5.0], [5.0] * 2, [5.0] * 40], ids=len)
def test_what_never_changes_has_no_change(method: str, values: list[float]) -> None:
    assert list(EVERY[method](values)) == []


@pytest.mark.parametrize("method", SEGMENTING)
@pytest.mark.parametrize("levels", [(100, 120), (100, 120, 90), (100, 104)], ids=str)
def test_a_clear_step_is_found_where_it_is(method: str, levels: tuple[float, ...]) -> None:
    values = history(*levels, noise=0.005)
    places = SEGMENTING[method](values)
    wanted = [30 * number for number in range(1, len(levels))]
    assert len(places) == len(wanted)
    assert all(abs(place - right) <= 1 for place, right in zip(sorted(places), wanted, strict=True))


def wavy(*levels: float) -> list[float]:
    """Noise that never goes beyond half a percent."""
    return [
        level * (1 + 0.005 * np.sin(1.7 * n)) for n, level in enumerate(level for level in levels for _ in range(30))
    ]


@pytest.mark.parametrize("method", ["iqr", "z"])
def test_thresholds_alarm_once_at_a_step_however_long_it_lasts(method: str) -> None:
    assert EVERY[method](wavy(100, 120)) == [30]


@pytest.mark.parametrize("method", ["iqr", "z"])
def test_thresholds_alarm_at_a_single_outlier_too(method: str) -> None:
    values = wavy(100)
    values[25] = 150
    assert EVERY[method](values)[0] == 25


def test_e_divisive_shuffles_alike_each_time() -> None:
    values = history(100, 100.6, 100, noise=0.01)
    assert e_divisive(values) == e_divisive(values)


def test_perfherder_waits_for_twelve_values_of_the_new_level() -> None:
    values = history(100, 120, noise=0.005)
    assert perfherder(values[:41]) == []
    assert perfherder(values[:42]) == [30]


def test_a_stricter_hunter_finds_no_more() -> None:
    values = [value for seed in range(4) for value in history(100, 101.5, noise=0.01, seed=seed)]
    loose, strict = hunter(values), hunter(values, max_p=1e-9)
    assert loose
    assert len(strict) < len(loose)


def test_hunter_looks_beyond_its_first_window() -> None:
    assert hunter(history(100, 100, 100, 100, 120, noise=0.005)) == [120]


def energy(first: Vector, second: Vector, *, unbiased: bool) -> float:
    """The definition, pair by pair."""
    n, m = len(first), len(second)
    across = sum(abs(x - y) for x in first for y in second) / (n * m)
    within = []
    for sample in (first, second):
        pairs = sum(abs(x - y) for x, y in combinations(sample, 2))
        count = len(sample) * (len(sample) - 1) / 2 if unbiased else len(sample) ** 2 / 2
        within.append(pairs / count if count else 0.0)
    return float(n * m / (n + m) * (2 * across - sum(within)))


def test_the_best_split_is_that_of_the_definition() -> None:
    values = np.array(history(100, 101, each=7))
    expected = {place: energy(values[:place], values[place:], unbiased=False) for place in range(1, len(values))}
    quality, place = _best_of_two(_distances(list(values)), 100)
    assert place - 100 == max(expected, key=lambda one: expected[one])
    assert quality == pytest.approx(max(expected.values()))


def test_the_best_split_whose_right_side_may_end_early_is_that_of_the_definition() -> None:
    values = np.array(history(100, 103, 100, each=5))
    expected = {
        (place, end): energy(values[:place], values[place:end], unbiased=True)
        for place in range(1, len(values))
        for end in range(place + 1, len(values) + 1)
    }
    quality, place = _best_of_three(_distances(list(values)))
    assert place == max(expected, key=lambda one: expected[one])[0]
    assert quality == pytest.approx(max(expected.values()))


def test_the_t_test_is_students_with_deviations_over_n() -> None:
    first, second = np.array(history(100, each=9)), np.array(history(101, each=12, seed=2))
    expected = scipy.stats.ttest_ind_from_stats(first.mean(), first.std(), 9, second.mean(), second.std(), 12).pvalue
    assert _t_test(first, second) == pytest.approx(expected)
    assert _t_test(first[:1], second[:1]) == 1
    assert _t_test(np.full(5, 1.0), np.full(5, 2.0)) == 0
