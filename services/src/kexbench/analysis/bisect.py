"""Which commit of a history changed what handshakes cost: what is known of it, and what to measure next.

The commits are numbered from 0, which is the good end, to `commits`, which is the bad one. One main step is assumed:
the commits before the first bad one cost nearly what the good end does, from it on nearly what the bad end does. A
commit is measured beside both ends, which says where it lies between them, with a standard error. By Bayes' theorem
that moves the probability of each commit to be the first bad one. Other commits of a real history change the cost a
little too, so the answer says how much of the step the commit accounts for, and names none with half of it or less.

Measuring at the middle of the probability is probabilistic bisection (Horstein, Sequential transmission using
noiseless feedback, 1963; Burnashev & Zigangirov, An interval estimation problem for controlled observations, 1974;
Waeber, Frazier & Henderson, Bisection search with noisy responses, 2013). What is measured next is what tells most for
what it costs, as in git bayesect (Jain 2026), but that a build costs much and another measurement of a build little. It
ends at a probability fixed in advance; a posterior is the same whenever one looks at it (Berger, Statistical Decision
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
"""What code layout alone moves one build by, as a standard deviation: measuring a build again does not average it
away, so no single build is believed beyond it."""
BUILD_COST = 5.0
"""What a build costs, in measurements: whoever doubts a build measures it again before building the next one."""
MOST_READINGS = 8
"""Of one commit. What is still in doubt then is not settled by more."""
READINGS_PER_BUILD = 4
"""Of all commits, for each build that is allowed: the budget, fixed in advance."""
CONTRADICTION = 1e-4
"""A reading on the wrong side of the middle that is less likely than this is no chance."""
MAIN_SHARE = 0.5
"""A commit that accounts for no more of the step is not its cause."""
SPARE_BUILDS = 4
"""Beyond halving: the two ends, and two for what turns out to be doubtful or does not build."""
_NODES = 7
"""Sizes that the likelihood is averaged over, by Gauss and Hermite."""


@dataclass(frozen=True)
class Reading:
    """A trimmed mean of log ratios, its standard error and degrees of freedom."""

    centre: float
    error: float
    freedom: float

    @classmethod
    def of(cls, logs: Sequence[float]) -> Self:
        """Of at least three log ratios, one an invocation."""
        found = trimmed_means(np.array([logs]))
        return cls(float(found.centres[0]), float(found.errors[0]), found.freedom)


@dataclass(frozen=True)
class Evidence:
    """All measurements of one case: `step` is the bad end against the good one, `places` the commits between them,
    each against the middle of the two ends. With equal noise the two are uncorrelated."""

    step: Reading
    places: Mapping[int, Reading]


@dataclass(frozen=True)
class Search:
    """What is known. `readings` says how often each commit between the ends that was built was measured, `failed` are
    those that cannot be built or measured, `builds` is how many may be built, the ends among them."""

    commits: int
    cases: tuple[Evidence, ...]
    readings: Mapping[int, int]
    failed: frozenset[int]
    builds: int


@dataclass(frozen=True)
class Try:
    """Measure this commit, and build it if it isn't yet."""

    commit: int


@dataclass(frozen=True)
class Found:
    """The first bad commit is one of `first` to `last`: of several where all but the last one cannot be built. The
    measured commits `against` lie on the other side of the middle than this says: the cost went up and down."""

    first: int
    last: int
    probability: float
    against: tuple[int, ...] = ()


@dataclass(frozen=True)
class Unsure:
    """No commit can be named. `spent`: builds or measurements are used up; `split`: no commit accounts for more than
    half of the step. With probability SURE the first one beyond the middle is one of `first` to `last`."""

    why: Literal["spent", "split"]
    first: int
    last: int


@dataclass(frozen=True)
class Parts:
    """What the commits before `first`, those from `first` to `last`, and those behind add to the cost, each as a share
    of the good end's cost: 0.02 is 2%. Without a measured commit in between, neighbouring parts are one.

    `below` and `above` are the measured commits, or ends, that enclose `first` to `last`.
    """

    below: int
    above: int
    before: float
    between: float
    behind: float

    @property
    def share(self) -> float:
        """Of the whole step."""
        return self.between / (self.before + self.between + self.behind)


Next: TypeAlias = Try | Found | Unsure


def most_builds(commits: int) -> int:
    """How many builds a search among so many commits behind the good end may have, the ends included."""
    return int(np.ceil(np.log2(commits))) + SPARE_BUILDS


def changes(steps: Sequence[Reading]) -> tuple[bool, ...]:
    """Of each case, whether the ends differ: by as much as any comparison calls a change, and by a test at ALPHA over
    all cases (Bonferroni). One look, at a number of invocations that was fixed before."""
    found = [LogMove(step.centre, step.error, step.freedom, step.freedom) for step in steps]
    return tuple(has_moved(step, step.chance, ALPHA / len(steps), RELEVANT) for step in found)


