"""How far each cell of a matrix moved between two versions, with variances moderated over all cells.

The chain, on logarithms throughout: the invocations of a cell are a `Sample`; the samples of all cells of one kind
become `LogMove`s together. Where a cell's invocations are of several jobs, jobs are a random effect: what they
differ by is in the interval, which it never makes shorter.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy

from kexbench.analysis.estimates import CONFIDENCE, MIN_COMPARED_INVOCATIONS, TRIM, trimmed_means
from kexbench.analysis.moderation import MIN_MODERATED, Moderated, moderate
from kexbench.analysis.rounds import Batches, Vector, all_positive, log_ratios, medians
from kexbench.analysis.welch import satterthwaite_freedom, welch_freedom

OUTLYING = 2.5
"""An invocation that lies so many standard deviations from the median of its cell is cut to there."""


@dataclass(frozen=True)
class Sample:
    """What some invocations say of one logarithm."""

    logs: Vector
    jobs: tuple[str, ...]
    """The job of each."""
    trimmed: bool
    """Paired log ratios, whose outliers are cut; not so Welch's log medians."""

    def estimate(self) -> "Estimate":
        """On its own: the 20% trimmed mean with its winsorised variance, or the plain mean."""
        logs = self.logs
        if not self.trimmed or np.ptp(logs) == 0:
            return _estimate(float(logs.mean()), logs - logs.mean(), len(logs) - 1)
        found = trimmed_means(logs[np.newaxis, :])
        cut = int(TRIM * len(logs))
        ordered = np.sort(logs)
        winsorised = np.clip(logs, ordered[cut], ordered[len(logs) - 1 - cut])
        estimate = _estimate(float(found.centres[0]), winsorised - winsorised.mean(), found.freedom)
        return replace(estimate, variance=float(found.errors[0] ** 2 * len(logs)))

    def within(self, reach: float) -> float:
        """The share of the invocations that lie no farther than `reach` from the median."""
        return float((np.abs(self.logs - np.median(self.logs)) <= reach).mean())

    def cut_at(self, reach: float, kept: float) -> "Estimate":
        """Where the noise is known from elsewhere, only what lies farther than `reach` from the median is drawn in to
        there: one step of Huber's estimator (Huber & Ronchetti, Robust Statistics, section 6.7), which loses less than
        a fixed share at each end. `kept` is the share that is not drawn in, of all samples: one alone hardly knows."""
        if not self.trimmed:
            return self.estimate()
        median = float(np.median(self.logs))
        parts = np.clip(self.logs - median, -reach, reach) / kept
        return _estimate(median + float(parts.mean()), parts - parts.mean(), len(parts) - 1)


@dataclass(frozen=True)
class Estimate:
    centre: float
    variance: float
    """Of one invocation: over their count it is the square of the centre's standard error."""
    freedom: float
    parts: Vector
    """What each invocation adds to the centre."""


def _estimate(centre: float, parts: Vector, freedom: float) -> Estimate:
    return Estimate(centre, float(parts.var(ddof=1)) if np.ptp(parts) else 0.0, freedom, parts)


@dataclass(frozen=True)
class LogMove:
    """A logarithm with its standard error and that error's degrees of freedom."""

    centre: float
    error: float
    freedom: float
    """Of the interval."""
    test_freedom: float
    """Of tests, which ask for the tails farther out."""

    @property
    def chance(self) -> float:
        """The two-sided p value of no move at all."""
        if self.error == 0:
            return float(self.centre == 0)
        return float(2 * scipy.special.stdtr(self.test_freedom, -abs(self.centre) / self.error))

    def bounds(self) -> tuple[float, float]:
        reach = 0.0
        if self.error > 0:
            reach = float(scipy.special.stdtrit(self.freedom, (1 + CONFIDENCE) / 2)) * self.error
        return self.centre - reach, self.centre + reach


@dataclass(frozen=True)
class Pair:
    """The two versions of a cell as samples: of paired log ratios one, else one of each version's log medians."""

    samples: tuple[Sample, ...]

    @property
    def paired(self) -> bool:
        return len(self.samples) == 1

    @property
    def count(self) -> int:
        return min(len(sample.logs) for sample in self.samples)

    @property
    def jobs(self) -> int:
        return min(len(set(sample.jobs)) for sample in self.samples)


def pair(before: Batches, after: Batches) -> Pair | None:
    """None with fewer than three invocations, and where a value is zero, which has no ratio to anything.

    Where three invocations or more hold both versions, only those count, in pairs. The keys name the job before the
    last `/`.
    """
    if not before or not after or not all_positive(before, after):
        return None
    shared = sorted(before.keys() & after.keys())
    if len(shared) >= MIN_COMPARED_INVOCATIONS:
        return Pair((Sample(log_ratios(after, before), _jobs(shared), trimmed=True),))
    if min(len(before), len(after)) < MIN_COMPARED_INVOCATIONS:
        return None
    return Pair(tuple(Sample(np.log(medians(one)), _jobs(one), trimmed=False) for one in (before, after)))


