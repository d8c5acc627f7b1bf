"""A library's whole life in a process: how it starts, what a connection holds, how a context ages, what threads share.

A line for each metric of these kinds, its cells as in the matrix, so that verdicts come from the one rule.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import inf, log

from pydantic import Field

from kexbench.answers.ages import Place, ageing_of
from kexbench.answers.cells import Cell, ShownCells, shown_cells
from kexbench.answers.life_variations import LifeVariation, variations
from kexbench.answers.meaning import host_kind
from kexbench.answers.shapes import CaseView
from kexbench.answers.subjects import end_of, version_order
from kexbench.domain.ages import Ageing
from kexbench.domain.cases import Case, case_order
from kexbench.domain.frozen import Frozen
from kexbench.domain.hosts import HostKind
from kexbench.domain.instruments import Instrument
from kexbench.domain.intervals import Ratio
from kexbench.domain.metrics import Metric, MetricGroup
from kexbench.domain.numbers import amounts_of, move_words
from kexbench.domain.subjects import Subject
from kexbench.domain.upgrades import CellVerdict, UpgradeEnd
from kexbench.store.evidence import Evidence
from kexbench.store.port import Selection, Store

OF_LIFE = (MetricGroup.START, MetricGroup.AGE, MetricGroup.ALLOCATIONS, MetricGroup.ATOMICS)
"""What only specs of a library's life measure. Their cases are shown."""
BESIDE = (MetricGroup.MEMORY,)
"""What every case has, shown beside."""
_FIRST = {group: next(metric for metric in Metric if metric.row.group is group) for group in OF_LIFE}
"""Of a kind of which nothing could be measured, the line of this metric says why."""
MOST_METRICS = 4
"""Of a kind, whose changes are told."""


class LifeLine(Frozen):
    """One metric of a case."""

    metric: Metric
    title: str
    cells: list[Cell | None] = Field(description="in the order of the subjects; null where nothing was measured")


class LifeSection(Frozen):
    group: MetricGroup
    lines: list[LifeLine]


class LifeCase(Frozen):
    case: CaseView
    sections: list[LifeSection]
    ageing: list[Ageing | None] = Field(description="in the order of the subjects; null without enough invocations")


class LifeChange(Frozen):
    """A change between neighbouring versions, with a verdict."""

    case: CaseView
    metric: Metric
    title: str
    ends: tuple[UpgradeEnd, UpgradeEnd] = Field(description="the version before and the one after")
    before: float = Field(description="as compared, in the metric's unit")
    after: float
    move: Ratio | None = Field(description="after by before; null from or to 0, which has no ratio")
    verdict: CellVerdict
    resolves: float | None = Field(description="the smallest detectable change, as a share")


class Life(Frozen):
    """On one host kind."""

    host_kind: HostKind | None
    subjects: list[Subject] = Field(description="by library, then version order")
    cases: list[LifeCase]
    changes: list[LifeChange] = Field(
        description="of each kind the metrics that changed most, each with its largest increase and largest decrease"
    )
    variations: list[LifeVariation] = Field(description="of starts, the largest first")
    sentence: str = Field(description="what stands out; empty without results")


def life(store: Store, pool: str | None = None, cpu_model: str | None = None, libraries: Sequence[str] = ()) -> Life:
    """Where no host kind is asked for, the first one that has any. Raises Refusal."""
    asked = host_kind(store, pool, cpu_model)
    kinds = store.host_kinds() if pool is None and cpu_model is None else [asked] if asked else []
    answers = (_life_on(store, kind, libraries) for kind in kinds)
    nothing = Life(host_kind=asked, subjects=[], cases=[], changes=[], variations=[], sentence="")
    return next((answer for answer in answers if answer.cases), nothing)


def _life_on(store: Store, kind: HostKind, libraries: Sequence[str]) -> Life:
    here = Selection(Metric.CPU_NS, kind.pool, kind.cpu_model, tuple(libraries))
    return store.kept_value(("life", here), Evidence.of_all, lambda: _answer(store, kind, libraries))


def _answer(store: Store, kind: HostKind, libraries: Sequence[str]) -> Life:
    stored = store.evidence().metrics()
    by_metric = {
        metric: shown_cells(store, Selection(metric, kind.pool, kind.cpu_model, tuple(libraries)))
        for metric in Metric
        if metric.row.group in (*OF_LIFE, *BESIDE) and (metric in stored or metric in _FIRST.values())
    }
    failed = _failed(store, by_metric)
    measured = {
        cell.case_id
        for metric, shown in by_metric.items()
        if metric.row.group in OF_LIFE
        for cell in shown.cells
        if cell.estimate
    }
    wanted = measured | {case_id for case_id, _ in failed}
    cases = {case.case_id: case for shown in by_metric.values() for case in shown.cases if case.case_id in wanted}
    subjects = _subjects(by_metric, wanted)
    ordered = sorted(cases.values(), key=case_order)
    changes = _largest(by_metric, cases)
    ageing = ageing_of(store, Selection(Metric.CPU_NS, kind.pool, kind.cpu_model, tuple(libraries)), sorted(cases))
    return Life(
        host_kind=kind,
        subjects=subjects,
        cases=[_case(case, by_metric, failed, subjects, ageing) for case in ordered],
        changes=changes,
        variations=variations(store, kind, by_metric[Metric.START_CPU_NS]) if Metric.START_CPU_NS in by_metric else [],
        sentence=life_sentence(changes),
    )


