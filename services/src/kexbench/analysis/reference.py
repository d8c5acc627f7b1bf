"""Measured figures compared with published ones: rates, ratios of two cases, and changed orders."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from kexbench.analysis.estimates import MedianEstimate, RatioEstimate, compare, estimate_median
from kexbench.analysis.moves import LogMove, pair
from kexbench.analysis.rounds import Batches
from kexbench.analysis.verdict import judge_pairs
from kexbench.domain.plans import ReferenceRatio, ReferenceRatios, ReferenceTable
from kexbench.domain.upgrades import CellVerdict

NS_PER_SECOND = 1e9
_ITSELF = RatioEstimate(1.0, 1.0, 1.0, paired=True)
"""The ratio of the baseline to itself, which has no noise."""


@dataclass(frozen=True)
class Rate:
    """Handshakes per CPU second of client and server together, with the interval of the median."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class MeasuredRow:
    case_id: str
    published_rate: float
    published_ratio: float
    rate: Rate | None
    ratio: RatioEstimate | None
    """The ratio of rates: above 1 is faster than the baseline."""


RatioOrder = Literal["as published", "opposite", "unresolved"]
"""Whether the case that is faster in the published figures is proven to be faster here, or to be slower."""


@dataclass(frozen=True)
class MeasuredRatio:
    published: ReferenceRatio
    ratio: RatioEstimate | None
    """Of the rates, as published; None where a case has too few invocations."""
    order: RatioOrder | None
    """None without a ratio, and where the published figures are equal."""


@dataclass(frozen=True)
class Swap:
    """Two rows whose order differs from the published one, beyond the intervals."""

    faster_here: str
    slower_here: str
    ratio: RatioEstimate


def rate_of(estimate: MedianEstimate) -> Rate:
    """A cost in nanoseconds as a rate; the bounds are swapped."""
    return Rate(
        NS_PER_SECOND / estimate.value,
        NS_PER_SECOND / estimate.high if estimate.high else None,
        NS_PER_SECOND / estimate.low if estimate.low else None,
    )


def rate_ratio(case: Sequence[float], baseline: Sequence[float]) -> RatioEstimate | None:
    """The rate of a case relative to the baseline's. Cases run in separate invocations, so nothing is paired."""
    return compare(_unpaired("baseline", baseline), _unpaired("case", case))


def _unpaired(name: str, levels: Sequence[float]) -> Batches:
    return {f"{name} {index}": (value,) for index, value in enumerate(levels)}


def _usable(levels: Mapping[str, Sequence[float]], case_id: str) -> Sequence[float] | None:
    """The levels of a case. None if there are none, or one is zero, which has no rate."""
    values = levels.get(case_id)
    return values if values and min(values) > 0 else None


def measured_rows(table: ReferenceTable, levels: Mapping[str, Sequence[float]]) -> list[MeasuredRow]:
    """`levels`: CPU nanoseconds of each invocation, by case id, of one subject."""
    published = {row.case_id: row.rate for row in table.rows}
    baseline = _usable(levels, table.baseline)
    rows = []
    for row in table.rows:
        costs = _usable(levels, row.case_id)
        ratio = rate_ratio(costs, baseline) if costs and baseline else None
        rows.append(
            MeasuredRow(
                case_id=row.case_id,
                published_rate=row.rate,
                published_ratio=row.rate / published[table.baseline],
                rate=rate_of(estimate_median(costs)) if costs else None,
                ratio=_ITSELF if ratio and row.case_id == table.baseline else ratio,
            )
        )
    return rows


def measured_ratios(published: ReferenceRatios, levels: Mapping[str, Sequence[float]]) -> list[MeasuredRatio]:
    """`levels`: CPU nanoseconds of each invocation, on the side of the figures, by case id, of one subject. All ratios
    are judged together."""
    pairs = {}
    for place, row in enumerate(published.rows):
        case, other = _usable(levels, row.case_id), _usable(levels, row.relative_to)
        # The cost of the other divided by the case's is the ratio of their rates.
        if case and other and (compared := pair(_unpaired(row.case_id, case), _unpaired(row.relative_to, other))):
            pairs[place] = compared
    judged = judge_pairs(pairs, dict.fromkeys(pairs), {})
    return [
        MeasuredRatio(row, None, None)
        if place not in judged
        else MeasuredRatio(row, _ratio_of(judged[place].move), _order(row, judged[place].verdict))
        for place, row in enumerate(published.rows)
    ]


def _order(row: ReferenceRatio, verdict: CellVerdict) -> RatioOrder | None:
    """`verdict` is of the other's cost relative to the case's, so `more` means that the case is faster."""
    if row.ratio == 1:
        return None
    if verdict not in ("more", "less"):
        return "unresolved"
    return "as published" if (verdict == "more") == (row.ratio > 1) else "opposite"


def swaps(table: ReferenceTable, levels: Mapping[str, Sequence[float]]) -> list[Swap]:
    """The pairs of rows in the opposite order than published, judged together."""
    ordered = [
        (slower.case_id, faster.case_id)
        for slower in table.rows
        for faster in table.rows
        if slower.rate < faster.rate and slower.case_id in levels and faster.case_id in levels
    ]
    pairs = {
        place: case_pair
        for place, (slower, faster) in enumerate(ordered)
        if (case_pair := pair(_unpaired(slower, levels[slower]), _unpaired(faster, levels[faster])))
    }
    return [
        Swap(*ordered[place], _ratio_of(judged.move))
        for place, judged in judge_pairs(pairs, dict.fromkeys(pairs), {}).items()
        if judged.verdict == "more"
    ]


def _ratio_of(move: LogMove) -> RatioEstimate:
    ratio, low, high = (float(value) for value in np.exp([move.centre, *move.bounds()]))
    return RatioEstimate(ratio, low, high, paired=False)