def _jobs(keys: Iterable[str]) -> tuple[str, ...]:
    return tuple(key.rpartition("/")[0] for key in keys)


def moves(pairs: Mapping[int, Pair], kinds: Mapping[int, object]) -> dict[int, LogMove]:
    """The move of each cell. Cells of one kind, such as a host kind, tell each other's variances; paired ones and
    others do not, nor the two versions of those that are not paired."""
    groups: dict[object, list[tuple[int, Sample]]] = defaultdict(list)
    for place, cell in pairs.items():
        for which, sample in enumerate(cell.samples):
            groups[kinds[place], cell.paired, which].append((place, sample))
    found: dict[int, list[LogMove]] = defaultdict(list)
    for group in groups.values():
        for (place, _), move in zip(group, moderated([sample for _, sample in group]), strict=True):
            found[place].append(move)
    return {place: parts[0] if len(parts) == 1 else _difference(*parts) for place, parts in found.items()}


def moderated(samples: Sequence[Sample]) -> list[LogMove]:
    """The centres of samples of one kind, their errors from moderated variances and what their jobs differ by."""
    estimates = [sample.estimate() for sample in samples]
    noise = _moderate(estimates)
    if len(samples) >= MIN_MODERATED:
        reaches = (OUTLYING * np.sqrt(noise.variances)).tolist()
        kept = float(np.mean([sample.within(reach) for sample, reach in zip(samples, reaches, strict=True)]))
        estimates = [sample.cut_at(reach, kept) for sample, reach in zip(samples, reaches, strict=True)]
        noise = _moderate(estimates)
    jobs = _between_jobs(samples, estimates, noise.variances)
    # The mean of jobs has the variance of the mean of as many invocations, times how much jobs differ beyond that.
    more = np.maximum(0, jobs.variances - 1)
    freedoms = (1 + more) ** 2 / (1 / noise.freedoms + more**2 / jobs.freedoms)  # Satterthwaite 1946
    freedoms = np.minimum(freedoms, noise.freedoms)
    errors = np.sqrt(noise.variances * (1 + more) / [len(sample.logs) for sample in samples])
    return [
        LogMove(estimate.centre, float(error), float(freedom), float(freedom))
        for estimate, error, freedom in zip(estimates, errors, freedoms, strict=True)
    ]


def _moderate(estimates: Sequence[Estimate]) -> Moderated:
    variances = np.array([estimate.variance for estimate in estimates])
    return moderate(variances, np.array([estimate.freedom for estimate in estimates]))


def _between_jobs(samples: Sequence[Sample], estimates: Sequence[Estimate], variances: Vector) -> Moderated:
    """The mean square between jobs over that of invocations, 1 where jobs do not differ: by the method of moments the
    excess over 1 is the jobs' own variance (Searle, Casella & McCulloch, Variance Components, section 3.6). With
    two jobs a cell hardly knows it, so it is moderated as the variances are."""
    counts = np.array([len(set(sample.jobs)) for sample in samples])
    several = (counts > 1) & (variances > 0)
    ratios, freedoms = np.ones(len(samples)), np.ones(len(samples))
    if several.any():
        between = [_between(estimate, sample.jobs) for sample, estimate in zip(samples, estimates, strict=True)]
        known = moderate((np.array(between) / np.where(several, variances, 1))[several], counts[several] - 1.0)
        ratios[several], freedoms[several] = known.variances, known.freedoms
    return Moderated(ratios, freedoms)


def _between(estimate: Estimate, jobs: Sequence[str]) -> float:
    """The mean square between jobs of what invocations add to the centre, on the scale of the estimate's variance."""
    names, job = np.unique(jobs, return_inverse=True)
    variance = float(estimate.parts.var(ddof=1))
    if len(names) < 2 or variance == 0:
        return 0.0
    sums, counts = np.bincount(job, weights=estimate.parts), np.bincount(job)
    square = float((sums**2 / counts).sum()) / (len(names) - 1)
    return square * estimate.variance / variance


def _difference(before: LogMove, after: LogMove) -> LogMove:
    """Welch's difference of two means."""
    squares = np.array([before.error, after.error]) ** 2
    centre, error = after.centre - before.centre, float(np.sqrt(squares.sum()))
    freedoms = np.array([before.freedom, after.freedom])
    if error == 0:
        return LogMove(centre, 0.0, float(freedoms.min()), float(freedoms.min()))
    freedom = welch_freedom(squares, freedoms)
    return LogMove(centre, error, freedom, min(freedom, satterthwaite_freedom(squares, freedoms)))
