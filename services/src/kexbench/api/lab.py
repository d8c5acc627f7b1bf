"""What is known of the machines and the measuring itself: scaling curves and qualifications."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Query

from kexbench.analysis.detectable import ALPHA, POWER
from kexbench.analysis.estimates import estimate_median
from kexbench.analysis.qualification import CaseQualification, qualify_case
from kexbench.analysis.rounds import Batches
from kexbench.analysis.scaling import Coefficient, Efficiency, efficiencies, fit_scaling
from kexbench.api import cells
from kexbench.api.dependencies import TheStore
from kexbench.api.lab_models import (
    CoefficientView,
    QualificationRow,
    Qualifications,
    Scaling,
    ScalingCase,
    ScalingLine,
    ScalingPoint,
)
from kexbench.api.mixed import mixed_pool
from kexbench.api.models import CaseView, Estimate, HostKind
from kexbench.api.reading import PROBLEMS, Libraries, OneCpuModel, OnePool, host_kind
from kexbench.domain.cases import Case
from kexbench.domain.libraries import MADE_UP
from kexbench.domain.plans import HARNESS_VERSION
from kexbench.domain.samples import Metric
from kexbench.domain.variants import split_variant
from kexbench.store.port import SampleRow, Selection, Store

router = APIRouter(tags=["reading"], responses=PROBLEMS)
GROUP = 10
"""Invocations of a usual comparison, which a qualification speaks of unless asked otherwise."""
BOOTSTRAPS = 100
"""Enough for an interval on a page, in a tenth of a second a curve."""


@router.get("/scaling", operation_id="scaling")
def scaling(store: TheStore, pool: OnePool = None, cpu_model: OneCpuModel = None, library: Libraries = None) -> Scaling:
    """Throughput over thread counts, for every case and subject that has more than one."""
    kind = host_kind(store, pool, cpu_model)
    if kind is None:
        return Scaling(host_kind=None, subjects=[], cases=[])
    rows = store.samples(Selection(Metric.ELAPSED_NS, kind.pool, kind.cpu_model, tuple(library or ())))
    curves: dict[Case, dict[str, dict[int, list[float]]]] = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for row in rows:
        curve = curves[row.case.model_copy(update={"threads": 1})][row.subject.name]
        curve[row.case.threads].append(1e9 / row.level)
    found = [
        ScalingCase(
            case=CaseView.of(case), lines=[_line(name, rates) for name, rates in lines.items() if len(rates) > 1]
        )
        for case, lines in curves.items()
        if any(len(rates) > 1 for rates in lines.values())
    ]
    shown = {line.subject for case in found for line in case.lines}
    subjects = [view for view in cells.subjects_in_order(rows) if view.subject in shown]
    return Scaling(host_kind=kind, subjects=subjects, cases=found)


@router.get("/qualifications", operation_id="qualifications")
def qualifications(
    store: TheStore,
    pool: OnePool = None,
    cpu_model: OneCpuModel = None,
    invocations: Annotated[int, Query(ge=3, le=1000, description="of the comparisons to come")] = GROUP,
) -> Qualifications:
    """What the newest A/A run of each case proved on a host kind: a kit beside itself, and relinks of one source."""
    kind = host_kind(store, pool, cpu_model)
    found = qualified(store, kind, invocations) if kind else []
    mixed = mixed_pool(kind.pool, store.nodes(kind.pool).items()) if kind else None
    return Qualifications(host_kind=kind, mixed_pool=mixed, alpha=ALPHA, power=POWER, rows=found)


def qualified(
    store: Store, kind: HostKind, invocations: int, libraries: Collection[str] = ()
) -> list[QualificationRow]:
    """What is known of some libraries, or of all, for comparisons of so many invocations. What was measured in another
    way than today says nothing of the noise to come."""
    selection = Selection(Metric.CPU_NS, kind.pool, kind.cpu_model, tuple(libraries))
    harness = store.harness_versions(store.qualifying_runs(selection))
    runs = tuple(run_id for run_id, version in harness.items() if version == HARNESS_VERSION)
    rows = store.samples(replace(selection, runs=runs)) if runs else []
    return list(_qualified(rows, invocations))


def _line(subject: str, rates: dict[int, list[float]]) -> ScalingLine:
    fit, by_threads = fit_scaling(rates, bootstraps=BOOTSTRAPS), efficiencies(rates)
    return ScalingLine(
        subject=subject,
        points=[
            ScalingPoint(
                threads=threads,
                rate=Estimate(**vars(estimate_median(values))),
                efficiency=_coefficient(by_threads.get(threads)),
            )
            for threads, values in sorted(rates.items())
        ],
        contention=_coefficient(fit.contention) if fit else None,
        coherency=_coefficient(fit.coherency) if fit else None,
        peak_threads=fit.peak_threads if fit else None,
    )


def _coefficient(found: Coefficient | Efficiency | None) -> CoefficientView | None:
    return CoefficientView(**vars(found)) if found else None


def _qualified(rows: Iterable[SampleRow], group: int) -> Iterable[QualificationRow]:
    """One row a library and case that has a kit beside its copy."""
    by_cell: dict[tuple[str, str], dict[str, list[SampleRow]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if row.subject.library in MADE_UP:
            continue  # made-up libraries have settings where others have variants
        by_cell[row.subject.library, row.case.case_id][row.subject.source].append(row)
    for (library, case_id), sources in sorted(by_cell.items()):
        for copied in _copies(sources):
            newest = max(sources[copied], key=lambda row: row.measured_at)
            found = {source: _batches(stored, newest.run_id) for source, stored in sources.items()}
            same = [found[_original(copied)], found[copied]]
            relinked = [batches for source, batches in found.items() if batches and _is_relink(source)]
            if judged := qualify_case(case_id, same, relinked, group=group, seed=0):
                yield _row(library, newest, judged)
                break


def _copies(sources: dict[str, list[SampleRow]]) -> list[str]:
    """The sources that stand beside themselves, the newest first."""
    copies = [name for name in sources if split_variant(name)[1].copy is not None and _original(name) in sources]
    return sorted(copies, key=lambda name: max(row.measured_at for row in sources[name]), reverse=True)


def _row(library: str, newest: SampleRow, judged: CaseQualification) -> QualificationRow:
    wrong = judged.false_positives
    return QualificationRow(
        library=library,
        case=CaseView.of(newest.case),
        run_id=newest.run_id,
        measured_at=newest.measured_at,
        invocations=judged.invocations,
        cv=judged.cv,
        pair_sd=judged.pair_sd,
        group=judged.group,
        smallest_detectable_change=judged.smallest_detectable_change,
        false_positive_rate=wrong.rate if wrong else None,
        false_positive_low=wrong.low if wrong else None,
        false_positive_high=wrong.high if wrong else None,
        relinks=judged.relinks,
        layout_floor=judged.layout_floor,
        cannot_resolve_below=judged.cannot_resolve_below,
    )


def _original(copied: str) -> str:
    return "+".join(part for part in copied.split("+") if not part.startswith("copy="))


def _is_relink(source: str) -> bool:
    variant = split_variant(source)[1]
    return variant.relink is not None and variant.copy is None and variant.burn is None


def _batches(rows: list[SampleRow], run_id: str) -> Batches:
    return {row.unit: row.values for row in rows if row.run_id == run_id}
