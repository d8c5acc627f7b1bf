"""The false discovery rate of cells that are judged together."""

import numpy as np

from kexbench.analysis.rounds import Vector

FALSE_DISCOVERIES = 0.05
"""The average share of chance results among the cells reported as moved."""


def false_discovery_rates(chances: Vector) -> Vector:
    """The q of each p value: the lowest false discovery rate at which its cell counts as moved (Benjamini & Hochberg
    1995, Journal of the Royal Statistical Society B 57). For n ordered p values, it is the least p_j n / j over j from
    its own place on."""
    count = len(chances)
    order = np.argsort(chances)
    scaled = chances[order] * count / np.arange(1, count + 1)
    rates = np.empty(count)
    rates[order] = np.minimum(1, np.minimum.accumulate(scaled[::-1])[::-1])
    return rates
