"""How far each cell of a matrix moved between two versions, with variances moderated over all cells.

The chain, on logarithms throughout: the invocations of a cell are a `Sample`; the samples of all cells of one kind
become `LogMove`s together. Where a cell's invocations are of several jobs, jobs are a random effect: what they
differ by is in the interval, which it never makes shorter.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from kexbench.analysis.estimates import CONFIDENCE, MIN_COMPARED_INVOCATIONS, TRIM, trimmed_means
from kexbench.analysis.moderation import Moderated, moderate
from kexbench.analysis.rounds import Batches, Vector, all_positive, log_ratios, medians


@dataclass(frozen=True)
class Sample:
    """What some invocations say of one logarithm."""

    centre: float
    variance: float
    """Of one invocation: over their count it is the square of the centre's standard error."""
    freedom: float
    count: int
    jobs: int
    between: float
    """The mean square between jobs; as large as `variance` where jobs do not differ."""


@dataclass(frozen=True)
class LogMove:
    """A logarithm with its standard error and that error's degrees of freedom."""

    centre: float
    error: float
    freedom: float

    @property
    def chance(self) -> float:
        """The two-sided p value of no move at all."""
        if self.error == 0:
            return float(self.centre == 0)
        return float(2 * scipy.special.stdtr(self.freedom, -abs(self.centre) / self.error))

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
        return min(sample.count for sample in self.samples)

    @property
    def jobs(self) -> int:
        return min(sample.jobs for sample in self.samples)


def pair(before: Batches, after: Batches) -> Pair | None:
    """None with fewer than three invocations, and where a value is zero, which has no ratio to anything.

    Where three invocations or more hold both versions, only those count, in pairs. The keys name the job before the
    last `/`.
    """
    if not before or not after or not all_positive(before, after):
        return None
    shared = sorted(before.keys() & after.keys())
    if len(shared) >= MIN_COMPARED_INVOCATIONS:
        return Pair((trimmed_sample(log_ratios(after, before), _jobs(shared)),))
    if min(len(before), len(after)) < MIN_COMPARED_INVOCATIONS:
        return None
    return Pair(tuple(plain_sample(np.log(medians(one)), _jobs(one)) for one in (before, after)))


def _jobs(keys: Sequence[str] | Batches) -> list[str]:
    return [key.rpartition("/")[0] for key in keys]


def trimmed_sample(logs: Vector, jobs: Sequence[str]) -> Sample:
    """The 20% trimmed mean with its winsorised variance (analysis/estimates.py). Each invocation's part in the mean is
    its winsorised value (Huber, Robust Statistics, section 3.3)."""
    found = trimmed_means(logs[np.newaxis, :])
    cut = int(TRIM * len(logs))
    ordered = np.sort(logs)
    variance = float(found.errors[0] ** 2 * len(logs))
    return _sample(
        float(found.centres[0]),
        variance,
        found.freedom,
        np.clip(logs, ordered[cut], ordered[len(logs) - 1 - cut]),
        jobs,
    )


def plain_sample(logs: Vector, jobs: Sequence[str]) -> Sample:
    return _sample(float(logs.mean()), float(logs.var(ddof=1)), len(logs) - 1, logs, jobs)


def _sample(centre: float, variance: float, freedom: float, parts: Vector, jobs: Sequence[str]) -> Sample:
    if np.ptp(parts) == 0:
        return Sample(centre, 0.0, freedom, len(parts), len(set(jobs)), 0.0)
    return Sample(centre, variance, freedom, len(parts), len(set(jobs)), variance * _differing(parts, jobs))


def _differing(parts: Vector, jobs: Sequence[str]) -> float:
    """The mean square between jobs over the variance of all: 1 on average where jobs do not differ."""
    names, job = np.unique(jobs, return_inverse=True)
    if len(names) < 2:
        return 1.0
    sums, counts = np.bincount(job, weights=parts - parts.mean()), np.bincount(job)
    return float((sums**2 / counts).sum() / (len(names) - 1) / parts.var(ddof=1))


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
    counts = np.array([sample.count for sample in samples], dtype=float)
    variances = np.array([sample.variance for sample in samples])
    noise = moderate(variances, np.array([sample.freedom for sample in samples]))
    jobs = _between_jobs(samples, noise.variances)
    # The mean of jobs has the variance of the mean of as many invocations, times how much jobs differ beyond that.
    more = np.maximum(0, jobs.variances - 1)
    freedoms = (1 + more) ** 2 / (1 / noise.freedoms + more**2 / jobs.freedoms)  # Satterthwaite 1946
    errors = np.sqrt(noise.variances / counts * (1 + more))
    return [
        LogMove(sample.centre, float(error), float(freedom))
        for sample, error, freedom in zip(samples, errors, np.minimum(freedoms, noise.freedoms), strict=True)
    ]


def _between_jobs(samples: Sequence[Sample], variances: Vector) -> Moderated:
    """The mean square between jobs over that of invocations, 1 where jobs do not differ: by the method of moments the
    excess over 1 is the jobs' own variance (Searle, Casella & McCulloch, Variance Components, section 3.6). With
    two jobs a cell hardly knows it, so it is moderated as the variances are."""
    several = np.array([sample.jobs > 1 for sample in samples]) & (variances > 0)
    ratios, freedoms = np.ones(len(samples)), np.ones(len(samples))
    if several.any():
        between = np.array([sample.between for sample in samples])[several] / variances[several]
        known = moderate(between, np.array([sample.jobs - 1.0 for sample in samples])[several])
        ratios[several], freedoms[several] = known.variances, known.freedoms
    return Moderated(ratios, freedoms)


def _difference(before: LogMove, after: LogMove) -> LogMove:
    """Welch's difference of two means."""
    squares = np.array([before.error, after.error]) ** 2
    centre, error = after.centre - before.centre, float(np.sqrt(squares.sum()))
    if error == 0:
        return LogMove(centre, 0.0, min(before.freedom, after.freedom))
    freedom = squares.sum() ** 2 / (squares**2 / [before.freedom, after.freedom]).sum()
    return LogMove(centre, error, float(freedom))
