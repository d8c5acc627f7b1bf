"""Measured tables beside published ones: rates, ratios to a baseline case, and where the order differs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kexbench.analysis.estimates import MedianEstimate, RatioEstimate, compare, estimate_median
from kexbench.analysis.moves import LogMove, pair
from kexbench.analysis.rounds import Batches
from kexbench.analysis.verdict import judge_pairs
from kexbench.domain.plans import ReferenceTable

NS_PER_SECOND = 1e9


_ITSELF = RatioEstimate(1.0, 1.0, 1.0, paired=True)
"""The baseline's ratio to itself, which no noise is in."""


@dataclass(frozen=True)
class Rate:
    """Handshakes per CPU-second, client and server together, with the interval of the median."""

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
    """Of rates: above 1 is faster than the baseline."""


@dataclass(frozen=True)
class Swap:
    """Two rows whose order differs from the published one, beyond the intervals."""

    faster_here: str
    slower_here: str
    ratio: RatioEstimate


def rate_of(estimate: MedianEstimate) -> Rate:
    """A cost in nanoseconds as a rate; the bounds change places."""
    return Rate(
        NS_PER_SECOND / estimate.value,
        NS_PER_SECOND / estimate.high if estimate.high else None,
        NS_PER_SECOND / estimate.low if estimate.low else None,
    )


def rate_ratio(case: Sequence[float], baseline: Sequence[float]) -> RatioEstimate | None:
    """How many times the baseline's rate a case has. Cases run in sets of their own, so nothing is paired."""
    return compare(_unpaired("baseline", baseline), _unpaired("case", case))


def _unpaired(name: str, levels: Sequence[float]) -> Batches:
    return {f"{name} {index}": (value,) for index, value in enumerate(levels)}


def _usable(levels: Mapping[str, Sequence[float]], case_id: str) -> Sequence[float] | None:
    """The levels of a case, or None where there are none or one is zero, which gives no rate."""
    found = levels.get(case_id)
    return found if found and min(found) > 0 else None


def measured_rows(table: ReferenceTable, levels: Mapping[str, Sequence[float]]) -> list[MeasuredRow]:
    """`levels`: CPU nanoseconds of each invocation, by case id, of one subject."""
    published = {row.case_id: row.rate for row in table.rows}
    baseline = _usable(levels, table.baseline)
    rows = []
    for row in table.rows:
        found = _usable(levels, row.case_id)
        ratio = rate_ratio(found, baseline) if found and baseline else None
        rows.append(
            MeasuredRow(
                case_id=row.case_id,
                published_rate=row.rate,
                published_ratio=row.rate / published[table.baseline],
                rate=rate_of(estimate_median(found)) if found else None,
                ratio=_ITSELF if ratio and row.case_id == table.baseline else ratio,
            )
        )
    return rows


def swaps(table: ReferenceTable, levels: Mapping[str, Sequence[float]]) -> list[Swap]:
    """Every pair of rows that stands the other way round than published, judged together."""
    asked = [
        (slower.case_id, faster.case_id)
        for slower in table.rows
        for faster in table.rows
        if slower.rate < faster.rate and slower.case_id in levels and faster.case_id in levels
    ]
    pairs = {
        place: found
        for place, (slower, faster) in enumerate(asked)
        if (found := pair(_unpaired(slower, levels[slower]), _unpaired(faster, levels[faster])))
    }
    return [
        Swap(*asked[place], _ratio_of(judged.move))
        for place, judged in judge_pairs(pairs, dict.fromkeys(pairs), {}).items()
        if judged.verdict == "more"
    ]


def _ratio_of(move: LogMove) -> RatioEstimate:
    ratio, low, high = (float(value) for value in np.exp([move.centre, *move.bounds()]))
    return RatioEstimate(ratio, low, high, paired=False)
