"""The estimate of one cell and the comparison of two, over invocations, which are the statistical unit.

Assumption: invocations of one cell are independent and come from one distribution. Drift of the machine breaks it for
levels, but both subjects of a pair share the drift. Batches of one process are not independent, so an invocation counts
as one value: for one subject its level, the time of all batches over their handshakes; for two the interquartile mean
over rounds (analysis/rounds.py).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

import numpy as np
import scipy  # only scipy.special: scipy.stats has the same functions, but its import takes a second

from kexbench.analysis.rounds import Batches, Vector, all_positive, log_ratios, medians
from kexbench.analysis.welch import welch_freedom
from kexbench.domain.intervals import Estimate, Ratio

CONFIDENCE = 0.95
TRIM = 0.2
"""The share cut from each end of the paired log ratios, fixed in advance for all comparisons."""
_FREEDOM_LOST = 0.72
MIN_COMPARED_INVOCATIONS = 3

Matrix: TypeAlias = np.ndarray[tuple[int, int], np.dtype[np.float64]]


@dataclass(frozen=True)
class TrimmedMeans:
    """The trimmed means of samples of one size, their standard errors, and their degrees of freedom."""

    centres: Vector
    errors: Vector
    freedom: float


MIN_MEDIAN_INVOCATIONS = 6
"""A median of fewer has no interval: even the outermost values are too close at 95%."""


def estimate_median(medians: Sequence[float]) -> Estimate:
    """The median of invocation medians and its interval by order statistics (the binomial inversion
    of the sign test; Conover, Practical Nonparametric Statistics, 3rd edition, section 3.2)."""
    values = sorted(map(float, medians))  # NumPy takes ten times as long for a few values, and a page has thousands
    value, low, high = median_of_sorted(values)
    return Estimate(value=value, low=low, high=high, invocations=len(values))


def median_of_sorted(values: Sequence[float]) -> tuple[float, float | None, float | None]:
    """The same for sorted values, as the median and its bounds."""
    ranks, middle = _interval_ranks(len(values)), len(values) // 2
    value = values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2
    return (value, values[ranks[0]], values[ranks[1]]) if ranks else (value, None, None)


@cache
def _interval_ranks(count: int) -> tuple[int, int] | None:
    """The indices of the sorted values that bound the interval; None if even the outermost are too close. The number of
    values below the median is binomial with probability 1/2."""
    below = scipy.special.bdtr(np.arange(count), count, 0.5)
    outside = int(np.searchsorted(below, (1 - CONFIDENCE) / 2))
    return (outside - 1, count - outside) if outside else None


def difference_of_means(first: Sequence[float], second: Sequence[float]) -> Estimate:
    """The mean of `first` less that of `second`, with Welch's t interval; none below three values on either side."""
    minuends, subtrahends = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    count = min(len(minuends), len(subtrahends))
    if count < MIN_COMPARED_INVOCATIONS:
        return Estimate(value=float(minuends.mean() - subtrahends.mean()), low=None, high=None, invocations=count)
    centre, low, high = _welch_interval(minuends, subtrahends)
    return Estimate(value=centre, low=low, high=high, invocations=count)


def compare(subject: Batches, against: Batches) -> Ratio | None:
    """The ratio subject / against from batch values by invocation. None with too few invocations, or if a value is
    zero, which has no ratio.

    If at least three invocations have both, only those count: paired log ratios, 20% trimmed mean and its t
    interval with the winsorised variance (Tukey & McLaughlin 1963; Wilcox, Introduction to Robust Estimation,
    section 4.4; `trimmed_freedom`). Otherwise Welch's t interval over the log medians, which is weaker.
    """
    if not all_positive(subject, against):
        return None
    if are_paired(subject, against):
        logs = log_ratios(subject, against)
        return Ratio.of_logs(*trimmed_interval(logs))
    if min(len(subject), len(against)) < MIN_COMPARED_INVOCATIONS:
        return None
    return Ratio.of_logs(*_welch_interval(np.log(medians(subject)), np.log(medians(against))))


def are_paired(subject: Batches, against: Batches) -> bool:
    """Whether enough invocations have both, so that only those are compared."""
    return len(subject.keys() & against.keys()) >= MIN_COMPARED_INVOCATIONS


def _welch_interval(first: Vector, second: Vector) -> tuple[float, float, float]:
    """The difference of two means and its interval, which has no width for two constant vectors."""
    centre = float(first.mean() - second.mean())
    variances = np.array([first.var(ddof=1) / len(first), second.var(ddof=1) / len(second)])
    if variances.sum() == 0:
        return centre, centre, centre
    freedom = welch_freedom(variances, np.array([len(first) - 1.0, len(second) - 1.0]))
    reach = float(scipy.special.stdtrit(freedom, (1 + CONFIDENCE) / 2) * np.sqrt(variances.sum()))
    return centre, centre - reach, centre + reach


def trimmed_freedom(count: int) -> float:
    """The degrees of freedom of the trimmed mean of `count` values.

    Tukey & McLaughlin use h - 1 for h values kept. Then normal noise counts as a change too often: at ten values in
    1.4% of tests at a nominal 1%. With the reduction here, the quantiles at 5%, 1% and 0.1% are those of simulated
    normal samples of 5 to 135 values (a test repeats the simulation).
    """
    cut = int(TRIM * count)
    return (count - 2 * cut - 1) * (1 - _FREEDOM_LOST * cut / count)


def trimmed_means(samples: Matrix) -> TrimmedMeans:
    """The 20% trimmed mean of each row of log ratios and its standard error from the winsorised variance
    (Tukey & McLaughlin 1963): sqrt(W / (h (h - 1))), W the winsorised sum of squares, h the values kept."""
    ordered = np.sort(samples, axis=1)
    count = ordered.shape[1]
    cut = int(TRIM * count)
    kept = count - 2 * cut
    winsorised = np.clip(ordered, ordered[:, [cut]], ordered[:, [count - 1 - cut]])
    errors = winsorised.std(axis=1, ddof=1) * np.sqrt((count - 1) / (kept * (kept - 1)))
    return TrimmedMeans(ordered[:, cut : count - cut].mean(axis=1), errors, trimmed_freedom(count))


def trimmed_interval(logs: Vector) -> tuple[float, float, float]:
    """The trimmed mean of log ratios and its interval, which has no width for a constant vector."""
    means = trimmed_means(logs[np.newaxis, :])
    centre = float(means.centres[0])
    if np.ptp(logs) == 0:
        return centre, centre, centre
    reach = float(scipy.special.stdtrit(means.freedom, (1 + CONFIDENCE) / 2) * means.errors[0])
    return centre, centre - reach, centre + reach
