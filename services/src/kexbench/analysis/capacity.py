"""What a mix of connections costs a server, and how that changes with a library version or with other cases.

The cost of a mix is a weighted sum of its parts' costs. Its error is the delta method's (Casella & Berger, Statistical
Inference, section 5.5.4): on a log scale, the first-order weight of a part is its share of the CPU time. Cases run in
invocations of their own, so parts are independent and their squared errors add up. The degrees of freedom are those of
Welch's series, for as many lists as there are parts (analysis/welch.py).

All values are logarithms, as in `analysis.moves`. A cost with fewer than three invocations has an unknown error, which
is infinite here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, log

import numpy as np

from kexbench.analysis.compared import Judged
from kexbench.analysis.detectable import detectable_change
from kexbench.analysis.estimates import MIN_COMPARED_INVOCATIONS
from kexbench.analysis.moves import LogMove, Sample, moderated
from kexbench.analysis.rounds import Batches, Vector, log_ratios
from kexbench.analysis.verdict import verdict_of
from kexbench.analysis.welch import satterthwaite_freedom, welch_freedom
from kexbench.domain.verdicts import RELEVANT

Levels = Mapping[str, float]
"""The cost of a handshake or connection in each invocation, by `run/job/invocation`."""


@dataclass(frozen=True)
class ChangedPart:
    """A part of a mix, before and after an upgrade."""

    share: float
    before: LogMove
    move: LogMove
    """As the upgrade's comparison has it."""
    correlation: float
    """Of the errors of `move` and `before`."""
    floor: float = 0.0
    """The known difference between two builds of one source, as a share."""


def log_costs(parts: Sequence[Levels]) -> list[LogMove]:
    """The cost of each part, with variances moderated over the parts, which share their noise."""
    samples = {
        place: Sample(np.log(list(levels.values())), tuple(unit.rpartition("/")[0] for unit in levels), trimmed=True)
        for place, levels in enumerate(parts)
        if len(levels) >= MIN_COMPARED_INVOCATIONS
    }
    known = dict(zip(samples, moderated(list(samples.values())) if samples else (), strict=True))
    return [known.get(place) or _unknown(levels) for place, levels in enumerate(parts)]


def _unknown(levels: Levels) -> LogMove:
    return LogMove(float(np.log(list(levels.values())).mean()), inf, 1.0, 1.0)


def mix_cost(shares: Sequence[float], costs: Sequence[LogMove]) -> LogMove:
    """The cost of a connection, averaged over the mix."""
    loads, total = _loads(shares, costs)
    return _sum(total, list(zip(loads, costs, strict=True)))


def load_shares(shares: Sequence[float], costs: Sequence[LogMove]) -> list[float]:
    """The share of each part in the CPU time."""
    return list(_loads(shares, costs)[0])


def other_parts(shares: Sequence[float], against: Sequence[float], costs: Sequence[LogMove]) -> LogMove:
    """The cost of a mix relative to that of other shares of the same cases. Errors of common parts cancel out."""
    (loads, total), (others, before) = _loads(shares, costs), _loads(against, costs)
    weights = [load - other for load, other in zip(loads, others, strict=True)]
    return _sum(total - before, list(zip(weights, costs, strict=True)))


def upgraded(parts: Sequence[ChangedPart]) -> LogMove:
    """The cost of a mix after an upgrade, relative to the cost before.

    If `w` and `v` are a part's shares of the CPU time before and after, the change of the log total is the sum of
    v (change of the part) + (v - w) (error of its cost before).
    """
    shares = [part.share for part in parts]
    before, first = _loads(shares, [part.before for part in parts])
    after, second = _loads(shares, [LogMove(part.before.centre + part.move.centre, 0.0, 1.0, 1.0) for part in parts])
    terms, covariance = [], 0.0
    for part, load, later in zip(parts, before, after, strict=True):
        shift = later - load
        terms += [(later, part.move), (shift, part.before)]
        if part.correlation and shift:
            covariance += 2 * later * shift * part.correlation * part.move.error * part.before.error
    return _sum(second - first, terms, covariance)


def correlation_of(before: Levels, batches: tuple[Batches, Batches], move: LogMove, cost: LogMove) -> float:
    """The correlation of the errors of a part's change and of its cost before. `batches` are those before and after,
    with the keys of `before`. Without pairs, the cost before is one of the two costs that make the change."""
    older, newer = batches
    shared = sorted(older.keys() & newer.keys() & before.keys())
    if len(shared) < MIN_COMPARED_INVOCATIONS:
        return -min(1.0, cost.error / move.error) if move.error > 0 and cost.error < inf else 0.0
    ratios = log_ratios({unit: newer[unit] for unit in shared}, {unit: older[unit] for unit in shared})
    costs = np.log([before[unit] for unit in shared])
    if np.ptp(ratios) == 0 or np.ptp(costs) == 0:
        return 0.0
    return float(np.corrcoef(ratios, costs)[0, 1])


def judge_upgrade(parts: Sequence[ChangedPart], relevant: float = RELEVANT) -> Judged:
    """The verdict of a mix, whose floor is the mean of its parts' floors by their CPU time."""
    loads, _ = _loads([part.share for part in parts], [part.before for part in parts])
    floor = sum(load * part.floor for load, part in zip(loads, parts, strict=True))
    return judge_alone(upgraded(parts), floor, relevant)


def judge_alone(move: LogMove, floor: float = 0.0, relevant: float = RELEVANT) -> Judged:
    """The verdict of a single comparison, so its q is its p value."""
    resolves = max(floor, detectable_change(move.error, move.test_freedom)) if move.error < inf else inf
    return Judged(move, move.chance, resolves, verdict_of(move, move.chance, resolves, relevant))


def _loads(shares: Sequence[float], costs: Sequence[LogMove]) -> tuple[Vector, float]:
    """The share of each part in the CPU time, and the log of the whole."""
    values = np.array(shares) * np.exp([cost.centre for cost in costs])
    return values / values.sum(), log(values.sum())


def _sum(centre: float, terms: Sequence[tuple[float, LogMove]], covariance: float = 0.0) -> LogMove:
    """A sum of weighted terms, by their errors."""
    used = [(weight, term) for weight, term in terms if weight and term.error]
    if any(term.error == inf for _, term in used):
        return LogMove(centre, inf, 1.0, 1.0)
    if not used:
        return LogMove(centre, 0.0, 1.0, 1.0)
    squares = np.array([(weight * term.error) ** 2 for weight, term in used])
    freedom = welch_freedom(squares, np.array([term.freedom for _, term in used]))
    tests = satterthwaite_freedom(squares, np.array([term.test_freedom for _, term in used]))
    error = float(np.sqrt(max(0.0, squares.sum() + covariance)))
    return LogMove(centre, error, freedom, min(freedom, tests))
