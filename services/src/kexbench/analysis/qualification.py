"""Results of A/A runs: how often a case differs from itself on a pool of machines, and what it cannot resolve.

In an A/A run, one kit is measured as two subjects in the same invocations, together with relinked kits of the same
source. All differences are noise of the machine, or the code layout of the linker.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from kexbench.analysis.detectable import ALPHA, POWER, invocations_for, pair_sd_of, smallest_detectable_change
from kexbench.analysis.estimates import MIN_COMPARED_INVOCATIONS, trimmed_means
from kexbench.analysis.resampling import Rejections, rejections
from kexbench.analysis.rounds import Batches, Vector, all_positive, log_ratios, medians

MIN_RELINKS = 3
PARTITIONS = 200


@dataclass(frozen=True)
class CaseQualification:
    """Changes and floors are fractions, 0.004 for 0.4%; standard deviations are of logs, so they are fractions too."""

    case_id: str
    invocations: int
    """The pairs in the pool."""
    group: int
    """The invocations of the comparison that the figures below apply to."""
    cv: float
    """Standard deviation of the log invocation medians of one subject."""
    pair_sd: float
    """The noise of the paired log ratios; the trimmed mean of n of them has the standard error pair_sd / sqrt(n)."""
    false_positives: Rejections | None
    """The groups of the pool in which the case differs from itself; None with fewer than two groups."""
    smallest_detectable_change: float
    relinks: int
    layout_sd: float | None
    layout_floor: float | None
    """The largest difference between two builds of one source in 95 of 100 pairs; None below three relinks."""
    alpha: float = ALPHA
    power: float = POWER

    @property
    def cannot_resolve_below(self) -> float:
        return max(self.smallest_detectable_change, self.layout_floor or 0.0)

    def invocations_for(self, change: float) -> int:
        """The invocations that detect a change (a fraction above 0). They do not reduce the layout floor."""
        return invocations_for(self.pair_sd, change, alpha=self.alpha, power=self.power)


def qualify_case(
    case_id: str,
    same: Sequence[Batches],
    relinked: Sequence[Batches] = (),
    *,
    group: int,
    seed: int,
    partitions: int = PARTITIONS,
    alpha: float = ALPHA,
    power: float = POWER,
) -> CaseQualification | None:
    """Qualify a case by the batches of subjects of the same kit, in pairs (the first with the second, the third with
    the fourth), and of relinked kits. `group`: the invocations of future comparisons.

    None if fewer than three invocations have a pair, or a value is zero.
    """
    if not all_positive(*same, *relinked):
        return None
    pairs = [log_ratios(first, second) for first, second in zip(same[::2], same[1::2], strict=False)]
    pool: Vector = np.concatenate(pairs) if pairs else np.array([])
    if len(pool) < MIN_COMPARED_INVOCATIONS:
        return None
    pair_sd = pair_sd_of(pool)
    layouts = _measured_enough(relinked)
    return CaseQualification(
        case_id=case_id,
        invocations=len(pool),
        group=group,
        cv=_cv(same),
        pair_sd=pair_sd,
        false_positives=rejections(pool, group, partitions, alpha, np.random.default_rng(seed)),
        smallest_detectable_change=smallest_detectable_change(pair_sd, group, alpha=alpha, power=power),
        relinks=len(layouts),
        layout_sd=_layout_sd(layouts),
        layout_floor=layout_floor(relinked),
        alpha=alpha,
        power=power,
    )


def layout_floor(relinked: Sequence[Batches]) -> float | None:
    """The largest difference between two builds of one source in 95 of 100 pairs."""
    layout_sd = _layout_sd(_measured_enough(relinked)) if all_positive(*relinked) else None
    return None if layout_sd is None else float(np.expm1(1.96 * np.sqrt(2) * layout_sd))


def _measured_enough(relinked: Sequence[Batches]) -> list[Batches]:
    return [subject for subject in relinked if len(subject) >= MIN_COMPARED_INVOCATIONS]


def _cv(subjects: Sequence[Batches]) -> float:
    """The standard deviation, pooled over the subjects, each around its own mean."""
    variances = [np.log(medians(subject)).var(ddof=1) for subject in subjects if len(subject) > 1]
    return float(np.sqrt(np.mean(variances)))


def _layout_sd(relinked: Sequence[Batches]) -> float | None:
    """The root of the variance component between relinks, by the method of moments (Searle, Casella & McCulloch,
    Variance Components, chapter 3). The squared difference of a pair is on average twice the layout's variance plus its
    squared standard error. So the layout's variance is half the difference of these, averaged over all pairs. If it is
    below 0 by chance, it counts as 0."""
    if len(relinked) < MIN_RELINKS:
        return None
    components = []
    for first, second in combinations(relinked, 2):
        logs = log_ratios(first, second)
        if len(logs) >= MIN_COMPARED_INVOCATIONS:
            means = trimmed_means(logs[np.newaxis, :])
            components.append(float(means.centres[0] ** 2 - means.errors[0] ** 2) / 2)
    return float(np.sqrt(max(0.0, float(np.mean(components))))) if components else None
