"""Published figures of a spec, beside what was measured here."""

from collections import defaultdict
from collections.abc import Mapping
from statistics import median

from pydantic import Field

from kexbench.analysis.reference import (
    MeasuredRatio,
    MeasuredRow,
    Swap,
    measured_ratios,
    measured_rows,
    swaps,
)
from kexbench.domain.frozen import Frozen
from kexbench.domain.hosts import HostKind
from kexbench.domain.runs import Run
from kexbench.domain.samples import Metric, Side
from kexbench.domain.upgrades import SIDES
from kexbench.store.port import SampleStore, Selection


class SwapWithCosts(Swap):
    """With the CPU time of a handshake by side, median over invocations; null if none measured the sides apart."""

    faster_cpu_ns: dict[Side, float] | None
    slower_cpu_ns: dict[Side, float] | None


class ReferenceTableView(Frozen):
    """Published rates, next to those that are measured here."""

    title: str
    baseline: str
    rows: dict[str, list[MeasuredRow]] = Field(description="by subject")
    swaps: dict[str, list[SwapWithCosts]] = Field(description="by subject")


class ReferenceRatiosView(Frozen):
    """Published ratios of two cases' rates, next to those that are measured here."""

    title: str
    side: Side = Field(description="whose CPU time the measured ratios are of")
    rows: dict[str, list[MeasuredRatio]] = Field(description="by subject")


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
                rows={subject: measured_rows(table, levels) for subject, levels in both.items()},
                swaps={
                    subject: [_with_costs(swap, sides, subject) for swap in swaps(table, levels)]
                    for subject, levels in both.items()
                },
            )
            for table in reference.tables
        ],
        ratios=[
            ReferenceRatiosView(
                title=ratios.title,
                side=ratios.side,
                rows={subject: measured_ratios(ratios, sides[ratios.side][subject]) for subject in both},
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


def _with_costs(swap: Swap, sides: Mapping[Side, _Levels], subject: str) -> SwapWithCosts:
    def costs(case_id: str) -> dict[Side, float] | None:
        levels = {side: sides[side][subject][case_id] for side in SIDES if side != "both"}
        return {side: median(of_side) for side, of_side in levels.items()} if all(levels.values()) else None

    return SwapWithCosts(**vars(swap), faster_cpu_ns=costs(swap.faster_here), slower_cpu_ns=costs(swap.slower_here))