def _failed(store: Store, by_metric: Mapping[Metric, ShownCells]) -> set[tuple[str, MetricGroup]]:
    """Cases with the kinds that a subject has no number of although its run was to measure it."""
    found = set()
    for group, metric in _FIRST.items():
        cases = {case.case_id: case for case in by_metric[metric].cases}
        for cell in by_metric[metric].cells:
            if cell.outcome and not cell.estimate and _wants(store, cell.run_id, cases[cell.case_id], group):
                found.add((cell.case_id, group))
    return found


def _wants(store: Store, run_id: str, case: Case, group: MetricGroup) -> bool:
    run = store.run(run_id)
    measure = run and run.plan.measure
    if not measure:
        return False
    wanted = {
        MetricGroup.START: measure.starts_processes(case),
        MetricGroup.AGE: measure.ages_context(case),
        MetricGroup.ALLOCATIONS: measure.instrument is Instrument.ALLOCATIONS,
        MetricGroup.ATOMICS: measure.instrument is Instrument.ATOMICS,
    }
    return wanted[group]


def _subjects(by_metric: Mapping[Metric, ShownCells], case_ids: set[str]) -> list[Subject]:
    """In the order in which each metric has them."""
    here = {cell.subject for shown in by_metric.values() for cell in shown.cells if cell.case_id in case_ids}
    found = {each.name: each for shown in by_metric.values() for each in shown.subjects if each.name in here}
    return sorted(found.values(), key=version_order)


def _case(
    case: Case,
    by_metric: Mapping[Metric, ShownCells],
    failed: set[tuple[str, MetricGroup]],
    subjects: Sequence[Subject],
    ageing: Mapping[Place, Ageing],
) -> LifeCase:
    lines: dict[MetricGroup, list[LifeLine]] = defaultdict(list)
    for metric, shown in by_metric.items():
        own = {cell.subject: cell for cell in shown.cells if cell.case_id == case.case_id}
        explains = metric in _FIRST.values() and (case.case_id, metric.row.group) in failed
        if explains or any(cell.estimate for cell in own.values()):
            cells = [own.get(subject.name) for subject in subjects]
            lines[metric.row.group].append(LifeLine(metric=metric, title=metric.row.title, cells=cells))
    return LifeCase(
        case=CaseView.of(case),
        sections=[LifeSection(group=group, lines=lines[group]) for group in (*OF_LIFE, *BESIDE) if group in lines],
        ageing=[ageing.get((case.case_id, subject.name)) for subject in subjects],
    )


def _largest(by_metric: Mapping[Metric, ShownCells], cases: Mapping[str, Case]) -> list[LifeChange]:
    """Of each kind the metrics that changed most, each with its largest increase and its largest decrease, which often
    is its recovery."""
    of_metric: dict[Metric, dict[CellVerdict, LifeChange]] = defaultdict(dict)
    for change in sorted(_changes(by_metric, cases), key=_size, reverse=True):
        of_metric[change.metric].setdefault(change.verdict, change)
    of_group: dict[MetricGroup, list[Iterable[LifeChange]]] = defaultdict(list)
    for metric, changes in of_metric.items():
        of_group[metric.row.group].append(changes.values())
    shown = (change for metrics in of_group.values() for changes in metrics[:MOST_METRICS] for change in changes)
    return sorted(shown, key=_size, reverse=True)


def _changes(by_metric: Mapping[Metric, ShownCells], cases: Mapping[str, Case]) -> Iterator[LifeChange]:
    for metric, shown in by_metric.items():
        ends = {subject.name: end_of(subject) for subject in shown.subjects}
        for (before, after), cell in shown.judged:
            if cell.verdict not in ("more", "less") or cell.case_id not in cases:
                continue
            if cell.before_ns is not None and cell.after_ns is not None:
                yield LifeChange(
                    case=CaseView.of(cases[cell.case_id]),
                    metric=metric,
                    title=metric.row.title,
                    ends=(ends[before], ends[after]),
                    before=cell.before_ns,
                    after=cell.after_ns,
                    move=cell.move,
                    verdict=cell.verdict,
                    resolves=cell.resolves,
                )


def _size(change: LifeChange) -> float:
    """Infinite from or to 0."""
    return abs(log(change.move.ratio)) if change.move else inf


def life_sentence(changes: Sequence[LifeChange]) -> str:
    """`The largest change is in start trust CPU time: 4,862 → 29,310 µs, +502.8% [+498.0%, +527.1%] from OpenSSL 1.1.1w
    to OpenSSL 3.0.19.` Empty without a change."""
    if not changes:
        return ""
    before, after = (end.label for end in changes[0].ends)
    return f"The largest change is in {changes[0].metric.words}: {change_words(changes[0])} from {before} to {after}."


def change_words(change: LifeChange) -> str:
    """`4,862 → 29,310 µs, +502.8% [+498.0%, +527.1%]`, or `0 → 16 B`."""
    amounts = amounts_of(change.before, change.after, change.metric.unit)
    move = change.move
    return f"{amounts}, {move_words(move.ratio, move.low, move.high)}" if move else amounts
