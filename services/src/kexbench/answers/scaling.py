"""Throughput over thread counts: the curves of all cases with more than one."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pydantic import Field

from kexbench.analysis.estimates import estimate_median
from kexbench.analysis.scaling import Together, efficiency, fit_scaling, relative_rates
from kexbench.answers.loads import LoadCase, loads_of
from kexbench.answers.meaning import host_kind
from kexbench.answers.shapes import CaseView
from kexbench.answers.subjects import MeasuredSubject, cases_in_order, row_order, subjects_in_order
from kexbench.domain.cases import Case
from kexbench.domain.dimensions import ContextUse
from kexbench.domain.frozen import Frozen
from kexbench.domain.hosts import HostKind
from kexbench.domain.intervals import Estimate
from kexbench.domain.samples import Metric
from kexbench.domain.subjects import Subject
from kexbench.store.port import SampleRow, SampleStore, Selection

BOOTSTRAPS = 100
"""Enough for an interval on a page, in a tenth of a second a curve."""


class ScalingPoint(Frozen):
    threads: int
    rate: Estimate = Field(description="handshakes per second of wall time, all threads together")
    alone: Estimate | None = Field(
        description="the base of the efficiency: handshakes per second of wall time of one thread while the others "
        "sleep, each thread in turn on its own CPU; null for one thread, and where runners of earlier releases measured"
    )
    efficiency: Estimate | None = Field(description="rate / (threads x alone), of the same invocations")


class ScalingLine(Frozen):
    """One subject of one case over thread counts, with the fitted universal scalability law."""

    subject: str
    points: list[ScalingPoint] = Field(description="by thread count")
    contention: Estimate | None = Field(description="share of the work that waits for others; null: no fit")
    coherency: Estimate | None = Field(description="null with fewer than three thread counts")
    peak_threads: float | None


class ScalingCase(Frozen):
    case: CaseView = Field(description="with the fewest threads that its curves have")
    title: str = Field(description="of the case, whatever the threads")
    lines: list[ScalingLine]


@dataclass(frozen=True)
class _CurvesKey:
    """What the curves of some cases are kept by: those that differ in threads, and in whether these share a context."""

    selection: Selection
    case_ids: tuple[str, ...]


@dataclass(frozen=True)
class _Curves:
    """The curves of a case, whatever its threads."""

    view: ScalingCase
    place: tuple[str, ...]
    """Of its first row in the store."""


def scaling_cases(store: SampleStore, selection: Selection, cases: Iterable[Case]) -> list[ScalingCase]:
    """In the order of the store. `selection`: the elapsed time on one host kind, measured in `cases`."""
    groups: dict[Case, list[Case]] = defaultdict(list)
    for case in cases:
        groups[_alone(case).model_copy(update={"context": ContextUse.SHARED})].append(case)
    keys = [
        _CurvesKey(selection, tuple(sorted(case.case_id for case in group)))
        for group in groups.values()
        if len({case.threads for case in group}) > 1
    ]

    def compute(missing: Sequence[_CurvesKey]) -> dict[_CurvesKey, tuple[_Curves, ...]]:
        wanted = tuple(sorted(case_id for key in missing for case_id in key.case_ids))
        here = replace(selection, case_ids=wanted)
        rows: dict[str, list[SampleRow]] = defaultdict(list)
        for row in store.samples(here):
            rows[row.case.case_id].append(row)
        alone = {_place(row): 1e9 / row.level for row in store.samples(replace(here, metric=Metric.ALONE_NS))}
        return {key: _curves_of((row for case_id in key.case_ids for row in rows[case_id]), alone) for key in missing}

    kept = store.kept(keys, lambda evidence, key: tuple(map(evidence.of_case, key.case_ids)), compute)
    curves = sorted((curve for of_group in kept.values() for curve in of_group), key=lambda curve: curve.place)
    return [curve.view for curve in curves]


_Place = tuple[str, str, Case, str]
"""Where a row was measured. Rows of two metrics with the same place are of the same batches."""
_Bases = defaultdict[tuple[Case, str], defaultdict[int, dict[str, Together]]]
"""By case with one thread and subject, then by threads and invocation."""


def _place(row: SampleRow) -> _Place:
    return row.run_id, row.unit, row.case, row.subject.name


def _curves_of(rows: Iterable[SampleRow], alone_rates: Mapping[_Place, float]) -> tuple[_Curves, ...]:
    curves: dict[Case, dict[str, dict[int, list[float]]]] = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    bases: _Bases = defaultdict(lambda: defaultdict(dict))
    fewest: dict[Case, Case] = {}
    places: dict[Case, tuple[str, ...]] = {}
    for row in sorted(rows, key=row_order):
        alone, rate = _alone(row.case), 1e9 / row.level
        curves[alone][row.subject.name][row.case.threads].append(rate)
        if alone_rate := alone_rates.get(_place(row)):
            bases[alone, row.subject.name][row.case.threads][f"{row.run_id}/{row.unit}"] = Together(rate, alone_rate)
        fewest[alone] = min(fewest.get(alone, row.case), row.case, key=lambda case: case.threads)
        places.setdefault(alone, row_order(row))
    for alone, lines in curves.items():  # with one thread, sharing a context or not is the same case
        if alone.context not in (ContextUse.SHARED, ContextUse.CONNECTION):
            shared = curves.get(alone.model_copy(update={"context": ContextUse.SHARED}), {})
            for subject, curve in lines.items():
                curve[1].extend(shared.get(subject, {}).get(1, ()))
    views = {
        alone: ScalingCase(
            case=CaseView.of(fewest[alone]),
            title=alone.label,
            lines=[
                _line(name, rates, bases[alone, name])
                for name, curve in lines.items()
                if len(rates := _measured(curve)) > 1
            ],
        )
        for alone, lines in curves.items()
    }
    return tuple(_Curves(view, places[alone]) for alone, view in views.items() if view.lines)


def _alone(case: Case) -> Case:
    """The case with one thread. It groups a curve; a context for each thread makes no valid case of it."""
    return case.model_copy(update={"threads": 1})


def _measured(curve: dict[int, list[float]]) -> dict[int, list[float]]:
    return {threads: rates for threads, rates in curve.items() if rates}


def _line(subject: str, rates: dict[int, list[float]], bases: dict[int, dict[str, Together]]) -> ScalingLine:
    fit = fit_scaling(relative_rates(bases), bootstraps=BOOTSTRAPS)
    return ScalingLine(
        subject=subject,
        points=[_point(threads, values, bases.get(threads, {})) for threads, values in sorted(rates.items())],
        contention=fit.contention if fit else None,
        coherency=fit.coherency if fit else None,
        peak_threads=fit.peak_threads if fit else None,
    )


def _point(threads: int, rates: list[float], invocations: dict[str, Together]) -> ScalingPoint:
    alone_rates = [each.alone_rate for each in invocations.values()]
    return ScalingPoint(
        threads=threads,
        rate=estimate_median(rates),
        alone=estimate_median(alone_rates) if alone_rates else None,
        efficiency=efficiency(threads, invocations),
    )


class Scaling(Frozen):
    """The curves of all cases with more than one measured thread count, and of all cases of web servers with more than
    one measured number of connections at once."""

    host_kind: HostKind | None
    subjects: list[Subject]
    cases: list[ScalingCase]
    loads: list[LoadCase]


def scaling(
    store: SampleStore, pool: str | None = None, cpu_model: str | None = None, libraries: Sequence[str] = ()
) -> Scaling:
    """All curves on one host kind: where none is asked for, the first one that has any."""
    asked = host_kind(store, pool, cpu_model)
    kinds = store.host_kinds() if pool is None and cpu_model is None else [asked] if asked else []
    answers = (_scaling_on(store, kind, libraries) for kind in kinds)
    with_curves = next((answer for answer in answers if answer.cases or answer.loads), None)
    return with_curves or Scaling(host_kind=asked, subjects=[], cases=[], loads=[])


def _scaling_on(store: SampleStore, kind: HostKind, libraries: Sequence[str]) -> Scaling:
    here = Selection(Metric.ELAPSED_NS, kind.pool, kind.cpu_model, tuple(libraries))
    cases = cases_in_order(store.measured_cases(here))
    curves = scaling_cases(store, here, cases)
    loads = loads_of(store, here, cases)
    shown = {line.subject for case in curves for line in case.lines}
    shown |= {line.subject for load in loads for line in load.lines}
    measured = subjects_in_order(MeasuredSubject(row.subject, row.measured_at) for row in store.measured_subjects(here))
    subjects = [view for view in measured if view.name in shown]
    return Scaling(host_kind=kind, subjects=subjects, cases=curves, loads=loads)
