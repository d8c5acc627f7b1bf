"""Finds the commit of a history that changed the cost of handshakes: what is known, and what to measure next.

Commits are numbered from 0, the good end, to `commits`, the bad end. One main step is assumed: commits before the first
bad one cost nearly as much as the good end, later ones nearly as much as the bad end. Measuring a commit with both ends
places it between them, with a standard error. By Bayes' theorem this updates each commit's probability of being the
first bad one. Other commits of a real history change the cost a little too. So the answer states the commit's share of
the step, and names no commit with half of it or less.

Measuring at the middle of the probability is probabilistic bisection (Horstein, Sequential transmission using
noiseless feedback, 1963; Burnashev & Zigangirov, An interval estimation problem for controlled observations, 1974;
Waeber, Frazier & Henderson, Bisection search with noisy responses, 2013). The next measurement has the most information
for its cost, as in git bayesect (Jain 2026), but a first measurement includes an expensive build. The search ends at a
probability fixed in advance; a posterior does not depend on how often one looks at it (Berger, Statistical Decision
Theory and Bayesian Analysis, 1985, section 7.7).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Self, TypeAlias

import numpy as np
import scipy

from kexbench.analysis.detectable import ALPHA
from kexbench.analysis.estimates import trimmed_means
from kexbench.analysis.moves import LogMove
from kexbench.analysis.rounds import Vector
from kexbench.analysis.verdict import has_moved
from kexbench.domain.verdicts import RELEVANT

SURE = 0.99
"""The probability at which the search ends."""
LAYOUT_SD = 0.001
"""The standard deviation of a build's cost due to code layout. Repeated measurements of a build do not average it
away."""
BUILD_COST = 5.0
"""The cost of a build, in measurements. A doubtful build is measured again before the next one is built."""
MOST_READINGS = 8
"""The measurements of one commit. More would not resolve a remaining doubt."""
READINGS_PER_BUILD = 4
"""The budget of measurements for each allowed build, fixed in advance."""
CONTRADICTION = 1e-4
"""A reading on the wrong side of the middle with a smaller probability than this is a contradiction."""
MAIN_SHARE = 0.5
"""A commit with no larger share of the step is not its cause."""
SPARE_BUILDS = 4
"""Builds beyond halving: the two ends, and two for commits that are doubtful or do not build."""
_NODES = 7
"""The nodes of the Gauss-Hermite quadrature of the likelihood."""


@dataclass(frozen=True)
class Reading:
    """A trimmed mean of log ratios, its standard error and degrees of freedom."""

    centre: float
    error: float
    freedom: float

    @classmethod
    def of(cls, logs: Sequence[float]) -> Self:
        """From at least three log ratios, one per invocation."""
        means = trimmed_means(np.array([logs]))
        return cls(float(means.centres[0]), float(means.errors[0]), means.freedom)


@dataclass(frozen=True)
class Evidence:
    """All measurements of one case: `step` is the bad end relative to the good one, `places` are the commits between
    them relative to the middle of the ends. With equal noise the two are uncorrelated."""

    step: Reading
    places: Mapping[int, Reading]


@dataclass(frozen=True)
class Search:
    """The state of a search. `readings`: how often each built commit between the ends was measured. `failed`: commits
    that cannot be built or measured. `builds`: how many may be built, including the ends."""

    commits: int
    cases: tuple[Evidence, ...]
    readings: Mapping[int, int]
    failed: frozenset[int]
    builds: int


@dataclass(frozen=True)
class Try:
    """Measure this commit, and build it if necessary."""

    commit: int


@dataclass(frozen=True)
class Found:
    """The first bad commit is one of `first` to `last`; all but the last of these cannot be built. The measured commits
    `against` contradict this: the cost went up and down."""

    first: int
    last: int
    probability: float
    against: tuple[int, ...] = ()


@dataclass(frozen=True)
class Unsure:
    """No commit can be named. `spent`: no builds or measurements are left. `split`: no commit accounts for more than
    half of the step. With probability SURE, the first commit beyond the middle is one of `first` to `last`."""

    why: Literal["spent", "split"]
    first: int
    last: int


@dataclass(frozen=True)
class Parts:
    """What the commits before, within and after `first` to `last` add to the cost, as shares of the good end's cost.
    Without a measured commit in between, neighbouring parts are one.

    `below` and `above` are the measured commits, or ends, that enclose `first` to `last`.
    """

    below: int
    above: int
    before: float
    between: float
    behind: float

    @property
    def share(self) -> float:
        """The share of the whole step."""
        return self.between / (self.before + self.between + self.behind)


Next: TypeAlias = Try | Found | Unsure


def most_builds(commits: int) -> int:
    """The builds allowed for a search among `commits` commits after the good end, including the ends."""
    return int(np.ceil(np.log2(commits))) + SPARE_BUILDS


def changes(steps: Sequence[Reading]) -> tuple[bool, ...]:
    """Whether the ends differ in each case: by a relevant change, and by a test at ALPHA over all cases (Bonferroni).
    It is tested once, with a number of invocations fixed in advance."""
    moves = [LogMove(step.centre, step.error, step.freedom, step.freedom) for step in steps]
    return tuple(has_moved(move, move.chance, ALPHA / len(steps), RELEVANT) for move in moves)


def posterior(search: Search) -> Vector:
    """The probability of each commit from 1 to `commits` of being the first bad one. The prior is uniform.

    The reading of a commit has a t distribution around its cost. The uncertainty of the step and the middle, which all
    commits of a case share, is averaged out.
    """
    firsts = np.arange(1, search.commits + 1)
    total = np.zeros(search.commits)
    for case in search.cases:
        steps, middles, weights = _sizes(case.step)
        logs = np.repeat(np.log(weights)[:, np.newaxis], search.commits, axis=1)
        for commit, place in case.places.items():
            bad, good = (_log_density(place, side * steps / 2 + middles)[:, np.newaxis] for side in (1, -1))
            logs += np.where(firsts <= commit, bad, good)
        total += scipy.special.logsumexp(logs, axis=0)
    return np.exp(total - scipy.special.logsumexp(total))


def next_step(search: Search) -> Next:
    """The next measurement, or the result of the search."""
    chances = posterior(search)
    groups = _groups(search)
    masses = [float(chances[first - 1 : last].sum()) for first, last in groups]
    best = int(np.argmax(masses))
    if masses[best] >= SURE:
        first, last = groups[best]
        if parts_of(_main(search), search.commits, first, last).share <= MAIN_SHARE:
            return Unsure("split", first, last)
        return Found(first, last, masses[best], _against(search, first, last))
    worth = _worth(search, np.cumsum(chances))
    if not worth or sum(search.readings.values()) >= READINGS_PER_BUILD * search.builds:
        return _spent(chances)
    return Try(max(worth, key=lambda commit: worth[commit]))


def _worth(search: Search, reached: Vector) -> dict[int, float]:
    """The information of a measurement of each commit for its cost. `reached`: the probability that it is bad."""
    may_build = len(search.readings) + 2 < search.builds
    information = scipy.special.entr(reached) + scipy.special.entr(np.maximum(0, 1 - reached))
    worth = {}
    for commit in range(1, search.commits):
        if commit in search.failed:
            continue
        if commit in search.readings:
            if search.readings[commit] < MOST_READINGS:
                worth[commit] = float(information[commit - 1])
        elif may_build:
            worth[commit] = float(information[commit - 1]) * _build_chance(search, commit) / BUILD_COST
    return worth


def _build_chance(search: Search, commit: int) -> float:
    """A weight for the chance that a commit builds, smaller near commits that do not. So the search leaves a long range
    of broken commits in large steps."""
    if not search.failed:
        return 1.0
    distance = min(abs(commit - failed) for failed in search.failed)
    return distance / (distance + search.commits / 32)


def _groups(search: Search) -> list[tuple[int, int]]:
    """Ranges of first bad commits that no measurement distinguishes: of `first` to `last`, only the last one can be
    built."""
    lasts = [commit for commit in range(1, search.commits + 1) if commit not in search.failed]
    return list(zip([1, *(last + 1 for last in lasts[:-1])], lasts, strict=True))


def parts_of(case: Evidence, commits: int, first: int, last: int) -> Parts:
    """The parts of a case's step before, within and after the commits `first` to `last`. A part before or after them
    that is within its noise counts as 0, and belongs to the part within."""
    measured = (0, *case.places, commits)
    below = max(commit for commit in measured if commit < first)
    above = min(commit for commit in measured if commit >= last)
    whole = float(np.expm1(case.step.centre))
    before = _part(case, below, end=0.0) if below else 0.0
    behind = -_part(case, above, end=case.step.centre) if above != commits else 0.0
    return Parts(below, above, before, whole - before - behind, behind)


def _part(case: Evidence, commit: int, end: float) -> float:
    """The cost of a measured commit beyond an end at the log cost `end`, relative to the good end's cost. 0 if a t test
    at ALPHA finds no difference."""
    place = case.places[commit]
    log = place.centre + case.step.centre / 2
    error = np.hypot(_scale(place), case.step.error / 2)
    if abs(log - end) <= scipy.special.stdtrit(place.freedom, 1 - ALPHA / 2) * error:
        return 0.0
    return float(np.expm1(log) - np.expm1(end))


def _main(search: Search) -> Evidence:
    """The case with the largest step, which measures the share of a commit best."""
    return max(search.cases, key=lambda case: abs(case.step.centre))


def _against(search: Search, first: int, last: int) -> tuple[int, ...]:
    """The commits whose reading in the main case lies on the wrong side of the middle beyond chance."""
    case = _main(search)
    direction = np.sign(case.step.centre)
    wrong = []
    for commit, place in sorted(case.places.items()):
        side = direction * place.centre / np.hypot(_scale(place), LAYOUT_SD)
        if first <= commit < last or (side > 0) == (commit >= last):
            continue
        if scipy.special.stdtr(place.freedom, -abs(side)) < CONTRADICTION:
            wrong.append(commit)
    return tuple(wrong)


def _sizes(step: Reading) -> tuple[Vector, Vector, Vector]:
    """Possible sizes of the step, places of the middle between good and bad commits, and their probabilities. The code
    layouts of the ends move both the step and the middle."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
    steps, middles = np.meshgrid(
        step.centre + np.hypot(step.error, np.sqrt(2) * LAYOUT_SD) * nodes, LAYOUT_SD / np.sqrt(2) * nodes
    )
    products = np.outer(weights, weights)
    return steps.ravel(), middles.ravel(), (products / products.sum()).ravel()


def _spent(chances: Vector) -> Unsure:
    """The central range of commits with probability SURE."""
    reached = np.cumsum(chances)
    first, last = (int(np.searchsorted(reached, tail)) + 1 for tail in ((1 - SURE) / 2, (1 + SURE) / 2))
    return Unsure("spent", first, min(last, len(chances)))


def _scale(place: Reading) -> float:
    return float(np.hypot(place.error, LAYOUT_SD))


def _log_density(place: Reading, centres: Vector) -> Vector:
    """The log density of a reading's t distribution around each centre, up to a constant."""
    t = (place.centre - centres) / _scale(place)
    return np.asarray(-(place.freedom + 1) / 2 * np.log1p(t**2 / place.freedom))
