"""What an A/A run proves about a pool of machines: how often a case differs from itself, and what it cannot resolve.

In an A/A run one kit takes part as two subjects in the same invocations, beside it relinked kits of the same
source. Whatever differs then is the machine's noise, or the layout that a linker chose.
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
    """Changes and floors are fractions, 0.004 for 0.4%; standard deviations are of logs, so fractions as well."""

    case_id: str
    invocations: int
    """Pairs in the pool."""
    group: int
    """How many invocations the comparison has that the figures below are about."""
    cv: float
    """Standard deviation of the log invocation medians of one subject."""
    pair_sd: float
    """Of the paired log ratios; the trimmed mean of n of them has the standard error pair_sd / sqrt(n)."""
    false_positives: Rejections | None
    """Groups of the pool in which the case differs from itself; None where the pool makes less than two."""
    smallest_detectable_change: float
    relinks: int
    layout_sd: float | None
    layout_floor: float | None
    """By how much two builds of one source differ at most, in 95 of 100 pairs; None with fewer than three relinks."""
    alpha: float = ALPHA
    power: float = POWER

    @property
    def cannot_resolve_below(self) -> float:
        return max(self.smallest_detectable_change, self.layout_floor or 0.0)

    def invocations_for(self, change: float) -> int:
        """How many invocations detect a change (a fraction above 0); the layout floor stays where it is."""
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
    """Judge a case from the batches of subjects of the same kit, taken in pairs (the first with the second, the third
    with the fourth), and of relinked ones. `group`: invocations of the comparisons to come.

    None where fewer than three invocations hold a pair, or a value is zero.
    """
    if not all_positive(*same, *relinked):
        return None
    pairs = [log_ratios(first, second) for first, second in zip(same[::2], same[1::2], strict=False)]
    pool: Vector = np.concatenate(pairs) if pairs else np.array([])
    if len(pool) < MIN_COMPARED_INVOCATIONS:
        return None
    pair_sd = pair_sd_of(pool)
    layouts = _enough(relinked)
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
    """By how much two builds of one source differ at most, in 95 of 100 pairs."""
    layout_sd = _layout_sd(_enough(relinked)) if all_positive(*relinked) else None
    return None if layout_sd is None else float(np.expm1(1.96 * np.sqrt(2) * layout_sd))


def _enough(relinked: Sequence[Batches]) -> list[Batches]:
    return [subject for subject in relinked if len(subject) >= MIN_COMPARED_INVOCATIONS]


def _cv(subjects: Sequence[Batches]) -> float:
    """Pooled over the subjects, each around its own mean."""
    variances = [np.log(medians(subject)).var(ddof=1) for subject in subjects if len(subject) > 1]
    return float(np.sqrt(np.mean(variances)))


def _layout_sd(relinked: Sequence[Batches]) -> float | None:
    """The root of the variance component between relinks, by the method of moments (Searle, Casella & McCulloch,
    Variance Components, chapter 3): a pair's squared difference is on average twice the layout's variance and the
    square of its own standard error, so half of what the error leaves, averaged over all pairs, is the layout's
    variance. Where that is below 0 by chance, it is 0."""
    if len(relinked) < MIN_RELINKS:
        return None
    components = []
    for first, second in combinations(relinked, 2):
        logs = log_ratios(first, second)
        if len(logs) >= MIN_COMPARED_INVOCATIONS:
            found = trimmed_means(logs[np.newaxis, :])
            components.append(float(found.centres[0] ** 2 - found.errors[0] ** 2) / 2)
    return float(np.sqrt(max(0.0, float(np.mean(components))))) if components else None
