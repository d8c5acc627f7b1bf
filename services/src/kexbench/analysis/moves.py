"""How far each cell of a matrix moved between two versions, with variances moderated over all cells.

All values are logarithms. The invocations of a cell are a `Sample`; the samples of all cells of one kind become
`LogMove`s together. If a cell's invocations are from several jobs, the jobs are a random effect: their differences can
widen the interval, but not narrow it.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import blake2b
from typing import TypeVar

import numpy as np
import scipy

from kexbench.analysis.estimates import CONFIDENCE, MIN_COMPARED_INVOCATIONS, TRIM, Matrix, trimmed_means
from kexbench.analysis.moderation import MIN_MODERATED, Moderated, moderate
from kexbench.analysis.rounds import Batches, Vector, all_positive, log_ratios, medians
from kexbench.analysis.welch import satterthwaite_freedom, welch_freedom
from kexbench.domain.intervals import Ratio

OUTLYING = 2.5
"""Invocations are clipped at this many standard deviations from the median of their cell."""
KINDS_KEPT = 2000
"""Cells of one kind whose moves are remembered: one more result changes those of its own kind alone."""
Value = TypeVar("Value")


@dataclass(frozen=True, eq=False)
class Sample:
    """The values of one logarithm in some invocations."""

    logs: Vector
    jobs: tuple[str, ...]
    """The job of each invocation."""
    trimmed: bool
    """True for paired log ratios, whose outliers are cut; false for Welch's log medians."""

    @cached_property
    def digest(self) -> bytes:
        """Equal for equal samples."""
        jobs = "\n".join(self.jobs).encode()
        return blake2b(self.logs.tobytes() + jobs, digest_size=16, key=b"trimmed" * self.trimmed).digest()


@dataclass(eq=False)
class _Kind:
    """Samples of one kind. Without them, once their moves are known, it is remembered by its digest alone."""

    samples: Sequence[Sample]

    def __post_init__(self) -> None:
        self._digest = b"".join(sample.digest for sample in self.samples)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Kind) and self._digest == other._digest

    def __hash__(self) -> int:
        return hash(self._digest)


@dataclass(frozen=True)
class Estimate:
    centre: float
    variance: float
    """Of one invocation. Divided by their count, it is the squared standard error of the centre."""
    freedom: float
    parts: Vector
    """The contribution of each invocation to the centre."""


@dataclass(frozen=True)
class Alike:
    """Samples of one size, computed together, which takes a fraction of the time."""

    logs: Matrix
    trimmed: bool

    def estimates(self) -> list[Estimate]:
        """The estimate from each sample alone: the 20% trimmed mean with its winsorised variance, or the plain mean.
        The plain mean for constants as well."""
        count = self.logs.shape[1]
        centres = self.logs.mean(axis=1)
        plain = _estimates(centres, self.logs - centres[:, np.newaxis], count - 1)
        if not self.trimmed:
            return plain
        means = trimmed_means(self.logs)
        cut = int(TRIM * count)
        ordered = np.sort(self.logs, axis=1)
        winsorised = np.clip(self.logs, ordered[:, [cut]], ordered[:, [count - 1 - cut]])
        parts = winsorised - winsorised.mean(axis=1)[:, np.newaxis]
        variances = means.errors**2 * count
        return [
            plain[row]
            if is_constant
            else Estimate(float(means.centres[row]), float(variances[row]), means.freedom, parts[row])
            for row, is_constant in enumerate((np.ptp(self.logs, axis=1) == 0).tolist())
        ]

    def within(self, reaches: Vector) -> Vector:
        """The share of each sample's invocations within its reach of the median."""
        deviations = np.abs(self.logs - np.median(self.logs, axis=1)[:, np.newaxis])
        shares: Vector = (deviations <= reaches[:, np.newaxis]).mean(axis=1)
        return shares

    def cut_at(self, reaches: Vector, kept: float) -> list[Estimate]:
        """The estimates with known noise: values farther than their reach from the median are clipped. This is one step
        of Huber's estimator (Huber & Ronchetti, Robust Statistics, section 6.7), which loses less than trimming. `kept`
        is the share of values that are not clipped, over all samples: one sample cannot estimate it."""
        if not self.trimmed:
            return self.estimates()
        medians_, bounds = np.median(self.logs, axis=1), reaches[:, np.newaxis]
        parts = np.clip(self.logs - medians_[:, np.newaxis], -bounds, bounds) / kept
        centres = parts.mean(axis=1)
        return _estimates(medians_ + centres, parts - centres[:, np.newaxis], self.logs.shape[1] - 1)


