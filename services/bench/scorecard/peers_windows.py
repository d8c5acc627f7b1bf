"""Change points from each value and its neighbours: Perfherder's t-test, and thresholds on single values.

Written from the documentation of their authors.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from kexbench.analysis.rounds import Vector

T_THRESHOLD = 7.0
MIN_BACK, MAX_BACK, FORE = 12, 24, 12
FENCE = 3.0
Z_THRESHOLD = 5.0
HISTORY = 100
LEAST_HISTORY = 10


def perfherder(values: Sequence[float], threshold: float = T_THRESHOLD) -> list[int]:
    """Mozilla's Perfherder (treeherder, `perfalert`; the weights are those of bug 879903): the 12 to 24 values before a
    place against the 12 from it on, means weighted linearly towards the place, variances around them. A change is where
    t exceeds 7 and both neighbours' t. The window before it grows while no change is found.

    Mozilla alerts only above a change of 2%. That limit is left out here, because the histories have smaller ones."""
    series = np.asarray(values, dtype=float)
    t = np.zeros(len(series) + 1)
    quiet = 0
    backs = [0] * len(series)
    for place in range(1, len(series)):
        backs[place] = min(place, max(quiet, MIN_BACK), MAX_BACK)
        t[place] = _weighted_t(series[place - backs[place] : place][::-1], series[place : place + FORE])
        quiet = 0 if t[place] > threshold else quiet + 1
    whole = [place for place in range(1, len(series)) if backs[place] >= MIN_BACK and place + FORE <= len(series)]
    return [place for place in whole if t[place] > threshold and t[place] >= max(t[place - 1], t[place + 1])]


def _weighted_t(before: Vector, after: Vector) -> float:
    """Both lists start with the value nearest to the place."""
    (mean_before, error_before), (mean_after, error_after) = _weighted(before), _weighted(after)
    difference = abs(mean_after - mean_before)
    if difference == 0:
        return 0.0
    error = error_before + error_after
    return float(difference / np.sqrt(error)) if error > 0 else float("inf")


def _weighted(values: Vector) -> tuple[float, float]:
    """The weighted mean and its squared error as in Perfherder: the variance itself has no weights."""
    count = len(values)
    weights = np.arange(count, 0, -1) / count
    mean = float((weights * values).sum() / weights.sum())
    variance = float(((values - mean) ** 2).sum() / (count - 1)) if count > 1 else 0.0
    return mean, variance / count


def iqr_threshold(values: Sequence[float], fence: float = FENCE) -> list[int]:
    """rustc-perf (comparison-analysis.md): a value is significant if its relative change from the value before
    exceeds the third quartile of the last 100 changes plus three interquartile ranges. rustc-perf needs 50 changes. Ten
    are enough here, which favours it in short histories."""
    series = np.asarray(values, dtype=float)
    changes = np.abs(np.diff(series) / series[:-1])
    return _first_of_each(
        place + 1
        for place in range(LEAST_HISTORY, len(changes))
        if changes[place] > _upper_fence(changes[max(0, place - HISTORY) : place], fence)
    )


def _upper_fence(values: Vector, fence: float) -> float:
    """The quartiles are the medians of the lower and the upper half."""
    ordered = np.sort(values)
    half = len(ordered) // 2
    first, third = float(np.median(ordered[:half])), float(np.median(ordered[-half:]))
    return third + fence * (third - first)


def z_threshold(values: Sequence[float], threshold: float = Z_THRESHOLD) -> list[int]:
    """Conbench's lookback: a value is significant if it is five standard deviations or more from the mean of the 100
    values before it. The deviation is that of their own distances to the means before them. Nobody marks changes by
    hand here, so the mean follows a change slowly."""
    series = np.asarray(values, dtype=float)
    residuals = np.full(len(series), np.nan)
    significant = []
    for place in range(2, len(series)):
        begin = max(0, place - HISTORY)
        residuals[place] = series[place] - series[begin:place].mean()
        earlier = residuals[max(2, begin) : place]
        if len(earlier) >= LEAST_HISTORY and abs(residuals[place]) > threshold * earlier.std(ddof=1):
            significant.append(place)
    return _first_of_each(significant)


def _first_of_each(places: "Iterator[int] | list[int]") -> list[int]:
    """The first of each sequence of significant values: the others are the same alarm."""
    significant = list(places)
    members = set(significant)
    return [place for place in significant if place - 1 not in members]
