"""Measured figures compared with published ones: rates, ratios of two cases, and changed orders."""

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import Field

from kexbench.analysis.estimates import compare, estimate_median
from kexbench.analysis.moves import pair
from kexbench.analysis.rounds import Batches
from kexbench.analysis.verdict import judge_pairs
from kexbench.domain.frozen import Frozen
from kexbench.domain.intervals import ITSELF, Estimate, Ratio
from kexbench.domain.plans import ReferenceRatio, ReferenceRatios, ReferenceTable
from kexbench.domain.upgrades import CellVerdict

NS_PER_SECOND = 1e9


class MeasuredRow(Frozen):
    """A case with its published rate. Rates are handshakes per CPU-second, client and server together."""

    case_id: str
    published_rate: float
    published_ratio: float = Field(description="to the baseline's published rate")
    rate: Estimate | None
    ratio: Ratio | None = Field(description="to the baseline's measured rate; above 1 is faster")


RatioOrder = Literal["as published", "opposite", "unresolved"]
"""Whether the case that is faster in the published figures is proven to be faster here, or to be slower."""


class MeasuredRatio(Frozen):
    """A published ratio of two cases' rates, and the one measured here; above 1, the case is the faster one."""

    case_id: str
    relative_to: str
    published_ratio: float
    ratio: Ratio | None = Field(description="null where a case has fewer than three invocations")
    order: RatioOrder | None = Field(
        description="whether the case that was faster when published is faster here; null without a ratio, and where "
        "the published figures are equal"
    )


class Swap(Frozen):
    """Two cases whose order differs from the published order, beyond the intervals."""

    faster_here: str
    slower_here: str
    ratio: Ratio = Field(description="of the rates")


def rate_of(estimate: Estimate) -> Estimate:
    """A cost in nanoseconds as a rate; the bounds are swapped."""
    return Estimate(
        value=NS_PER_SECOND / estimate.value,
        low=NS_PER_SECOND / estimate.high if estimate.high else None,
        high=NS_PER_SECOND / estimate.low if estimate.low else None,
        invocations=estimate.invocations,
    )


def rate_ratio(case: Sequence[float], baseline: Sequence[float]) -> Ratio | None:
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
                ratio=ITSELF if ratio and row.case_id == table.baseline else ratio,
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
        MeasuredRatio(
            case_id=row.case_id,
            relative_to=row.relative_to,
            published_ratio=row.ratio,
            ratio=judged[place].move.ratio if place in judged else None,
            order=_order(row, judged[place].verdict) if place in judged else None,
        )
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
        Swap(faster_here=ordered[place][0], slower_here=ordered[place][1], ratio=judged.move.ratio)
        for place, judged in judge_pairs(pairs, dict.fromkeys(pairs), {}).items()
        if judged.verdict == "more"
    ]
