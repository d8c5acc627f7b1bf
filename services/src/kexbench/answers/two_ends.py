"""Any two ends compared in every case that both measured: versions, libraries, host kinds or runs. Or two cases.

Ends on one host kind are judged like an upgrade. Ends that are not alike have a ratio with its
interval and no verdict: `comparing.unjudged_ratio`. So do two cases that were not measured in turns in one run.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from pydantic import Field

from kexbench.analysis.compared import CellData
from kexbench.analysis.estimates import estimate_median
from kexbench.answers.choices import run_choices
from kexbench.answers.comparing import (
    DIFFERENT_CPU,
    DIFFERENT_POOL,
    DIFFERENT_PROFILE,
    best_runs,
    unjudged_ratio,
    unlike,
)
from kexbench.answers.history import CellHistory, HistoryLine, history_values, line_of
from kexbench.answers.judging import judged_steps, judged_together, token_of
from kexbench.answers.meaning import version_of
from kexbench.answers.numbers import Place, RunIds, Sides, Step, add_conditions, by_kind, numbers_of
from kexbench.answers.server_costs import with_server_costs
from kexbench.answers.shapes import CaseChoice, CaseView, RunChoice
from kexbench.answers.subjects import MeasuredSubject, neighbours, subjects_in_order
from kexbench.answers.two_cases import NOT_IN_TURNS, in_turns
from kexbench.answers.upgrade import OnMachines, Upgrade, upgrade_of
from kexbench.domain.cases import Case, case_order, differences
from kexbench.domain.differences import Difference
from kexbench.domain.frozen import Frozen
from kexbench.domain.hosts import HostKind
from kexbench.domain.intervals import Estimate, Ratio
from kexbench.domain.samples import Metric
from kexbench.domain.subjects import Subject
from kexbench.domain.upgrades import SIDES, CellVerdict, Side, SideMove, UpgradeCell
from kexbench.domain.verdicts import RELEVANT
from kexbench.planning.spec import Catalogue
from kexbench.store.port import AppearanceRow, MeasuredSubjectRow, SampleStore, Selection

Unalike = Literal["pool", "cpu", "runs", "work", "turns"]


@dataclass(frozen=True)
class End:
    """A subject, optionally on one host kind, in one run and in one case."""

    subject: Subject
    pool: str | None = None
    cpu_model: str | None = None
    run_id: str | None = None
    case_id: str | None = None

    def is_on(self, kind: HostKind) -> bool:
        return self.pool in (None, kind.pool) and self.cpu_model in (None, kind.cpu_model)

    def is_upgraded_to(self, other: "End") -> bool:
        """Whether the two are builds of one library, in all cases of all runs, on the same machines."""
        builds = [each.subject for each in (self, other)]
        return (
            builds[0].library == builds[1].library
            and builds[0] != builds[1]
            and self == End(builds[0], self.pool, self.cpu_model)
            and other == End(builds[1], self.pool, self.cpu_model)
        )


class ComparedCell(UpgradeCell):
    """One case or two, on one host kind or with one at each end. `case_id`, `pool` and `cpu_model` are of `base`.
    `unalike` names what differs between the ends, where these have a ratio that is not judged."""

    other_case_id: str = Field(description="of `other`; that of `base` unless two cases are compared")
    other_host_kind: HostKind = Field(description="of `other`; that of `base` unless two machines are compared")
    unalike: tuple[Unalike, ...] = Field(description="why the ratio is not judged; else empty")
    estimates: dict[Side, tuple[Estimate, Estimate]] = Field(description="what both ends cost as measured, by side")
    history: tuple[CellHistory, ...] = Field((), description="of the line of `base`, then of `other` if it is another")


@dataclass(frozen=True)
class ComparedEnds:
    cells: Sequence[ComparedCell] = ()
    cases: Sequence[Case] = ()
    lines: Sequence[HistoryLine] = ()

    def __len__(self) -> int:
        return len(self.cells)


_Kinds = tuple[HostKind, HostKind]


@dataclass(frozen=True)
class _Pair:
    """What is compared: a case or two, on one host kind or two, of one run or two."""

    cases: tuple[Case, Case]
    kinds: _Kinds
    runs: tuple[str, str]
    judged: tuple[CellData, UpgradeCell] | None = None
    """None on two host kinds, and of two cases that were not measured in turns."""

    def places(self, ends: tuple[End, End]) -> Iterator[tuple[HostKind, Place]]:
        for kind, case, run_id, end in zip(self.kinds, self.cases, self.runs, ends, strict=True):
            yield kind, (case.case_id, end.subject.name, run_id)


def chosen_ends(
    measured: Collection[MeasuredSubjectRow], base: Subject | None, other: Subject | None
) -> tuple[Subject | None, Subject | None]:
    """Both ends; one that is not chosen is that of the upgrade measured last."""
    if base is not None and other is not None:
        return base, other
    for pair in neighbours(measured):
        if all(end is None or end.name == own.name for end, own in ((base, pair.before), (other, pair.after))):
            return pair.before, pair.after
    newest = max(measured, key=lambda row: row.measured_at, default=None)
    return base, other or (newest.subject if newest and base is None else None)


def compared_ends(
    store: SampleStore, ends: tuple[End, End], measured: Collection[MeasuredSubjectRow], relevant: float = RELEVANT
) -> ComparedEnds:
    """In the order of the matrix, then of the host kinds, with histories. `measured`: all subjects."""
    cells = _kept_cells(store, ends, measured, relevant, SIDES)
    return _with_histories(store, cells, ends, measured) if cells else ComparedEnds()


def compared_in_run(
    store: SampleStore, run_id: str, names: tuple[str, str], relevant: float, metrics: Mapping[Side, Metric]
) -> tuple[ComparedCell, ...]:
    """Two subjects by the numbers of a run. Empty where no case has numbers of both."""
    measured = store.measured_subjects(Selection(metrics["both"], run_id=run_id))
    subjects = {row.subject.name: row.subject for row in measured}
    if not subjects.keys() >= set(names):
        return ()
    before, after = (End(subjects[name], run_id=run_id) for name in names)
    return tuple(cell for _, cell in _kept_cells(store, (before, after), measured, relevant, metrics))


def _kept_cells(
    store: SampleStore,
    ends: tuple[End, End],
    measured: Collection[MeasuredSubjectRow],
    relevant: float,
    metrics: Mapping[Side, Metric],
) -> list[tuple[tuple[Case, Case], ComparedCell]]:
    kinds = shared_kinds(store, *ends, measured)
    if not kinds:
        return []
    return store.kept_value(
        ("two ends", ends, relevant, tuple(kinds), tuple(metrics.items())),
        lambda evidence: token_of(evidence, _step(*ends)),
        lambda: _cells(store, ends, kinds, relevant, metrics),
    )


def shared_kinds(store: SampleStore, base: End, other: End, measured: Collection[MeasuredSubjectRow]) -> list[_Kinds]:
    """Each host kind that both ends allow and have numbers of; without any, the newest one of each. A subject is never
    compared with itself in one run, unless in two cases."""
    known = {(row.subject.name, HostKind(row.pool, row.cpu_model)) for row in measured}
    of_base, of_other = (
        [kind for kind in store.host_kinds(end.run_id) if end.is_on(kind) and (end.subject.name, kind) in known]
        for end in (base, other)
    )
    if shared := [(kind, kind) for kind in of_base if kind in of_other]:
        is_same = (base.subject.name, base.case_id) == (other.subject.name, other.case_id) and (
            base.run_id == other.run_id or None in (base.run_id, other.run_id)
        )
        return [] if is_same else shared
    return [(of_base[0], of_other[0])] if of_base and of_other else []


def _step(base: End, other: End) -> Step:
    return base.subject.name, other.subject.name


def _cells(
    store: SampleStore, ends: tuple[End, End], kinds: Sequence[_Kinds], relevant: float, metrics: Mapping[Side, Metric]
) -> list[tuple[tuple[Case, Case], ComparedCell]]:
    first, second = kinds[0]
    if ends[0].case_id != ends[1].case_id:
        pairs = _of_two_cases(store, ends, kinds, relevant)
    else:
        on_one = first == second
        every = _on_each_kind(store, ends, kinds, relevant, metrics) if on_one else _on_two_kinds(store, ends, kinds[0])
        pairs = [pair for pair in every if ends[0].case_id in (None, pair.cases[0].case_id)]
    numbers = _numbers(store, ends, [pair for pair in pairs if pair.judged is None])
    ranks = {pair: rank for rank, pair in enumerate(kinds)}
    cells = []
    for pair in sorted(pairs, key=lambda pair: (case_order(pair.cases[0]), ranks[pair.kinds])):
        base, other = (numbers.get(kind, {}).get(place, {}) for kind, place in pair.places(ends))
        if pair.judged:
            cells.append((pair.cases, _judged_cell(pair, *pair.judged)))
        elif "both" in base and "both" in other:
            cells.append((pair.cases, _unjudged_cell(pair, base, other)))
    return cells


def _on_each_kind(
    store: SampleStore, ends: tuple[End, End], kinds: Sequence[_Kinds], relevant: float, metrics: Mapping[Side, Metric]
) -> list[_Pair]:
    """Judged together on all host kinds, whichever are shown."""
    run_ids: RunIds = (ends[0].run_id, ends[1].run_id)
    step = _step(*ends)
    judged = judged_steps(store, [step], relevant, run_ids=run_ids, metrics=metrics)[step]
    shown = {kind for kind, _ in kinds}
    return [
        _Pair((data.case, data.case), (kind, kind), (cell.run_ids[0], cell.run_ids[-1]), (data, cell))
        for data, cell in zip(judged.data, judged.judged, strict=True)
        if (kind := HostKind(cell.pool, cell.cpu_model)) in shown
    ]


def _on_two_kinds(store: SampleStore, ends: tuple[End, End], kinds: _Kinds) -> list[_Pair]:
    rows = [_appearances(store, end, kind) for end, kind in zip(ends, kinds, strict=True)]
    runs = ((case_id, best_runs(rows[0][case_id], rows[1][case_id])) for case_id in rows[0].keys() & rows[1].keys())
    return [_Pair((rows[0][case_id][0].case,) * 2, kinds, pair) for case_id, pair in runs if pair]


def _of_two_cases(store: SampleStore, ends: tuple[End, End], kinds: Sequence[_Kinds], relevant: float) -> list[_Pair]:
    """The case of each end on each host kind, by the runs that compare them best. Judged where both were measured in
    turns: a job takes each of its cases once before it takes one again, so their costs pair like those of two
    versions."""
    pairs = []
    for on_kinds in kinds:
        rows = [
            _appearances(store, end, kind).get(end.case_id or "", []) for end, kind in zip(ends, on_kinds, strict=True)
        ]
        if runs := best_runs(*rows):
            pairs.append(_Pair((rows[0][0].case, rows[1][0].case), on_kinds, runs))
    numbers = _numbers(store, ends, pairs)
    sides = [tuple(numbers[kind].get(place, {}) for kind, place in pair.places(ends)) for pair in pairs]
    data = [
        in_turns(store, pair.kinds, pair.cases, pair.runs[0], *both) for pair, both in zip(pairs, sides, strict=True)
    ]
    judged = iter(judged_together([one for one in data if one], relevant))
    return [replace(pair, judged=(one, next(judged))) if one else pair for pair, one in zip(pairs, data, strict=True)]


def _appearances(store: SampleStore, end: End, kind: HostKind) -> dict[str, list[AppearanceRow]]:
    """By case. Runs aside count only if there is no other."""
    here = Selection(Metric.CPU_NS, kind.pool, kind.cpu_model, subjects=(end.subject.name,), run_id=end.run_id)
    by_case: dict[str, list[AppearanceRow]] = defaultdict(list)
    for row in store.appearances(here) or store.appearances(replace(here, asides=True)):
        by_case[row.case.case_id].append(row)
    return by_case


def _numbers(store: SampleStore, ends: tuple[End, End], pairs: Sequence[_Pair]) -> dict[HostKind, dict[Place, Sides]]:
    """The costs of both ends, by host kind."""
    places: dict[HostKind, set[Place]] = defaultdict(set)
    for pair in pairs:
        for kind, place in pair.places(ends):
            places[kind].add(place)
    run_ids = {run_id for pair in pairs for run_id in pair.runs}
    numbers: dict[HostKind, dict[Place, Sides]] = {kind: defaultdict(dict) for kind in places}
    if not run_ids:
        return numbers
    names = tuple(sorted(set(_step(*ends))))
    here = Selection(SIDES["both"], subjects=names, runs=tuple(sorted(run_ids)), asides=True)
    rows_by_metric = store.samples_by_metric(here, SIDES.values())
    for side, metric in SIDES.items():
        rows_by_kind = by_kind(rows_by_metric[metric])
        for kind, wanted in places.items():
            for place, own in numbers_of(rows_by_kind.get(kind, ()), wanted).items():
                numbers[kind][place][side] = own
    cases = {case.case_id: case for pair in pairs for case in pair.cases}
    for of_kind in numbers.values():
        complete = {place: sides for place, sides in of_kind.items() if "both" in sides}
        add_conditions(store, complete, cases, run_ids)
    return numbers


def _judged_cell(pair: _Pair, data: CellData, judged: UpgradeCell) -> ComparedCell:
    unalike: dict[CellVerdict, Unalike] = {"apart": "runs", "unlike": "work"}
    return _shown(
        pair,
        judged if judged.move else _with_ratios(judged, data.ratios),
        [unalike[judged.verdict]] if judged.verdict in unalike else [],
        data.levels,
    )


def _with_ratios(judged: UpgradeCell, ratios: Mapping[Side, Ratio]) -> UpgradeCell:
    """With ratios of ends that are not alike, which are never judged."""
    client, server = (ratios.get(side) for side in ("client", "server"))
    return judged.model_copy(
        update={
            "move": ratios.get("both"),
            "client": SideMove(**vars(client), verdict=judged.verdict) if client else None,
            "server": SideMove(**vars(server), verdict=judged.verdict) if server else None,
        }
    )


def _unjudged_cell(pair: _Pair, base: Sides, other: Sides) -> ComparedCell:
    first, second = pair.kinds
    numbers, is_one_case = (base["both"], other["both"]), pair.cases[0] == pair.cases[1]
    unlikeness = unlike(numbers[1], numbers[0], is_one_case=is_one_case)
    differ: dict[Unalike, tuple[bool, str]] = {
        "pool": (first.pool != second.pool, DIFFERENT_POOL),
        "cpu": (first.cpu_model != second.cpu_model, DIFFERENT_CPU),
        "turns": (first == second, NOT_IN_TURNS),
    }
    has_other_profile = numbers[0].subject.build_profile != numbers[1].subject.build_profile
    warnings = [warning for does_differ, warning in differ.values() if does_differ]
    levels = {side: (base[side].levels, other[side].levels) for side in SIDES if side in base and side in other}
    cell = UpgradeCell(
        case_id=pair.cases[0].case_id,
        title=pair.cases[0].label,
        pool=first.pool,
        cpu_model=first.cpu_model,
        verdict="unjudged",
        move=None,
        client=None,
        server=None,
        q=None,
        resolves=None,
        paired=False,
        before_ns=None,
        after_ns=None,
        invocations=min(len(own.levels) for own in numbers),
        run_ids=tuple(dict.fromkeys(pair.runs)),
        warnings=(*warnings, *([DIFFERENT_PROFILE] if has_other_profile else []), *unlikeness),
    )
    ratios = {side: unjudged_ratio(other[side], base[side]) for side in levels}
    unalike = [trait for trait, (does_differ, _) in differ.items() if does_differ]
    if unlikeness:
        unalike.append("work")
    return _shown(pair, _with_ratios(cell, {side: ratio for side, ratio in ratios.items() if ratio}), unalike, levels)


def _shown(
    pair: _Pair,
    cell: UpgradeCell,
    unalike: Sequence[Unalike],
    levels: Mapping[Side, tuple[Sequence[float], Sequence[float]]],
) -> ComparedCell:
    of_base = {"case_id": pair.cases[0].case_id, "title": pair.cases[0].label}  # two cases are judged as the second
    return ComparedCell(
        **vars(cell) | of_base,
        other_case_id=pair.cases[1].case_id,
        other_host_kind=pair.kinds[1],
        unalike=tuple(unalike),
        estimates={
            side: (estimate_median(of_base), estimate_median(of_other)) for side, (of_base, of_other) in levels.items()
        },
    )


def _with_histories(
    store: SampleStore,
    cells: Sequence[tuple[tuple[Case, Case], ComparedCell]],
    ends: tuple[End, End],
    measured: Collection[MeasuredSubjectRow],
) -> ComparedEnds:
    lines_of = {
        pair: tuple(dict.fromkeys(line_of(end.subject, kind, measured) for end, kind in zip(ends, pair, strict=True)))
        for pair in dict.fromkeys(_kinds(cell) for _, cell in cells)
    }
    lines = list(dict.fromkeys(line for pair in lines_of.values() for line in pair))
    cases = {case.case_id: case for both, _ in cells for case in both}
    if ends[0].case_id != ends[1].case_id:  # a line is of one case
        return ComparedEnds([cell for _, cell in cells], list(cases.values()))
    values = history_values(store, lines, sorted(cases))
    shown = [
        cell.model_copy(
            update={
                "history": tuple(
                    CellHistory(line=lines.index(line), values=values[line, cell.case_id])
                    for line in lines_of[_kinds(cell)]
                )
            }
        )
        for _, cell in cells
    ]
    return ComparedEnds(shown, list(cases.values()), [line.view(*(end.subject for end in ends)) for line in lines])


def _kinds(cell: ComparedCell) -> _Kinds:
    return HostKind(cell.pool, cell.cpu_model), cell.other_host_kind


class ComparedEnd(Frozen):
    """What is compared, and what else could be."""

    subject: Subject
    pool: str | None = Field(description="null: on every host kind that both ends have")
    cpu_model: str | None
    run_id: str | None = Field(description="null: in the runs that compare the two best")
    case_id: str | None = Field(description="null: in every case that both ends have")
    host_kinds: list[HostKind] = Field(description="those that measured the subject, the last one first")
    runs: list[RunChoice] = Field(description="those that measured the subject, the last ones first")
    cases: list[CaseChoice] = Field(description="those that the subject was measured in")


class Comparison(Frozen):
    """Two ends, compared in every case that both measured, or in one case each."""

    subjects: list[Subject] = Field(description="all that can be compared, by library, then version order")
    base: ComparedEnd | None = Field(description="null if nothing fits")
    other: ComparedEnd | None = Field(description="its costs are given relative to those of `base`")
    cases: list[CaseView]
    cells: list[ComparedCell] = Field(description="in the order of the matrix, then host kinds")
    differences: list[Difference] = Field(description="the dimensions in which two compared cases differ; else empty")
    lines: list[HistoryLine] = Field(description="of the cells' histories")
    left_out: int = Field(description="cells beyond the limit of one answer")
    relevant: float = Field(description="changes below this share do not count, however certain")
    upgrade: Upgrade | None = Field(description="what the changes have in common; null unless of one library")


MOST_CELLS = 2000
"""More are not read in one table."""
MOST_SUBJECTS = 500
"""To choose from: a followed branch has thousands of commits."""


def _both_cases(cell: ComparedCell, cases: Collection[Case]) -> tuple[Case, Case]:
    by_id = {case.case_id: case for case in cases}
    return by_id[cell.case_id], by_id[cell.other_case_id]


def _end(store: SampleStore, end: End | None, measured: Collection[MeasuredSubjectRow]) -> ComparedEnd | None:
    if end is None:
        return None
    name = end.subject.name
    known = {HostKind(row.pool, row.cpu_model) for row in measured if row.subject.name == name}
    runs, cases = store.kept_value(
        ("runs and cases of", name),
        lambda evidence: evidence.of_subjects((name,)),
        lambda: _choices(store.appearances(Selection(Metric.CPU_NS, subjects=(name,), asides=True))),
    )
    return ComparedEnd(
        subject=end.subject,
        pool=end.pool,
        cpu_model=end.cpu_model,
        run_id=end.run_id,
        case_id=end.case_id,
        host_kinds=[kind for kind in store.host_kinds() if kind in known],
        runs=runs,
        cases=cases,
    )


def _choices(rows: Collection[AppearanceRow]) -> tuple[list[RunChoice], list[CaseChoice]]:
    cases = {row.case.case_id: row.case for row in rows}
    ordered = sorted(cases.values(), key=case_order)
    return run_choices(rows), [CaseChoice(id=case.case_id, title=case.label) for case in ordered]


@dataclass(frozen=True)
class AskedEnd:
    """What a person wrote of an end."""

    subject: str | None = None
    pool: str | None = None
    cpu_model: str | None = None
    run_id: str | None = None
    case_id: str | None = None

    def of(self, subject: Subject | None, other: "AskedEnd") -> End | None:
        """A case at one end alone is that of both."""
        case_id = self.case_id or other.case_id
        return End(subject, self.pool, self.cpu_model, self.run_id, case_id) if subject else None


def comparison(
    store: SampleStore, catalogue: Catalogue, base: AskedEnd, other: AskedEnd, relevant: float = RELEVANT
) -> Comparison:
    """Without subjects, the upgrade measured last. Raises Refusal."""
    measured = store.measured_subjects(Selection(Metric.CPU_NS, asides=True))
    texts = [end.subject for end in (base, other)]
    subjects = {text: version_of(store, catalogue, Metric.CPU_NS, text) for text in texts if text is not None}
    before, after = chosen_ends(measured, *(subjects[text] if text else None for text in texts))
    ends = base.of(before, other), other.of(after, base)
    first, second = ends
    shown = compared_ends(store, (first, second), measured, relevant) if first and second else ComparedEnds()
    chosen = {end.subject.name for end in ends if end}
    newest = sorted(measured, key=lambda row: (row.subject.name in chosen, row.measured_at), reverse=True)
    choices = {row.subject.name for row in newest[:MOST_SUBJECTS]}
    cells, upgrade = shown.cells, None
    if first and second and first.is_upgraded_to(second):
        cells, upgrade = _upgraded(store, catalogue, first, second, shown.cells, relevant)
    return Comparison(
        subjects=subjects_in_order(
            MeasuredSubject(row.subject, row.measured_at) for row in measured if row.subject.name in choices
        ),
        base=_end(store, first, measured),
        other=_end(store, second, measured),
        cases=[CaseView.of(case) for case in shown.cases],
        cells=list(cells[:MOST_CELLS]),
        differences=differences(*_both_cases(shown.cells[0], shown.cases)) if shown.cells else [],
        lines=list(shown.lines),
        left_out=len(cells[MOST_CELLS:]),
        relevant=relevant,
        upgrade=upgrade,
    )


def _upgraded(
    store: SampleStore, catalogue: Catalogue, base: End, other: End, cells: Sequence[ComparedCell], relevant: float
) -> tuple[Sequence[ComparedCell], Upgrade]:
    """The cells with what their servers need, and what they have in common."""

    upgrade = upgrade_of(store, catalogue, base.subject, other.subject, OnMachines(base.pool, base.cpu_model), relevant)
    return with_server_costs(store, _step(base, other), cells), upgrade
