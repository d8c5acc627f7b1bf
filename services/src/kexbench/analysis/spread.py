"""Whether costs vary more from invocation to invocation than before, as with contention for a lock.

The spread of a subject is the mean absolute deviation of its invocations' log costs from their median, scaled so that
it estimates the standard deviation of normal noise: a share, 0.01 is 1%. If two subjects ran in the same invocations,
Student's t tests the differences of their deviations against 0 (Grambsch 1994, Simple robust tests for scale
differences in paired data, Biometrika 81), so disturbances of both at once cancel. Otherwise Welch's t compares the two
lists of deviations, the test of Brown and Forsythe (1974) for two groups.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np
import scipy

from kexbench.analysis.discovery import FALSE_DISCOVERIES, false_discovery_rates
from kexbench.analysis.rounds import Batches, Vector, all_positive, medians
from kexbench.analysis.welch import satterthwaite_freedom
from kexbench.domain.spreads import TO_DEVIATION
from kexbench.domain.upgrades import SpreadMove, SpreadVerdict

MIN_INVOCATIONS = 6
"""Fewer deviations say too little: two of them are correlated through the median."""
FACTOR = 1.5
"""A spread that grows or shrinks by less does not count."""


@dataclass(frozen=True)
class Spreads:
    """The spreads of two subjects as shares, and the probability of such a difference by chance."""

    before: float
    after: float
    chance: float


def spreads(before: Batches, after: Batches) -> Spreads | None:
    """None with too few invocations or a cost of 0."""
    if not all_positive(before, after):
        return None
    shared = sorted(before.keys() & after.keys())
    if len(shared) >= MIN_INVOCATIONS:
        first, second = (_deviations({key: batches[key] for key in shared}) for batches in (before, after))
        return _spreads(first, second, _paired_chance(first, second))
    if min(len(before), len(after)) < MIN_INVOCATIONS:
        return None
    first, second = _deviations(before), _deviations(after)
    return _spreads(first, second, _unpaired_chance(first, second))


def judge_spreads(compared: Sequence[Spreads | None], relevant: float) -> list[SpreadMove | None]:
    """The verdict of each, with the false discovery rate controlled among all. Spreads below `relevant` do not count,
    even if one is much larger."""
    usable = [pair for pair in compared if pair]
    rates = iter(false_discovery_rates(np.array([pair.chance for pair in usable])).tolist() if usable else ())
    return [_move(pair, next(rates), relevant) if pair else None for pair in compared]


def _move(pair: Spreads, q: float, relevant: float) -> SpreadMove:
    smaller, larger = sorted((pair.before, pair.after))
    verdict: SpreadVerdict = "unresolved"
    if q <= FALSE_DISCOVERIES and larger >= max(relevant, FACTOR * smaller):
        verdict = "more" if pair.after > pair.before else "less"
    return SpreadMove(before=pair.before, after=pair.after, q=q, verdict=verdict)


def _spreads(first: Vector, second: Vector, chance: float) -> Spreads:
    return Spreads(float(first.mean()) * TO_DEVIATION, float(second.mean()) * TO_DEVIATION, chance)


def _deviations(subject: Batches) -> Vector:
    logs = np.log(medians(subject))
    deviations: Vector = np.abs(logs - median(logs.tolist()))  # NumPy's takes ten times as long for a few values
    return deviations


def _paired_chance(first: Vector, second: Vector) -> float:
    differences = second - first
    error = differences.std(ddof=1) / np.sqrt(len(differences))
    return _chance(differences.mean(), error, len(differences) - 1)


def _unpaired_chance(first: Vector, second: Vector) -> float:
    squares = np.array([first.var(ddof=1) / len(first), second.var(ddof=1) / len(second)])
    if squares.sum() == 0:
        return 1.0
    freedom = satterthwaite_freedom(squares, np.array([len(first) - 1.0, len(second) - 1.0]))
    return _chance(second.mean() - first.mean(), np.sqrt(squares.sum()), freedom)


def _chance(difference: float, error: float, freedom: float) -> float:
    """Two-sided; 1 for constants, which have no noise to compare with."""
    return float(2 * scipy.special.stdtr(freedom, -abs(difference / error))) if error > 0 else 1.0
