"""Tests of two versions: ours, and those of others.

A test takes the batch values of both by invocation and returns a two-sided p-value. Invocations with the same name were
measured together.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy

from kexbench.analysis.estimates import MIN_COMPARED_INVOCATIONS
from kexbench.analysis.moves import moves, pair
from kexbench.analysis.rounds import Batches, Vector, medians
from kexbench.domain.verdicts import RELEVANT


@dataclass(frozen=True)
class PairTest:
    """A difference of the medians below `least` does not count, however significant it is."""

    name: str
    p_value: Callable[[Batches, Batches], float]
    least: float = 0.0
    ours: bool = False

    def chance(self, before: Batches, after: Batches) -> float:
        """The p-value; 1 for a difference that is too small."""
        return self.p_value(before, after) if abs(_change(before, after)) >= self.least else 1.0


def pooled_mann_whitney(before: Batches, after: Batches) -> float:
    """Mann & Whitney (1947) over all batches, as if each were a separate measurement, as Go's `benchstat` does with its
    values."""
    return float(scipy.stats.mannwhitneyu(_pooled(before), _pooled(after), alternative="two-sided").pvalue)


def pooled_welch(before: Batches, after: Batches) -> float:
    """Welch (1947) over all batches."""
    return _welch(_pooled(before), _pooled(after))


def welch_of_medians(before: Batches, after: Batches) -> float:
    """Welch over the logs of each invocation's median."""
    return _welch(_log_medians(before), _log_medians(after))


def moved(before: Batches, after: Batches) -> float:
    """The p-value of an upgrade's cell without information from other cells (analysis/moves.py); 1 if there is
    none."""
    cell = pair(before, after)
    return 1.0 if cell is None else moves({0: cell}, {0: None})[0].chance


PAIR_TESTS = (
    PairTest("kexbench", moved, ours=True),
    PairTest("kexbench, at least 0.5%", moved, least=RELEVANT, ours=True),
    PairTest("Mann-Whitney over all batches", pooled_mann_whitney),
    PairTest("Welch over all batches", pooled_welch),
    PairTest("Welch over invocations", welch_of_medians),
    PairTest("Welch over invocations, at least 2%", welch_of_medians, least=0.02),
)


def _welch(first: Vector, second: Vector) -> float:
    """1 if nothing varies."""
    variances = np.array([first.var(ddof=1) / len(first), second.var(ddof=1) / len(second)])
    if min(len(first), len(second)) < MIN_COMPARED_INVOCATIONS or variances.sum() == 0:
        return 1.0
    freedom = variances.sum() ** 2 / (variances**2 / [len(first) - 1, len(second) - 1]).sum()
    t = abs(float(first.mean() - second.mean())) / np.sqrt(variances.sum())
    return float(2 * scipy.special.stdtr(freedom, -t))


def _pooled(invocations: Batches) -> Vector:
    return np.concatenate([np.asarray(values, dtype=float) for values in invocations.values()])


def _log_medians(invocations: Batches) -> Vector:
    return np.log(medians(invocations))


def _change(before: Batches, after: Batches) -> float:
    """The relative change of the medians over invocations."""
    return float(np.expm1(np.median(_log_medians(after)) - np.median(_log_medians(before))))
