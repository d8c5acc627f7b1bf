"""How much values vary, by one rule: the mean absolute deviation of their logarithms from the median, scaled so that it
estimates the standard deviation of normal noise. It is a share, 0.01 is 1%, and the same of costs and of rates."""

from collections.abc import Sequence
from math import log, pi, sqrt
from statistics import fmean, median

TO_DEVIATION = sqrt(pi / 2)
"""The standard deviation of normal noise by its mean absolute deviation."""


def spread_of(values: Sequence[float]) -> float:
    """All must be above 0."""
    logs = [log(value) for value in values]
    centre = median(logs)
    return TO_DEVIATION * fmean(abs(each - centre) for each in logs)