def _estimates(centres: Vector, parts: Matrix, freedom: float) -> list[Estimate]:
    variances = np.where(np.ptp(parts, axis=1) > 0, parts.var(axis=1, ddof=1), 0.0)
    return [
        Estimate(centre, variance, freedom, own)
        for centre, variance, own in zip(centres.tolist(), variances.tolist(), parts, strict=True)
    ]


@dataclass(frozen=True)
class LogMove:
    """A logarithm with its standard error and that error's degrees of freedom."""

    centre: float
    error: float
    freedom: float
    """For the interval."""
    test_freedom: float
    """For tests, which need the outer tails."""

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

    @property
    def ratio(self) -> Ratio:
        return Ratio.of_logs(self.centre, *self.bounds())


@dataclass(frozen=True)
class Pair:
    """The two versions of a cell: one sample of paired log ratios, or one sample of log medians for each version."""

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
    """None with fewer than three invocations, or if a value is zero, which has no ratio.

    If three or more invocations have both versions, only those count, as pairs. The part of a key before the last `/`
    is the job.
    """
    if not before or not after or not all_positive(before, after):
        return None
    shared = sorted(before.keys() & after.keys())
    if len(shared) >= MIN_COMPARED_INVOCATIONS:
        return Pair((Sample(log_ratios(after, before), _jobs(shared), trimmed=True),))
    if min(len(before), len(after)) < MIN_COMPARED_INVOCATIONS:
        return None
    return Pair(tuple(Sample(np.log(medians(version)), _jobs(version), trimmed=False) for version in (before, after)))


def _jobs(keys: Iterable[str]) -> tuple[str, ...]:
    return tuple(key.rpartition("/")[0] for key in keys)


def moves(pairs: Mapping[int, Pair], kinds: Mapping[int, object]) -> dict[int, LogMove]:
    """The move of each cell. Cells of one kind, such as a host kind, share their variances. Paired and unpaired cells
    do not, and neither do the two versions of unpaired cells."""
    groups: dict[object, list[tuple[int, Sample]]] = defaultdict(list)
    for place, cell in pairs.items():
        for version, sample in enumerate(cell.samples):
            groups[kinds[place], cell.paired, version].append((place, sample))
    parts_by_place: dict[int, list[LogMove]] = defaultdict(list)
    for group in groups.values():
        for (place, _), move in zip(group, moderated([sample for _, sample in group]), strict=True):
            parts_by_place[place].append(move)
    return {place: parts[0] if len(parts) == 1 else _difference(*parts) for place, parts in parts_by_place.items()}


def moderated(samples: Sequence[Sample]) -> list[LogMove]:
    """The moves of samples of one kind, with errors from moderated variances and the differences between jobs."""
    kind = _Kind(samples)
    log_moves = _moderated(kind)
    kind.samples = ()
    return list(log_moves)


@lru_cache(maxsize=KINDS_KEPT)
def _moderated(kind: _Kind) -> tuple[LogMove, ...]:
    samples = kind.samples
    alike = _alike(samples)
    estimates = _in_order(alike, [each.estimates() for _, each in alike])
    noise = _moderate(estimates)
    if len(samples) >= MIN_MODERATED:
        reaches = OUTLYING * np.sqrt(noise.variances)
        kept = float(np.mean(_in_order(alike, [each.within(reaches[places]) for places, each in alike])))
        estimates = _in_order(alike, [each.cut_at(reaches[places], kept) for places, each in alike])
        noise = _moderate(estimates)
    jobs = _between_jobs(samples, estimates, noise.variances)
    # Differences between jobs multiply the variance of the mean.
    excess = np.maximum(0, jobs.variances - 1)
    freedoms = (1 + excess) ** 2 / (1 / noise.freedoms + excess**2 / jobs.freedoms)  # Satterthwaite 1946
    freedoms = np.minimum(freedoms, noise.freedoms)
    errors = np.sqrt(noise.variances * (1 + excess) / [len(sample.logs) for sample in samples])
    return tuple(
        LogMove(estimate.centre, error, freedom, freedom)
        for estimate, error, freedom in zip(estimates, errors.tolist(), freedoms.tolist(), strict=True)
    )


