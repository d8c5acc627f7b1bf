"""A run's reference tables: what its spec says was published, beside what the run measured."""

from collections import defaultdict
from statistics import median

from kexbench.analysis.reference import MeasuredRow, Swap, measured_rows, swaps
from kexbench.api.models import (
    HostKind,
    ReferenceColumn,
    ReferenceRowView,
    ReferenceTableView,
    ReferenceView,
    SideCosts,
    SwapView,
)
from kexbench.domain.plans import ReferenceTable
from kexbench.domain.runs import Run
from kexbench.domain.samples import Metric
from kexbench.store.port import SampleStore, Selection

_Levels = dict[str, dict[str, list[float]]]
"""What each invocation cost, by subject and case id."""


def reference_view(store: SampleStore, run: Run, kind: HostKind | None) -> ReferenceView | None:
    """What was measured on a host kind, beside it; None where the spec has no reference."""
    reference = run.plan.reference
    if reference is None:
        return None
    both, client, server = (
        _levels(store, run, kind, metric) for metric in (Metric.CPU_NS, Metric.CLIENT_CPU_NS, Metric.SERVER_CPU_NS)
    )
    return ReferenceView(
        title=reference.title,
        notes=reference.notes,
        tables=[
            ReferenceTableView(
                title=table.title,
                baseline=table.baseline,
                columns=[_column(table, subject, both, (client, server)) for subject in both],
            )
            for table in reference.tables
        ],
    )


def _levels(store: SampleStore, run: Run, kind: HostKind | None, metric: Metric) -> _Levels:
    found: _Levels = defaultdict(lambda: defaultdict(list))
    pool, cpu_model = (kind.pool, kind.cpu_model) if kind else (None, None)
    for row in store.samples(Selection(metric, pool, cpu_model, run_id=run.run_id)):
        found[row.subject.name][row.case.case_id].append(row.level)
    return found


def _column(table: ReferenceTable, subject: str, both: _Levels, sides: tuple[_Levels, _Levels]) -> ReferenceColumn:
    client, server = (levels[subject] for levels in sides)
    return ReferenceColumn(
        subject=subject,
        rows=[_row(row) for row in measured_rows(table, both[subject])],
        swaps=[_swap(swap, client, server) for swap in swaps(table, both[subject])],
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
