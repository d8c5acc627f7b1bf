"""How often a test of a few invocations finds a change, resampled from a pool of many."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import scipy

from kexbench.analysis.estimates import CONFIDENCE, Matrix, trimmed_means
from kexbench.analysis.rounds import Vector
from kexbench.domain.intervals import Estimate

Places: TypeAlias = "np.ndarray[tuple[int, int], np.dtype[np.int64]]"
Flags: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.bool_]]"


@dataclass(frozen=True)
class Rejections:
    """The share of `tests` groups of invocations whose interval excludes 1.

    Groups of different partitions share invocations, so the tests are not independent. `effective_tests` is the number
    of independent tests with the same information; the interval is Wilson's for that number.
    """

    rate: Estimate
    rejected: int
    tests: int
    partitions: int
    groups: int
    """Disjoint groups in one partition of the pool."""
    effective_tests: float


def rejections(
    pool: Vector, group: int, partitions: int, alpha: float, random: np.random.Generator
) -> Rejections | None:
    """Divide the pool of log ratios at random into disjoint groups, `partitions` times, and test each group by its
    trimmed mean, two-sided at `alpha`. None if the pool is too small for two groups.
    """
    if len(pool) // group < 2:
        return None
    drawn = partition(len(pool), group, partitions, random)
    return resampled(drawn, excludes_one(pool[drawn], alpha), len(pool))


def resampled(drawn: Places, rejected: Flags, count: int) -> Rejections:
    """The result of tests of groups from a pool of `count`, with one row of `drawn` and `rejected` per group.

    The variance of the rate is that of a U statistic, by its leading term (Hoeffding 1948): group size squared over
    pool size, times the variance of the rates among the groups with each invocation (less the part due to the number of
    partitions, as in Wager, Hastie & Efron 2014). It determines the effective number of tests. At a rate of 0 or 1 the
    variance is unknown, and the independent groups of one partition count.
    """
    group = drawn.shape[1]
    groups = count // group
    rate, tests = float(rejected.mean()), len(rejected)
    effective = float(groups)
    if 0 < rate < 1:
        appearances = np.bincount(drawn.ravel(), minlength=count)
        hits = np.bincount(drawn.ravel(), weights=np.repeat(rejected, group), minlength=count)
        rates = (hits / np.maximum(appearances, 1))[appearances > 0]
        chance = rate * (1 - rate) / appearances.mean() * (1 - group / count)
        leading = max(0.0, float(rates.var(ddof=1)) - chance) * group**2 / count
        effective = float(np.clip(rate * (1 - rate) / (leading + rate * (1 - rate) / tests), groups, tests))
    low, high = wilson(rate, effective)
    interval = Estimate(value=rate, low=low, high=high)
    return Rejections(interval, int(rejected.sum()), tests, tests // groups, groups, effective)


def partition(count: int, group: int, partitions: int, random: np.random.Generator) -> Places:
    """Positions in a pool, one row per group. The rows of a partition are disjoint and omit less than a group."""
    groups = count // group
    orders = random.permuted(np.tile(np.arange(count), (partitions, 1)), axis=1)
    return orders[:, : groups * group].reshape(partitions * groups, group)


def excludes_one(samples: Matrix, alpha: float) -> Flags:
    """Whether the trimmed mean's two-sided interval at 1 - alpha excludes a ratio of 1, for each row of log ratios."""
    means = trimmed_means(samples)
    return np.abs(means.centres) > scipy.special.stdtrit(means.freedom, 1 - alpha / 2) * means.errors


def wilson(share: float, tests: float) -> tuple[float, float]:
    """The 95% confidence interval of a share in `tests` independent tests (Wilson 1927)."""
    z2 = float(scipy.stats.norm.ppf((1 + CONFIDENCE) / 2)) ** 2
    centre = (share + z2 / (2 * tests)) / (1 + z2 / tests)
    reach = np.sqrt(z2 * (share * (1 - share) / tests + z2 / (4 * tests**2))) / (1 + z2 / tests)
    return max(0.0, float(centre - reach)), min(1.0, float(centre + reach))
