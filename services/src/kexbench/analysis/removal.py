"""What is kept of an invocation's batches when they are removed: the log ratio of every two subjects.

With it and the median of each subject, every comparison of invocations gives the same answer as with the batches.
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from kexbench.analysis.rounds import Vector, by_round, interquartile_mean, median_of
from kexbench.domain.batches import LOG_STEPS, RoundRatio

_NEAR_TIE = 1e-5
"""In steps. The last digits of a logarithm differ between the database and Python, and with the order of a sum. That
near to a tie, they could decide how it is rounded."""
_MOST_STEPS = 2**31 - 1


def kept_of(subjects: Sequence[Sequence[float]], medians: Sequence[float]) -> list[list[RoundRatio]] | None:
    """For each subject, its ratios to the following ones. None if the batches must stay: a value is 0, a stored median
    has other last digits than the median of its batches, or the rounding of a ratio is not certain."""
    if not all(map(len, subjects)):
        return None
    if any(value <= 0 for values in subjects for value in values):
        return None
    if any(median_of(values) != stored for values, stored in zip(subjects, medians, strict=True)):
        return None
    pairs = list(combinations(range(len(subjects)), 2))
    steps = np.array(_ratios(subjects, pairs)).reshape(-1, 2) * LOG_STEPS
    is_certain = np.abs(steps - np.floor(steps) - 0.5) > _NEAR_TIE
    if not (is_certain & (np.abs(steps) < _MOST_STEPS)).all():
        return None
    kept: list[list[RoundRatio]] = [[] for _ in subjects]
    for (first, _), (mean, median) in zip(pairs, (np.rint(steps) / LOG_STEPS).tolist(), strict=True):
        kept[first].append(RoundRatio(mean, median))
    return kept


def _ratios(subjects: Sequence[Sequence[float]], pairs: Sequence[tuple[int, int]]) -> list[tuple[float, float]]:
    """The interquartile mean and the median of each pair."""
    if len({len(values) for values in subjects}) == 1 and not np.isnan(batches := np.array(subjects)).any():
        logs = np.log(batches)
        firsts, seconds = ([pair[side] for pair in pairs] for side in (0, 1))
        ordered = np.sort(logs[firsts] - logs[seconds], axis=1)
        count = ordered.shape[1]
        cut = max(count // 4, int(count > 2))
        means = ordered[:, cut : count - cut].mean(axis=1)
        return list(zip(means.tolist(), np.median(ordered, axis=1).tolist(), strict=True))
    rounds: list[Vector] = [by_round(subjects[first], subjects[second]) for first, second in pairs]
    return [(interquartile_mean(logs), float(np.median(logs))) for logs in rounds]
