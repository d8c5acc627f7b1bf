"""Change points by energy distances: E-divisive, and its variant in Hunter (today Apache Otava).

Written from the papers. The energy distance of two samples is twice the mean distance between them
less the mean distances within each (Székely & Rizzo 2013). A split is better if this is larger for its two sides.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import scipy

from kexbench.analysis.rounds import Vector

Matrix: TypeAlias = "np.ndarray[tuple[int, int], np.dtype[np.float64]]"
PERMUTATIONS = 100
P_VALUE = 0.05
WINDOW = 50
MAX_P = 0.001
FIRST_PASS = 10
"""The factor of the first pass's threshold."""


def e_divisive(values: Sequence[float], p_value: float = P_VALUE, permutations: int = PERMUTATIONS) -> list[int]:
    """E-divisive with means, as MongoDB has used it: Matteson & James, A Nonparametric Approach for Multiple Change
    Point Analysis of Multivariate Data (2014), with distances to the power of 1; Daly, Brown, Ingo, O'Leary & Bradford,
    The Use of Change Point Detection to Identify Software Performance Regressions in a Continuous Integration System
    (2020).

    Repeatedly finds the best split of all segments. A split is kept if, in 100 shufflings of all segments, hardly any
    has as good a split. The first split that is not kept ends the search. The seed is fixed."""
    random = np.random.default_rng(0)
    distances = _distances(values)
    splits: list[int] = []
    while True:
        segments = list(pairwise([0, *sorted(splits), len(values)]))
        best, place = max(_best_of_two(distances[start:end, start:end], start) for start, end in segments)
        if place == 0 or not _is_rare(best, distances, segments, p_value, permutations, random):
            return sorted(splits)
        splits.append(place)


def _is_rare(
    best: float,
    distances: Matrix,
    segments: Sequence[tuple[int, int]],
    p_value: float,
    permutations: int,
    random: np.random.Generator,
) -> bool:
    """Whether at most a share of `p_value` of the shufflings has as good a split."""
    allowed = int(p_value * (permutations + 1))
    as_good = 0
    for _ in range(permutations):
        orders = (start + random.permutation(end - start) for start, end in segments)
        as_good += any(_best_of_two(distances[np.ix_(order, order)], 0)[0] >= best for order in orders)
        if as_good > allowed:
            return False
    return True


def _distances(values: Sequence[float]) -> Matrix:
    column = np.asarray(values, dtype=float)[:, np.newaxis]
    distances: Matrix = np.abs(column - column.T)
    return distances


def _best_of_two(distances: Matrix, start: int) -> tuple[float, int]:
    """The quality of the best split into two, and its place counted from `start`; the place is 0 if there is none."""
    count = len(distances)
    if count < 2:
        return 0.0, 0
    upper = np.triu(distances)
    first = np.arange(1, count)
    left = upper.sum(axis=0).cumsum()[:-1]
    right = upper.sum() - upper.sum(axis=1).cumsum()[:-1]
    across = upper.sum() - left - right
    second = count - first
    quality = (first * second / count) * (2 * across / (first * second) - 2 * left / first**2 - 2 * right / second**2)
    place = int(np.argmax(quality))
    return float(quality[place]), start + place + 1


@dataclass(frozen=True)
class _Tested:
    place: int
    p_value: float


def hunter(values: Sequence[float], max_p: float = MAX_P, window: int = WINDOW) -> list[int]:
    """Fleming, Kołaczkowski, Kumar, Das, McCarthy, Pattabhiraman & Ingo, Hunter: Using Change Point Detection to Hunt
    for Performance Regressions (2023), with the defaults of Apache Otava, its successor.

    E-divisive splits windows of 50 points, each half a window further or at the last change. The right side may end
    before the segment does. A t-test between the two sides decides instead of shuffling, with ten times the threshold.
    Then the weakest change of all windows is dropped and its neighbours are tested again, until every change is
    significant between its neighbours."""
    series = np.asarray(values, dtype=float)
    places = sorted(_in_windows(series, min(1.0, FIRST_PASS * max_p), window))
    while places:
        bounds = [0, *places, len(series)]
        tested = [
            _Tested(place, _t_test(series[before:place], series[place:after]))
            for before, place, after in zip(bounds, bounds[1:], bounds[2:], strict=False)
        ]
        weakest = max(tested, key=lambda test: test.p_value)
        if weakest.p_value < max_p:
            break
        places.remove(weakest.place)
    return places


def _in_windows(series: Vector, max_p: float, window: int) -> set[int]:
    changes: set[int] = set()
    start = 0
    while start < len(series):
        inside = _in_window(series[start : start + window], max_p)
        changes |= {start + place for place in inside}
        start = max(start + window // 2, start + max(inside, default=0))
    return changes


def _in_window(series: Vector, max_p: float) -> list[int]:
    distances = _distances(list(series))
    splits: list[int] = []
    while True:
        segments = list(pairwise([0, *sorted(splits), len(series)]))
        best = max((*_best_of_three(distances[start:end, start:end]), start, end) for start, end in segments)
        _, place, start, end = best
        if place == 0 or _t_test(series[start : start + place], series[start + place : end]) > max_p:
            return splits
        splits.append(start + place)


def _best_of_three(distances: Matrix) -> tuple[float, int]:
    """The quality of the best split whose right side may end early, and its place; 0 if there is none."""
    count = len(distances)
    if count < 2:
        return 0.0, 0
    sums = np.zeros((count + 1, count + 1))
    sums[1:, 1:] = distances.cumsum(axis=0).cumsum(axis=1)
    places, ends = np.meshgrid(np.arange(1, count), np.arange(2, count + 1), indexing="ij")
    first, second = places, ends - places
    squares = np.diag(sums)
    across = sums[places, ends] - squares[places]
    left = squares[places] / 2
    right = (squares[ends] - 2 * sums[places, ends] + squares[places]) / 2
    both = np.maximum(first + second, 1)
    quality = (2 / both) * (
        across - second / np.maximum(first - 1, 1) * left - first / np.maximum(second - 1, 1) * right
    )
    quality[second < 1] = -np.inf
    row, column = np.unravel_index(np.argmax(quality), quality.shape)
    return float(quality[row, column]), int(row) + 1


def _t_test(first: Vector, second: Vector) -> float:
    """Student's t-test with one variance for both sides, from the standard deviations over n as in Otava. 1 below three
    values."""
    freedom = len(first) + len(second) - 2
    if freedom < 1:
        return 1.0
    difference = float(second.mean() - first.mean())
    pooled = ((len(first) - 1) * first.var() + (len(second) - 1) * second.var()) / freedom
    if difference == 0:
        return 1.0
    if pooled == 0:
        return 0.0
    t = abs(difference) / np.sqrt(pooled * (1 / len(first) + 1 / len(second)))
    return float(2 * scipy.special.stdtr(freedom, -t))
