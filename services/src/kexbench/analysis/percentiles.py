"""Percentiles of pooled values with exact intervals by order statistics, whatever the distribution.

Assumption: the values are independent and come from one distribution. The number of values below the percentile p is
then binomial with probability p, so two order statistics hold it with at least 95% (Conover, Practical Nonparametric
Statistics, 3rd edition, section 3.2; Hahn and Meeker, Statistical Intervals, section 5.2).
"""

from collections.abc import Sequence
from functools import cache
from math import ceil

import numpy as np
import scipy  # only scipy.special, as in estimates.py

from kexbench.analysis.estimates import CONFIDENCE
from kexbench.domain.intervals import Estimate


def percentile(values: Sequence[float], share: float, invocations: int) -> Estimate:
    """The smallest value that at least this share of the values do not exceed, with its interval; none where even the
    outermost values are too close to it. `values` are not empty."""
    ordered = sorted(map(float, values))
    ranks = interval_ranks(len(ordered), share)
    low, high = (ordered[ranks[0] - 1], ordered[ranks[1] - 1]) if ranks else (None, None)
    value = ordered[max(1, ceil(share * len(ordered) - 1e-9)) - 1]
    return Estimate(value=value, low=low, high=high, invocations=invocations)


@cache
def interval_ranks(count: int, share: float) -> tuple[int, int] | None:
    """The ranks r and s, from 1, of the two values that hold the percentile with at least 95%: each leaves it out with
    at most half of the rest."""
    tail = (1 - CONFIDENCE) / 2
    at_most = scipy.special.bdtr(np.arange(count), count, share)  # that so many values are below the percentile
    low = int(np.searchsorted(at_most, tail, side="right"))
    high = int(np.searchsorted(at_most, 1 - tail)) + 1
    return (low, high) if low >= 1 and high <= count else None