def posterior(search: Search) -> Vector:
    """The probability of each commit from 1 to `commits` to be the first bad one; all are equal beforehand.

    Around what a commit would cost, its reading has a t distribution. What noise and code layout leave open of the step
    and of the middle, the same for all commits of a case, is averaged out.
    """
    firsts = np.arange(1, search.commits + 1)
    found = np.zeros(search.commits)
    for case in search.cases:
        steps, middles, weights = _sizes(case.step)
        logs = np.repeat(np.log(weights)[:, np.newaxis], search.commits, axis=1)
        for commit, place in case.places.items():
            bad, good = (_log_density(place, side * steps / 2 + middles)[:, np.newaxis] for side in (1, -1))
            logs += np.where(firsts <= commit, bad, good)
        found += scipy.special.logsumexp(logs, axis=0)
    return np.exp(found - scipy.special.logsumexp(found))


def next_step(search: Search) -> Next:
    """What to do next, or what the search has come to."""
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
    """What a measurement of each commit tells for what it costs. `reached` is the probability that it is bad."""
    may_build = len(search.readings) + 2 < search.builds
    told = scipy.special.entr(reached) + scipy.special.entr(np.maximum(0, 1 - reached))
    worth = {}
    for commit in range(1, search.commits):
        if commit in search.failed:
            continue
        if commit in search.readings:
            if search.readings[commit] < MOST_READINGS:
                worth[commit] = float(told[commit - 1])
        elif may_build:
            worth[commit] = float(told[commit - 1]) * _builds(search, commit) / BUILD_COST
    return worth


def _builds(search: Search, commit: int) -> float:
    """How likely a commit can be built: the less, the nearer it is to one that cannot. Only their order matters, so
    that a long stretch of broken commits is left in long strides."""
    if not search.failed:
        return 1.0
    distance = min(abs(commit - failed) for failed in search.failed)
    return distance / (distance + search.commits / 32)


def _groups(search: Search) -> list[tuple[int, int]]:
    """First bad commits that nothing tells apart: of the commits from `first` to `last` all but the last cannot be
    built."""
    lasts = [commit for commit in range(1, search.commits + 1) if commit not in search.failed]
    return list(zip([1, *(last + 1 for last in lasts[:-1])], lasts, strict=True))


def parts_of(case: Evidence, commits: int, first: int, last: int) -> Parts:
    """What of the step of a case lies before, within and behind the commits `first` to `last`. A part before or behind
    that is no larger than its own noise is none, and counts to what is within."""
    known = (0, *case.places, commits)
    below = max(commit for commit in known if commit < first)
    above = min(commit for commit in known if commit >= last)
    whole = float(np.expm1(case.step.centre))
    before = _part(case, below, end=0.0) if below else 0.0
    behind = -_part(case, above, end=case.step.centre) if above != commits else 0.0
    return Parts(below, above, before, whole - before - behind, behind)


def _part(case: Evidence, commit: int, end: float) -> float:
    """What a measured commit costs beyond an end, which is at the log cost `end`, relative to the good end's cost; 0
    where a t test at ALPHA finds no difference."""
    place = case.places[commit]
    log = place.centre + case.step.centre / 2
    error = np.hypot(_scale(place), case.step.error / 2)
    if abs(log - end) <= scipy.special.stdtrit(place.freedom, 1 - ALPHA / 2) * error:
        return 0.0
    return float(np.expm1(log) - np.expm1(end))


def _main(search: Search) -> Evidence:
    """The case with the largest step, which says best how much of it a commit accounts for."""
    return max(search.cases, key=lambda case: abs(case.step.centre))


def _against(search: Search, first: int, last: int) -> tuple[int, ...]:
    """The commits with a reading on the wrong side of the middle, and beyond chance, in the main case."""
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
    """Sizes that the step may have, with places of the middle between good and bad commits, and how likely each is: the
    ends have layouts of their own, which move the difference between them and their middle."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
    steps, middles = np.meshgrid(
        step.centre + np.hypot(step.error, np.sqrt(2) * LAYOUT_SD) * nodes, LAYOUT_SD / np.sqrt(2) * nodes
    )
    likely = np.outer(weights, weights)
    return steps.ravel(), middles.ravel(), (likely / likely.sum()).ravel()


def _spent(chances: Vector) -> Unsure:
    """With the narrowest middle part of the commits that has the probability SURE."""
    reached = np.cumsum(chances)
    first, last = (int(np.searchsorted(reached, tail)) + 1 for tail in ((1 - SURE) / 2, (1 + SURE) / 2))
    return Unsure("spent", first, min(last, len(chances)))


def _scale(place: Reading) -> float:
    return float(np.hypot(place.error, LAYOUT_SD))


def _log_density(place: Reading, centres: Vector) -> Vector:
    """The log density of a reading's t distribution around each centre, but for a constant."""
    far = (place.centre - centres) / _scale(place)
    return np.asarray(-(place.freedom + 1) / 2 * np.log1p(far**2 / place.freedom))