def _alike(samples: Sequence[Sample]) -> list[tuple[list[int], Alike]]:
    """The samples of each size with their places."""
    places: dict[tuple[int, bool], list[int]] = defaultdict(list)
    for place, sample in enumerate(samples):
        places[len(sample.logs), sample.trimmed].append(place)
    return [
        (of_size, Alike(np.array([samples[place].logs for place in of_size]), trimmed))
        for (_, trimmed), of_size in places.items()
    ]


def _in_order(alike: Sequence[tuple[list[int], Alike]], values: Sequence[Iterable[Value]]) -> list[Value]:
    """The values of all samples, each at its place."""
    by_place = {
        place: value
        for (places, _), of_size in zip(alike, values, strict=True)
        for place, value in zip(places, of_size, strict=True)
    }
    return [by_place[place] for place in range(len(by_place))]


def _moderate(estimates: Sequence[Estimate]) -> Moderated:
    variances = np.array([estimate.variance for estimate in estimates])
    return moderate(variances, np.array([estimate.freedom for estimate in estimates]))


def _between_jobs(samples: Sequence[Sample], estimates: Sequence[Estimate], variances: Vector) -> Moderated:
    """The mean square between jobs over that of invocations; 1 if jobs do not differ. By the method of moments, the
    excess over 1 is the jobs' own variance (Searle, Casella & McCulloch, Variance Components, section 3.6). A cell with
    two jobs hardly knows it, so it is moderated like the variances."""
    counts = np.array([_numbered(sample.jobs)[0] for sample in samples])
    several = (counts > 1) & (variances > 0)
    ratios, freedoms = np.ones(len(samples)), np.ones(len(samples))
    if several.any():
        between = [_between(estimate, sample.jobs) for sample, estimate in zip(samples, estimates, strict=True)]
        result = moderate((np.array(between) / np.where(several, variances, 1))[several], counts[several] - 1.0)
        ratios[several], freedoms[several] = result.variances, result.freedoms
    return Moderated(ratios, freedoms)


def _between(estimate: Estimate, jobs: tuple[str, ...]) -> float:
    """The mean square between jobs of the contributions to the centre, on the scale of the estimate's variance."""
    names, job = _numbered(jobs)
    variance = float(estimate.parts.var(ddof=1))
    if names < 2 or variance == 0:
        return 0.0
    sums, counts = np.bincount(job, weights=estimate.parts), np.bincount(job)
    square = float((sums**2 / counts).sum()) / (names - 1)
    return square * estimate.variance / variance


@lru_cache(maxsize=1000)
def _numbered(jobs: tuple[str, ...]) -> tuple[int, "np.ndarray[tuple[int], np.dtype[np.int64]]"]:
    """How many jobs there are, and the number of each invocation's job."""
    names, job = np.unique(jobs, return_inverse=True)
    return len(names), job


def _difference(before: LogMove, after: LogMove) -> LogMove:
    """Welch's difference of two means."""
    squares = np.array([before.error, after.error]) ** 2
    centre, error = after.centre - before.centre, float(np.sqrt(squares.sum()))
    freedoms = np.array([before.freedom, after.freedom])
    if error == 0:
        return LogMove(centre, 0.0, float(freedoms.min()), float(freedoms.min()))
    freedom = welch_freedom(squares, freedoms)
    return LogMove(centre, error, freedom, min(freedom, satterthwaite_freedom(squares, freedoms)))
