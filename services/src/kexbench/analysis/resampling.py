"""How often a test of a few invocations finds something, resampled from a pool of many."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import scipy

from kexbench.analysis.estimates import CONFIDENCE, Matrix, trimmed_means
from kexbench.analysis.rounds import Vector

Places: TypeAlias = "np.ndarray[tuple[int, int], np.dtype[np.int64]]"
Flags: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.bool_]]"


@dataclass(frozen=True)
class Rejections:
    """Of `tests` groups of invocations, the share whose interval excludes 1.

    Groups of different partitions share invocations, so the tests tell less than as many independent ones;
    `effective_tests` is how many independent ones tell as much, and the interval is Wilson's for that number.
    """

    rate: float
    low: float
    high: float
    rejected: int
    tests: int
    partitions: int
    groups: int
    """Disjoint groups in one partition of the pool."""
    effective_tests: float


def rejections(
    pool: Vector, group: int, partitions: int, alpha: float, random: np.random.Generator
) -> Rejections | None:
    """Cut the pool of log ratios at random into disjoint groups, `partitions` times over, and test each group by its
    trimmed mean, two-sided at `alpha`. None where the pool is too small for two groups.
    """
    if len(pool) // group < 2:
        return None
    drawn = partition(len(pool), group, partitions, random)
    return resampled(drawn, excludes_one(pool[drawn], alpha), len(pool))


def resampled(drawn: Places, rejected: Flags, count: int) -> Rejections:
    """What tests of groups drawn from a pool of `count` say, a row of `drawn` and one of `rejected` a group.

    The variance of the rate is that of a U statistic, by its leading term (Hoeffding 1948): group size squared over
    pool size, times the variance of the rates among the groups that hold each invocation (less the part of it that is
    due to the number of partitions, as in Wager, Hastie & Efron 2014). The effective number of tests follows from
    it; at a rate of 0 or 1 nothing is known of it, and one partition's groups count, which are independent.
    """
    group = drawn.shape[1]
    groups = count // group
    rate, tests = float(rejected.mean()), len(rejected)
    effective = float(groups)
    if 0 < rate < 1:
        appearances = np.bincount(drawn.ravel(), minlength=count)
        hits = np.bincount(drawn.ravel(), weights=np.repeat(rejected, group), minlength=count)
        of_invocation = (hits / np.maximum(appearances, 1))[appearances > 0]
        chance = rate * (1 - rate) / appearances.mean() * (1 - group / count)
        leading = max(0.0, float(of_invocation.var(ddof=1)) - chance) * group**2 / count
        effective = float(np.clip(rate * (1 - rate) / (leading + rate * (1 - rate) / tests), groups, tests))
    low, high = wilson(rate, effective)
    return Rejections(rate, low, high, int(rejected.sum()), tests, tests // groups, groups, effective)


def partition(count: int, group: int, partitions: int, random: np.random.Generator) -> Places:
    """Positions in a pool, a row a group; the rows of one partition are disjoint and leave out less than a group."""
    groups = count // group
    orders = random.permuted(np.tile(np.arange(count), (partitions, 1)), axis=1)
    return orders[:, : groups * group].reshape(partitions * groups, group)


def excludes_one(samples: Matrix, alpha: float) -> Flags:
    """Whether the trimmed mean's two-sided interval at 1 - alpha excludes a ratio of 1, for each row of log ratios."""
    found = trimmed_means(samples)
    return np.abs(found.centres) > scipy.special.stdtrit(found.freedom, 1 - alpha / 2) * found.errors


def wilson(share: float, tests: float) -> tuple[float, float]:
    """The 95% interval of a share seen in so many independent tests (Wilson 1927)."""
    z2 = float(scipy.stats.norm.ppf((1 + CONFIDENCE) / 2)) ** 2
    centre = (share + z2 / (2 * tests)) / (1 + z2 / tests)
    reach = np.sqrt(z2 * (share * (1 - share) / tests + z2 / (4 * tests**2))) / (1 + z2 / tests)
    return max(0.0, float(centre - reach)), min(1.0, float(centre + reach))
