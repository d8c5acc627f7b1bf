"""How small a change so many invocations can show, and how many a change needs: formulas for planning.

A change is a fraction, 0.004 for 0.4% more; noise is a `pair_sd`, the standard deviation of one paired log ratio
as the trimmed mean feels it: of n invocations the trimmed mean has the standard error pair_sd / sqrt(n).
"""

from functools import cache

import numpy as np
import scipy

from kexbench.analysis.estimates import MIN_COMPARED_INVOCATIONS, trimmed_freedom, trimmed_means
from kexbench.analysis.rounds import Vector

ALPHA = 0.01
"""Two-sided: of 100 comparisons of a subject with itself one may look like a change."""
POWER = 0.8
"""How often a change of the smallest detectable size is found."""


def pair_sd_of(pool: Vector) -> float:
    """The winsorised standard deviation of a pool of paired log ratios, at least three, scaled so that
    pair_sd / sqrt(n) is the standard error of the 20% trimmed mean of n of them (Wilcox, Introduction to Robust
    Estimation, section 3.3.2: the winsorised standard deviation over 1 - 2 TRIM, here as the pool's size has it)."""
    return float(trimmed_means(pool[np.newaxis, :]).errors[0] * np.sqrt(len(pool)))


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
    """The same of a standard error with its degrees of freedom."""
    return float(np.expm1(_noncentrality(freedom, alpha, power) * error))


def invocations_for(pair_sd: float, change: float, *, alpha: float = ALPHA, power: float = POWER) -> int:
    """The fewest invocations whose smallest detectable change is at most `change`. ValueError unless it is above 0."""
    if change <= 0:
        raise ValueError(f"no number of invocations shows a change of {change}: it must be above 0")
    certain = scipy.stats.norm.ppf(1 - alpha / 2) + scipy.stats.norm.ppf(power)
    # With known noise it would take so many; the t distribution always asks for more, soon hardly more.
    count = max(MIN_COMPARED_INVOCATIONS, int(np.ceil((certain * pair_sd / np.log1p(change)) ** 2)))
    while smallest_detectable_change(pair_sd, count, alpha=alpha, power=power) > change:
        count += 1
    return count


@cache
def _noncentrality(freedom: float, alpha: float, power: float) -> float:
    """Where the upper tail beyond the critical value holds `power`; the lower tail is below 1e-9 there."""
    critical = float(scipy.special.stdtrit(freedom, 1 - alpha / 2))
    return float(scipy.special.nctdtrinc(freedom, 1 - power, critical))
