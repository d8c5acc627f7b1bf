"""Figures with their intervals, as the cells of a table."""

import math
from collections.abc import Callable, Sequence

import numpy as np
import scipy

from kexbench.analysis.estimates import CONFIDENCE
from kexbench.analysis.resampling import wilson
from kexbench.analysis.rounds import Vector
from kexbench.domain.scorecard import ScorecardCell

DRAWS = 1000
SEED = 0
NOTHING = ScorecardCell(text="–")
Counts = tuple[int, ...]


def name(text: str) -> ScorecardCell:
    return ScorecardCell(text=text)


def figure(value: float, low: float, high: float, form: Callable[[float], str]) -> ScorecardCell:
    """`0.91 [0.88, 0.93]`; an infinite bound is only in the text, since JSON has no infinity."""
    if math.isnan(value):
        return NOTHING
    text = f"{form(value)} [{form(low)}, {form(high)}]"
    return ScorecardCell(text=text, value=_finite(value), low=_finite(low), high=_finite(high))


def share(count: int, tests: int, effective: float | None = None) -> ScorecardCell:
    """`3 of 200: 1.5% [0.5%, 4.3%]` with Wilson's interval for `effective` independent tests, by default all of
    them."""
    if not tests:
        return NOTHING
    low, high = wilson(count / tests, effective or tests)
    return ScorecardCell(
        text=f"{count:,} of {tests:,}: {count / tests:.1%} [{low:.1%}, {high:.1%}]",
        value=count / tests,
        low=low,
        high=high,
    )


def bootstrapped(
    counts: Sequence[Counts], statistic: Callable[[Vector], float], form: Callable[[float], str]
) -> ScorecardCell:
    """A statistic of the sums over all series, and the percentile bootstrap over series."""
    table = np.array(counts, dtype=float)
    random = np.random.default_rng(SEED)
    sums = (table[random.integers(len(table), size=len(table))].sum(axis=0) for _ in range(DRAWS))
    draws = np.array([statistic(drawn) for drawn in sums])
    low, high = (
        np.nanquantile(draws, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2]) if not np.isnan(draws).all() else (0, 0)
    )
    return figure(statistic(table.sum(axis=0)), float(low), float(high), form)


def rate(counts: Sequence[tuple[int, int]], per: float, form: Callable[[float], str]) -> ScorecardCell:
    """Events per `per` units, from the events and units of each series. The interval is the percentile bootstrap over
    series. Without any event, the upper bound is that of the Poisson distribution (Garwood 1936)."""
    events, units = sum(event for event, _ in counts), sum(unit for _, unit in counts)
    if not units:
        return NOTHING
    if events == 0:
        high = float(scipy.stats.chi2.ppf((1 + CONFIDENCE) / 2, 2)) / 2 * per / units
        return figure(0.0, 0.0, high, form)
    return bootstrapped(counts, lambda sums: per * float(sums[0] / sums[1]), form)


def median(values: Sequence[float]) -> ScorecardCell:
    """With the interval of order statistics; values may be infinite."""
    if not values:
        return NOTHING
    ordered = np.sort(values)
    below = scipy.special.bdtr(np.arange(len(ordered)), len(ordered), 0.5)
    outside = int(np.searchsorted(below, (1 - CONFIDENCE) / 2))
    low, high = (ordered[outside - 1], ordered[len(ordered) - outside]) if outside else (ordered[0], ordered[-1])
    # For an even count, the upper of the two middle values: one of them may be infinite, so there is no mean.
    return figure(float(ordered[len(ordered) // 2]), float(low), float(high), points)


def points(value: float) -> str:
    return "never" if math.isinf(value) else f"{value:g}"


def two_digits(value: float) -> str:
    return f"{value:.2f}"


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
