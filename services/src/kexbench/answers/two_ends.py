"""Any two ends compared in every case that both measured: versions, libraries, host kinds or runs. Or two cases.

Ends on one host kind are judged like an upgrade. Ends that are not alike have a ratio with its
interval and no verdict: `comparing.unjudged_ratio`. So do two cases that were not measured in turns in one run.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from pydantic import Field

from kexbench.analysis.estimates import estimate_median
from kexbench.analysis.verdict import judge
from kexbench.answers.choices import run_choices
from kexbench.answers.comparing import (
    DIFFERENT_CPU,
    DIFFERENT_POOL,
    DIFFERENT_PROFILE,
    Numbers,
    best_runs,
    unjudged_ratio,
    unlike,
)
from kexbench.answers.history import CellHistory, HistoryLine, history_values, line_of
from kexbench.answers.judging import judged_steps, token_of
from kexbench.answers.meaning import version_of
from kexbench.answers.numbers import Place, RunIds, Sides, Step, add_conditions, by_kind, numbers_of
from kexbench.answers.shapes import CaseChoice, CaseView, RunChoice
from kexbench.answers.subjects import MeasuredSubject, neighbours, subjects_in_order
from kexbench.answers.two_cases import NOT_IN_TURNS, in_turns
from kexbench.domain.cases import Case, CaseDifference, case_order, differences
from kexbench.domain.components import ComponentChange
from kexbench.domain.frozen import Frozen
from kexbench.domain.hosts import HostKind
from kexbench.domain.intervals import Estimate, Ratio
from kexbench.domain.samples import Metric
from kexbench.domain.subjects import Subject
from kexbench.domain.upgrades import SIDES, CellVerdict, Side, UpgradeCell
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


class ComparedSide(Frozen):
    """CPU time of both sides together, or of one, at both ends."""

    base: Estimate = Field(description="CPU time of a handshake in nanoseconds, as measured")
    other: Estimate
    ratio: Ratio | None = Field(description="of `other` to `base`; null with fewer than three invocations")
    verdict: CellVerdict | None = Field(description="null where the ends are not alike")


class CellEnd(Frozen):
    """Where the numbers of an end are from."""

    pool: str
    cpu_model: str
    run_id: str


class ComparedCell(Frozen):
    """One case or two, on one host kind or with one at each end."""

    case_id: str = Field(description="of `base`, and of `other` unless two cases are compared")
    other_case_id: str = Field(description="of `other`")
    base: CellEnd
    other: CellEnd
    unalike: list[Unalike] = Field(description="why there is no verdict: what differs between the ends; else empty")
    both: ComparedSide
    client: ComparedSide | None
    server: ComparedSide | None
    resolves: float | None = Field(description="smallest detectable change, as a share; null without a verdict")
    paired: bool = Field(description="true: interleaved in the same invocations")
    disturbed: int = Field(description="invocations without separate numbers of client and server")
    warnings: list[str] = Field(description="why the comparison is weaker, or has no verdict")
    components: list[ComponentChange]
    history: list[CellHistory] = Field(description="of the line of `base`, then of `other` if it is another")


@dataclass(frozen=True)
class ComparedEnds:
    cells: Sequence[ComparedCell] = ()
    cases: Sequence[Case] = ()
    lines: Sequence[HistoryLine] = ()

    def __len__(self) -> int:
        return len(self.cells)


_Kinds = tuple[HostKind, HostKind]


_Levels = Mapping[Side, tuple[Sequence[float], Sequence[float]]]
"""The costs of the invocations of both ends."""


@dataclass(frozen=True)
class _Judged:
    """A cell before its history is read."""

    cases: tuple[Case, Case]
    kinds: _Kinds
    runs: tuple[str, str]
    judged: UpgradeCell | None
    """None on two host kinds, and of two cases that were not measured in turns."""
    levels: _Levels = field(default_factory=dict)
    """Empty if they are not read yet."""

    @property
    def is_complete(self) -> bool:
        """Whether each side has its ratio, so that no batches are needed."""
        return bool(self.levels) and all(_move(self.judged, side) for side in self.levels)

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
    store: SampleStore, base: End, other: End, measured: Collection[MeasuredSubjectRow], relevant: float = RELEVANT
) -> ComparedEnds:
    """In the order of the matrix, then of the host kinds. `measured`: all subjects."""
    kinds = shared_kinds(store, base, other, measured)
    if not kinds:
        return ComparedEnds()
    cells = store.kept_value(
        ("two ends", base, other, relevant, tuple(kinds)),
        lambda evidence: token_of(evidence, _step(base, other)),
        lambda: _cells(store, (base, other), kinds, relevant),
    )
    return _with_histories(store, cells, (base, other), measured)


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
    store: SampleStore, ends: tuple[End, End], kinds: Sequence[_Kinds], relevant: float
) -> list[tuple[tuple[Case, Case], ComparedCell]]:
    first, second = kinds[0]
    if ends[0].case_id != ends[1].case_id:
        judged = _in_two_cases(store, ends, kinds, relevant)
    else:
        every = _on_each_kind(store, ends, kinds, relevant) if first == second else _on_two_kinds(store, ends, kinds[0])
        judged = [cell for cell in every if ends[0].case_id in (None, cell.cases[0].case_id)]
    numbers = _numbers(store, ends, [cell for cell in judged if not cell.is_complete])
    ranks = {pair: rank for rank, pair in enumerate(kinds)}
    compared = []
    for cell in judged:
        base, other = (numbers.get(kind, {}).get(place, {}) for kind, place in cell.places(ends))
        if cell.is_complete or ("both" in base and "both" in other):
            compared.append((cell, _compared(cell, base, other)))
    compared.sort(key=lambda pair: (case_order(pair[0].cases[0]), ranks[pair[0].kinds]))
    return [(cell.cases, shown) for cell, shown in compared]


def _on_each_kind(store: SampleStore, ends: tuple[End, End], kinds: Sequence[_Kinds], relevant: float) -> list[_Judged]:
    """Judged together on all host kinds, whichever are shown, as the report of an upgrade does."""
    run_ids: RunIds = (ends[0].run_id, ends[1].run_id)
    step = _step(*ends)
    judged = judged_steps(store, [step], relevant, run_ids=run_ids)[step]
    shown = {kind for kind, _ in kinds}
    return [
        _Judged((data.case, data.case), (kind, kind), (cell.run_ids[0], cell.run_ids[-1]), cell, data.levels)
        for data, cell in zip(judged.data, judged.judged, strict=True)
        if (kind := HostKind(cell.pool, cell.cpu_model)) in shown
    ]


def _on_two_kinds(store: SampleStore, ends: tuple[End, End], kinds: _Kinds) -> list[_Judged]:
    rows = [_appearances(store, end, kind) for end, kind in zip(ends, kinds, strict=True)]
    runs = ((case_id, best_runs(rows[0][case_id], rows[1][case_id])) for case_id in rows[0].keys() & rows[1].keys())
    return [_Judged((rows[0][case_id][0].case,) * 2, kinds, pair, None) for case_id, pair in runs if pair]


def _in_two_cases(store: SampleStore, ends: tuple[End, End], kinds: Sequence[_Kinds], relevant: float) -> list[_Judged]:
    """The case of each end on each host kind, by the runs that compare them best. Judged where both were measured in
    turns: a job takes each of its cases once before it takes one again, so their costs pair like those of two
    versions."""
    cells = []
    for pair in kinds:
        rows = [_appearances(store, end, kind).get(end.case_id or "", []) for end, kind in zip(ends, pair, strict=True)]
        if runs := best_runs(*rows):
            cells.append(_Judged((rows[0][0].case, rows[1][0].case), pair, runs, None))
    numbers = _numbers(store, ends, cells)
    sides = [tuple(numbers[kind].get(place, {}) for kind, place in cell.places(ends)) for cell in cells]
    data = [
        in_turns(store, cell.kinds, cell.cases, cell.runs[0], *both) for cell, both in zip(cells, sides, strict=True)
    ]
    judged = iter(judge([one for one in data if one], relevant))
    return [replace(cell, judged=next(judged)) if one else cell for cell, one in zip(cells, data, strict=True)]


def _appearances(store: SampleStore, end: End, kind: HostKind) -> dict[str, list[AppearanceRow]]:
    """By case. Runs aside count only if there is no other."""
    here = Selection(Metric.CPU_NS, kind.pool, kind.cpu_model, subjects=(end.subject.name,), run_id=end.run_id)
    by_case: dict[str, list[AppearanceRow]] = defaultdict(list)
    for row in store.appearances(here) or store.appearances(replace(here, asides=True)):
        by_case[row.case.case_id].append(row)
    return by_case


def _numbers(store: SampleStore, ends: tuple[End, End], cells: Sequence[_Judged]) -> dict[HostKind, dict[Place, Sides]]:
    """The costs of both ends, by host kind."""
    places: dict[HostKind, set[Place]] = defaultdict(set)
    for cell in cells:
        for kind, place in cell.places(ends):
            places[kind].add(place)
    run_ids = {run_id for cell in cells for run_id in cell.runs}
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
    cases = {case.case_id: case for cell in cells for case in cell.cases}
    for of_kind in numbers.values():
        complete = {place: sides for place, sides in of_kind.items() if "both" in sides}
        add_conditions(store, complete, cases, run_ids)
    return numbers


def _compared(cell: _Judged, base: Sides, other: Sides) -> ComparedCell:
    """`base` and `other` are needed unless the cell is complete."""
    judged = cell.judged
    unalike = _unalike(cell, base, other)
    sides = {side: _side(side, cell, base, other, is_judged=not unalike) for side in SIDES}
    both = sides["both"]
    assert both is not None
    return ComparedCell(
        case_id=cell.cases[0].case_id,
        other_case_id=cell.cases[1].case_id,
        base=CellEnd(**vars(cell.kinds[0]), run_id=cell.runs[0]),
        other=CellEnd(**vars(cell.kinds[1]), run_id=cell.runs[1]),
        unalike=unalike,
        both=both,
        client=sides["client"],
        server=sides["server"],
        resolves=judged.resolves if judged and not unalike else None,
        paired=judged.paired if judged else False,
        disturbed=judged.disturbed if judged else 0,
        warnings=list(judged.warnings) if judged else _unjudged(cell, base["both"], other["both"]),
        components=list(judged.components) if judged else [],
        history=[],
    )


def _unalike(cell: _Judged, base: Sides, other: Sides) -> list[Unalike]:
    first, second = cell.kinds
    verdict = cell.judged.verdict if cell.judged else None
    is_one_case = cell.cases[0] == cell.cases[1]
    differ: dict[Unalike, bool] = {
        "pool": first.pool != second.pool,
        "cpu": first.cpu_model != second.cpu_model,
        "runs": verdict == "apart",
        "work": verdict == "unlike" if verdict else bool(unlike(other["both"], base["both"], is_one_case=is_one_case)),
        "turns": first == second and cell.judged is None,
    }
    return [trait for trait, does_differ in differ.items() if does_differ]


def _unjudged(cell: _Judged, base: Numbers, other: Numbers) -> list[str]:
    kinds, is_one_case = cell.kinds, cell.cases[0] == cell.cases[1]
    differ = {
        NOT_IN_TURNS: kinds[0] == kinds[1],
        DIFFERENT_POOL: kinds[0].pool != kinds[1].pool,
        DIFFERENT_CPU: kinds[0].cpu_model != kinds[1].cpu_model,
        DIFFERENT_PROFILE: base.subject.build_profile != other.subject.build_profile,
    }
    warnings = [warning for warning, does_differ in differ.items() if does_differ]
    return warnings + unlike(other, base, is_one_case=is_one_case)


def _side(side: Side, cell: _Judged, base: Sides, other: Sides, *, is_judged: bool) -> ComparedSide | None:
    """The judged ratio where there is one, also without its verdict, so that all pages show the same numbers."""
    judged, numbers = cell.judged, (base[side], other[side]) if side in base and side in other else None
    levels = cell.levels.get(side) or (numbers and (numbers[0].levels, numbers[1].levels))
    if levels is None:
        return None
    own = _move(judged, side)
    verdict = None
    if is_judged and judged:
        verdict = judged.verdict if side == "both" else _verdict(judged, side)
    return ComparedSide(
        base=estimate_median(levels[0]),
        other=estimate_median(levels[1]),
        ratio=own if own else numbers and unjudged_ratio(numbers[1], numbers[0]),
        verdict=verdict,
    )


def _move(judged: UpgradeCell | None, side: Side) -> Ratio | None:
    return {"both": judged.move, "client": judged.client, "server": judged.server}[side] if judged else None


def _verdict(judged: UpgradeCell, side: Side) -> CellVerdict | None:
    move = judged.client if side == "client" else judged.server
    return move.verdict if move else None


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
                "history": [
                    CellHistory(line=lines.index(line), values=values[line, cell.case_id])
                    for line in lines_of[_kinds(cell)]
                ]
            }
        )
        for _, cell in cells
    ]
    return ComparedEnds(shown, list(cases.values()), [line.view(*(end.subject for end in ends)) for line in lines])


def _kinds(cell: ComparedCell) -> _Kinds:
    return HostKind(cell.base.pool, cell.base.cpu_model), HostKind(cell.other.pool, cell.other.cpu_model)


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
    differences: list[CaseDifference] = Field(
        description="the dimensions in which two compared cases differ; else empty"
    )
    lines: list[HistoryLine] = Field(description="of the cells' histories")
    left_out: int = Field(description="cells beyond the limit of one answer")


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
    shown = compared_ends(store, ends[0], ends[1], measured, relevant) if ends[0] and ends[1] else ComparedEnds()
    chosen = {end.subject.name for end in ends if end}
    newest = sorted(measured, key=lambda row: (row.subject.name in chosen, row.measured_at), reverse=True)
    choices = {row.subject.name for row in newest[:MOST_SUBJECTS]}
    cells = shown.cells[:MOST_CELLS]
    return Comparison(
        subjects=subjects_in_order(
            MeasuredSubject(row.subject, row.measured_at) for row in measured if row.subject.name in choices
        ),
        base=_end(store, ends[0], measured),
        other=_end(store, ends[1], measured),
        cases=[CaseView.of(case) for case in shown.cases],
        cells=list(cells),
        differences=differences(*_both_cases(shown.cells[0], shown.cases)) if shown.cells else [],
        lines=list(shown.lines),
        left_out=len(shown.cells) - len(cells),
    )
