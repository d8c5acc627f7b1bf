"""The smallest detectable change of a number of invocations, and the invocations that a change needs.

A change is a fraction, 0.004 for 0.4% more. The noise is a `pair_sd`, the standard deviation of one paired log ratio
with respect to the trimmed mean: the trimmed mean of n invocations has the standard error pair_sd / sqrt(n).
"""

from functools import cache

import numpy as np
import scipy

from kexbench.analysis.estimates import MIN_COMPARED_INVOCATIONS, Matrix, trimmed_freedom, trimmed_means
from kexbench.analysis.rounds import Vector

ALPHA = 0.01
"""Two-sided: 1 of 100 comparisons of a subject with itself may look like a change."""
POWER = 0.8
"""The probability of detecting a change of the smallest detectable size."""


def pair_sd_of(pool: Vector) -> float:
    """The winsorised standard deviation of a pool of paired log ratios, at least three, scaled so that
    pair_sd / sqrt(n) is the standard error of the 20% trimmed mean of n of them (Wilcox, Introduction to Robust
    Estimation, section 3.3.2: the winsorised standard deviation over 1 - 2 TRIM, here for the pool's size)."""
    return float(pair_sds_of(pool[np.newaxis, :])[0])


def pair_sds_of(pools: Matrix) -> Vector:
    """The same of each row."""
    pair_sds: Vector = trimmed_means(pools).errors * np.sqrt(pools.shape[1])
    return pair_sds


def smallest_detectable_change(
    pair_sd: float, invocations: int, *, alpha: float = ALPHA, power: float = POWER
) -> float:
    """The change that the two-sided trimmed t test at `alpha` finds with probability `power`, as a fraction.

    Under a change d of the logs the test's t has the noncentral t distribution with noncentrality
    d sqrt(n) / pair_sd and the trimmed mean's degrees of freedom (Johnson, Kotz & Balakrishnan, Continuous
    Univariate Distributions 2, chapter 31).
    Simulated at five to thirty invocations, the power at this change was 0.80 for normal noise and 0.76 to 0.79 for
    noise with heavy tails. ValueError below three invocations.
    """
    if invocations < MIN_COMPARED_INVOCATIONS:
        raise ValueError(
            f"{invocations} invocations cannot be compared: at least {MIN_COMPARED_INVOCATIONS} are needed"
        )
    error = pair_sd / np.sqrt(invocations)
    return detectable_change(error, trimmed_freedom(invocations), alpha=alpha, power=power)


def detectable_change(error: float, freedom: float, *, alpha: float = ALPHA, power: float = POWER) -> float:
    """The smallest detectable change for a standard error with its degrees of freedom."""
    return float(np.expm1(_noncentrality(freedom, alpha, power) * error))


def invocations_for(pair_sd: float, change: float, *, alpha: float = ALPHA, power: float = POWER) -> int:
    """The fewest invocations whose smallest detectable change is at most `change`. ValueError unless it is above 0."""
    if change <= 0:
        raise ValueError(f"no number of invocations detects a change of {change}: it must be above 0")
    certain = scipy.stats.norm.ppf(1 - alpha / 2) + scipy.stats.norm.ppf(power)
    # The number for known noise. The t distribution needs more, but hardly more for large numbers.
    count = max(MIN_COMPARED_INVOCATIONS, int(np.ceil((certain * pair_sd / np.log1p(change)) ** 2)))
    while smallest_detectable_change(pair_sd, count, alpha=alpha, power=power) > change:
        count += 1
    return count


@cache
def _noncentrality(freedom: float, alpha: float, power: float) -> float:
    """The noncentrality at which the upper tail beyond the critical value is `power`; the lower one is below 1e-9."""
    critical = float(scipy.special.stdtrit(freedom, 1 - alpha / 2))
    return float(scipy.special.nctdtrinc(freedom, 1 - power, critical))
