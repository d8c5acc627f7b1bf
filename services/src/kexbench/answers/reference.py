"""Published figures of a spec, beside what was measured here."""

from collections import defaultdict
from collections.abc import Mapping
from statistics import median

from pydantic import Field

from kexbench.analysis.reference import (
    MeasuredRatio,
    MeasuredRow,
    RatioOrder,
    Swap,
    measured_ratios,
    measured_rows,
    swaps,
)
from kexbench.domain.frozen import Frozen
from kexbench.domain.hosts import HostKind
from kexbench.domain.plans import ReferenceTable
from kexbench.domain.runs import Run
from kexbench.domain.samples import Metric, Side
from kexbench.domain.upgrades import SIDES
from kexbench.store.port import SampleStore, Selection


class ReferenceRowView(Frozen):
    """A case with its published rate. Rates are handshakes per CPU-second, client and server together."""

    case_id: str
    published_rate: float
    published_ratio: float = Field(description="to the baseline's published rate")
    rate: float | None
    rate_low: float | None
    rate_high: float | None
    ratio: float | None = Field(description="to the baseline's measured rate; above 1 is faster")
    ratio_low: float | None
    ratio_high: float | None


class SideCosts(Frozen):
    """Where the CPU time of a handshake goes: medians over invocations, in nanoseconds."""

    client_cpu_ns: float
    server_cpu_ns: float


class SwapView(Frozen):
    """Two cases whose order differs from the published order, with the costs of both sides."""

    faster_here: str
    slower_here: str
    ratio: float = Field(description="of the rates")
    ratio_low: float | None
    ratio_high: float | None
    faster_costs: SideCosts | None = Field(description="null if no invocation measured the sides separately")
    slower_costs: SideCosts | None


class ReferenceColumn(Frozen):
    subject: str
    rows: list[ReferenceRowView]
    swaps: list[SwapView]


class ReferenceTableView(Frozen):
    title: str
    baseline: str
    columns: list[ReferenceColumn] = Field(description="one for each subject")


class ReferenceRatioView(Frozen):
    """A published ratio of two cases' rates, and the one measured here; above 1, the case is the faster one."""

    case_id: str
    relative_to: str
    published_ratio: float
    ratio: float | None = Field(description="null where a case has fewer than three invocations")
    ratio_low: float | None
    ratio_high: float | None
    order: RatioOrder | None = Field(description="whether the case that was faster when published is faster here")


class ReferenceRatioColumn(Frozen):
    subject: str
    rows: list[ReferenceRatioView]


class ReferenceRatiosView(Frozen):
    title: str
    side: Side = Field(description="whose CPU time the measured ratios are of")
    columns: list[ReferenceRatioColumn] = Field(description="one for each subject")


class ReferenceView(Frozen):
    """Published figures and the results measured here."""

    title: str
    notes: str
    tables: list[ReferenceTableView]
    ratios: list[ReferenceRatiosView]


_Levels = dict[str, dict[str, list[float]]]
"""The level of each invocation, by subject and case id."""


def reference_view(store: SampleStore, run: Run, kind: HostKind | None) -> ReferenceView | None:
    """The reference with the rates measured on a host kind; None if the spec has no reference."""
    reference = run.plan.reference
    if reference is None:
        return None
    sides = {side: _levels(store, run, kind, metric) for side, metric in SIDES.items()}
    both = sides["both"]
    return ReferenceView(
        title=reference.title,
        notes=reference.notes,
        tables=[
            ReferenceTableView(
                title=table.title,
                baseline=table.baseline,
                columns=[_column(table, subject, sides) for subject in both],
            )
            for table in reference.tables
        ],
        ratios=[
            ReferenceRatiosView(
                title=ratios.title,
                side=ratios.side,
                columns=[
                    ReferenceRatioColumn(
                        subject=subject,
                        rows=[_ratio(row) for row in measured_ratios(ratios, sides[ratios.side][subject])],
                    )
                    for subject in both
                ],
            )
            for ratios in reference.ratios
        ],
    )


def _levels(store: SampleStore, run: Run, kind: HostKind | None, metric: Metric) -> _Levels:
    levels: _Levels = defaultdict(lambda: defaultdict(list))
    pool, cpu_model = (kind.pool, kind.cpu_model) if kind else (None, None)
    for row in store.samples(Selection(metric, pool, cpu_model, run_id=run.run_id)):
        levels[row.subject.name][row.case.case_id].append(row.level)
    return levels


def _column(table: ReferenceTable, subject: str, sides: Mapping[Side, _Levels]) -> ReferenceColumn:
    both, client, server = (sides[side][subject] for side in SIDES)
    return ReferenceColumn(
        subject=subject,
        rows=[_row(row) for row in measured_rows(table, both)],
        swaps=[_swap(swap, client, server) for swap in swaps(table, both)],
    )


def _ratio(row: MeasuredRatio) -> ReferenceRatioView:
    published, ratio = row.published, row.ratio
    return ReferenceRatioView(
        case_id=published.case_id,
        relative_to=published.relative_to,
        published_ratio=published.ratio,
        ratio=ratio.ratio if ratio else None,
        ratio_low=ratio.low if ratio else None,
        ratio_high=ratio.high if ratio else None,
        order=row.order,
    )


def _row(row: MeasuredRow) -> ReferenceRowView:
    return ReferenceRowView(
        case_id=row.case_id,
        published_rate=row.published_rate,
        published_ratio=row.published_ratio,
        rate=row.rate.value if row.rate else None,
        rate_low=row.rate.low if row.rate else None,
        rate_high=row.rate.high if row.rate else None,
        ratio=row.ratio.ratio if row.ratio else None,
        ratio_low=row.ratio.low if row.ratio else None,
        ratio_high=row.ratio.high if row.ratio else None,
    )


def _swap(swap: Swap, client: dict[str, list[float]], server: dict[str, list[float]]) -> SwapView:
    def costs(case_id: str) -> SideCosts | None:
        if not client[case_id] or not server[case_id]:
            return None
        return SideCosts(client_cpu_ns=median(client[case_id]), server_cpu_ns=median(server[case_id]))

    return SwapView(
        faster_here=swap.faster_here,
        slower_here=swap.slower_here,
        ratio=swap.ratio.ratio,
        ratio_low=swap.ratio.low,
        ratio_high=swap.ratio.high,
        faster_costs=costs(swap.faster_here),
        slower_costs=costs(swap.slower_here),
    )
