"""The batches behind one number: of a subject in a case on a host kind in one run, by invocation."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from math import isnan

import numpy as np
from pydantic import Field

from kexbench.answers.choices import run_choices
from kexbench.answers.numbers import host_kinds
from kexbench.answers.shapes import CaseView, RunChoice
from kexbench.domain.batches import RemovedBatches
from kexbench.domain.cases import Case
from kexbench.domain.frozen import Frozen
from kexbench.domain.hosts import EVERYWHERE, HostChoice, HostKind
from kexbench.domain.refusals import Refusal, RefusalReason
from kexbench.domain.samples import Metric
from kexbench.domain.subjects import Subject
from kexbench.store.port import AppearanceRow, SampleRow, SampleStore, Selection

MOST_INVOCATIONS = 200
"""More are not read in one chart."""
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


class InvocationBatches(Frozen):
    """One invocation: fresh processes."""

    job_id: str
    invocation: int
    measured_at: datetime
    level: float = Field(description="cost of a handshake over all batches, in the metric's unit")
    p05: float = Field(description="quantiles of the batches")
    p25: float
    p50: float
    p75: float
    p95: float
    batches: list[float | None] = Field(description="in the order of the rounds; null where left out")


@dataclass(frozen=True)
class Batches:
    case: Case
    subject: Subject
    kind: HostKind
    run_id: str
    invocations: Sequence[InvocationBatches]
    """In the order of measuring, at most `MOST_INVOCATIONS`."""
    left_out: int
    """Invocations beyond that."""
    removed: int
    """Old invocations of which only the level is kept."""
    disturbed: int
    """Invocations without numbers, since their batches were disturbed."""
    appearances: Sequence[AppearanceRow]
    """Of the subject in the case, in all runs and on all host kinds."""


def batches_of_cell(
    store: SampleStore,
    metric: Metric,
    subject: str,
    case_id: str,
    on: HostChoice = EVERYWHERE,
    run_id: str | None = None,
) -> Batches | None:
    """Of the newest run and host kind that fit, runs aside only if no other fits; None if none does."""
    everywhere = Selection(metric, subjects=(subject,), case_ids=(case_id,), asides=True)
    appearances = store.appearances(everywhere)
    fitting = [row for row in appearances if on.holds(row.host_kind) and run_id in (None, row.run_id)]
    if not fitting:
        return None
    asides = store.evidence().left_out
    fitting = [row for row in fitting if row.run_id not in asides] or fitting
    place = host_kinds(fitting)[0]
    newest = max(
        (row for row in fitting if row.host_kind == place),
        key=lambda row: (row.measured_at, row.run_id),
    )
    here = Selection(
        metric, place.pool, place.cpu_model, subjects=(subject,), case_ids=(case_id,), runs=(newest.run_id,)
    )
    rows = sorted(store.samples(here), key=lambda row: (row.measured_at, _numbered(row)))
    if not rows:
        return None
    shown, left_out = rows[:MOST_INVOCATIONS], rows[MOST_INVOCATIONS:]
    with_batches = [(row, row.values) for row in shown if not isinstance(row.values, RemovedBatches)]
    return Batches(
        case=rows[0].case,
        subject=rows[0].subject,
        kind=place,
        run_id=newest.run_id,
        invocations=[_invocation(row, values) for row, values in with_batches],
        left_out=len(left_out),
        removed=len(shown) - len(with_batches),
        disturbed=sum(row.invocations for row in store.disturbed(here)),
        appearances=appearances,
    )


def _numbered(row: SampleRow) -> tuple[str, int]:
    job_id, _, number = row.unit.rpartition("/")
    return job_id, int(number)


def _invocation(row: SampleRow, values: Sequence[float]) -> InvocationBatches:
    job_id, number = _numbered(row)
    quantiles = np.nanquantile(values, _QUANTILES)
    return InvocationBatches(
        job_id=job_id,
        invocation=number,
        measured_at=row.measured_at,
        level=row.level,
        **{f"p{round(100 * at):02}": float(value) for at, value in zip(_QUANTILES, quantiles, strict=True)},
        batches=[None if isnan(value) else value for value in values],
    )


class Distribution(Frozen):
    """The batches of one subject in one case, on one host kind in one run, by invocation."""

    case: CaseView
    subject: Subject
    metric: Metric
    host_kind: HostKind
    run_id: str
    invocations: list[InvocationBatches] = Field(description="in the order of measuring")
    left_out: int = Field(description="invocations beyond the limit of one answer")
    removed: int = Field(description="old invocations whose batches were removed")
    disturbed: int = Field(description="invocations without numbers of this metric, since their batches were disturbed")
    host_kinds: list[HostKind] = Field(description="all that have such numbers, the last one first")
    runs: list[RunChoice] = Field(description="those with such numbers on the host kind, the last ones first")


def distribution(
    store: SampleStore,
    metric: Metric,
    subject: str,
    case_id: str,
    pool: str | None = None,
    cpu_model: str | None = None,
    run_id: str | None = None,
) -> Distribution:
    """Of the newest run and host kind that fit. Raises Refusal."""
    cell = store.kept_value(
        ("distribution", metric, subject, case_id, pool, cpu_model, run_id),
        lambda evidence: evidence.of_case(case_id),
        lambda: batches_of_cell(store, metric, subject, case_id, HostChoice(pool, cpu_model), run_id),
    )
    if cell is None:
        where = ", ".join(filter(None, (pool, cpu_model, run_id))) or "any machine"
        detail = f"there are no batches of {subject} in case {case_id} on {where}"
        raise Refusal(RefusalReason.MISSING, detail, "the matrix lists the results")
    return Distribution(
        case=CaseView.of(cell.case),
        subject=cell.subject,
        metric=metric,
        host_kind=cell.kind,
        run_id=cell.run_id,
        invocations=list(cell.invocations),
        left_out=cell.left_out,
        removed=cell.removed,
        disturbed=cell.disturbed,
        host_kinds=host_kinds(cell.appearances),
        runs=run_choices(row for row in cell.appearances if row.host_kind == cell.kind),
    )
