"""Many cells are looked at together: how many of those that are called moved did not move."""

import numpy as np

from kexbench.analysis.rounds import Vector

FALSE_DISCOVERIES = 0.05
"""Of the cells that are called moved this share, on average, may be chance."""


def false_discovery_rates(chances: Vector) -> Vector:
    """Of each p value the lowest false discovery rate at which its cell would count as moved, its q (Benjamini &
    Hochberg 1995, Journal of the Royal Statistical Society B 57): of n p values in order, the least of p_j n / j over
    j from its own place on."""
    count = len(chances)
    order = np.argsort(chances)
    scaled = chances[order] * count / np.arange(1, count + 1)
    rates = np.empty(count)
    rates[order] = np.minimum(1, np.minimum.accumulate(scaled[::-1])[::-1])
    return rates
