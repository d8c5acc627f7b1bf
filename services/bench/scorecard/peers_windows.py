"""Change points by looking at each value beside its neighbours: Perfherder's t-test, and thresholds on single values.

Written from what their makers say of them, in words of our own.
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
    t exceeds 7 and both neighbours' t. The window before it grows for as long as nothing was found.

    Mozilla alerts above a change of 2% only, which is left out here: smaller ones are looked for."""
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
    """Both with what is nearest to the place first."""
    (mean_before, error_before), (mean_after, error_after) = _weighted(before), _weighted(after)
    difference = abs(mean_after - mean_before)
    if difference == 0:
        return 0.0
    error = error_before + error_after
    return float(difference / np.sqrt(error)) if error > 0 else float("inf")


def _weighted(values: Vector) -> tuple[float, float]:
    """The weighted mean and its squared error, as Perfherder has it: the variance itself has no weights."""
    count = len(values)
    weights = np.arange(count, 0, -1) / count
    mean = float((weights * values).sum() / weights.sum())
    variance = float(((values - mean) ** 2).sum() / (count - 1)) if count > 1 else 0.0
    return mean, variance / count


def iqr_threshold(values: Sequence[float], fence: float = FENCE) -> list[int]:
    """rustc-perf (docs/comparison-analysis.md): a value is significant where it differs from the one before by more, as
    a share, than the third quartile and three interquartile ranges of what the last 100 did. It wants 50 of them; ten
    are enough here, which favours it in histories as short as these."""
    series = np.asarray(values, dtype=float)
    changes = np.abs(np.diff(series) / series[:-1])
    return _first_of_each(
        place + 1
        for place in range(LEAST_HISTORY, len(changes))
        if changes[place] > _upper_fence(changes[max(0, place - HISTORY) : place], fence)
    )


def _upper_fence(values: Vector, fence: float) -> float:
    """Quartiles are the medians of the upper and the lower half."""
    ordered = np.sort(values)
    half = len(ordered) // 2
    first, third = float(np.median(ordered[:half])), float(np.median(ordered[-half:]))
    return third + fence * (third - first)


def z_threshold(values: Sequence[float], threshold: float = Z_THRESHOLD) -> list[int]:
    """Conbench's lookback: a value is significant that is five standard deviations or more from the mean of the last
    100 before it, the deviation being that of their own distances to the means before them. Nobody marks changes by
    hand here, so the mean follows a change slowly."""
    series = np.asarray(values, dtype=float)
    residuals = np.full(len(series), np.nan)
    found = []
    for place in range(2, len(series)):
        begin = max(0, place - HISTORY)
        residuals[place] = series[place] - series[begin:place].mean()
        known = residuals[max(2, begin) : place]
        if len(known) >= LEAST_HISTORY and abs(residuals[place]) > threshold * known.std(ddof=1):
            found.append(place)
    return _first_of_each(found)


def _first_of_each(places: "Iterator[int] | list[int]") -> list[int]:
    """Of values one after the other that all are significant the first: the rest is the same alarm."""
    found = list(places)
    known = set(found)
    return [place for place in found if place - 1 not in known]
