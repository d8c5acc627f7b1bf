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
from kexbench.answers.comparing import (
    DIFFERENT_CPU,
    DIFFERENT_POOL,
    DIFFERENT_PROFILE,
    best_runs,
    unjudged_ratio,
    unlike,
)
from kexbench.answers.ends import End, Kinds, shared_kinds
from kexbench.answers.history import CellHistory
from kexbench.answers.judging import judged_steps, judged_together, token_of
from kexbench.answers.numbers import Place, RunIds, Sides, Step, add_conditions, by_kind, numbers_of
from kexbench.answers.two_cases import NOT_IN_TURNS, in_turns
from kexbench.domain.cases import Case, case_order
from kexbench.domain.hosts import HostKind
from kexbench.domain.intervals import Estimate, Ratio
from kexbench.domain.samples import Metric
from kexbench.domain.upgrades import SIDES, CellVerdict, Side, SideMove, UpgradeCell
from kexbench.store.port import AppearanceRow, MeasuredSubjectRow, SampleStore, Selection

Unalike = Literal["pool", "cpu", "runs", "work", "turns"]


class ComparedCell(UpgradeCell):
    """One case or two, on one host kind or with one at each end. `case_id`, `pool` and `cpu_model` are of `base`.
    `unalike` names what differs between the ends, where these have a ratio that is not judged."""

    other_case_id: str = Field(description="of `other`; that of `base` unless two cases are compared")
    other_host_kind: HostKind = Field(description="of `other`; that of `base` unless two machines are compared")
    unalike: tuple[Unalike, ...] = Field(description="why the ratio is not judged; else empty")
    estimates: dict[Side, tuple[Estimate, Estimate]] = Field(description="what both ends cost as measured, by side")
    history: tuple[CellHistory, ...] = Field((), description="of the line of `base`, then of `other` if it is another")


@dataclass(frozen=True)
class _Pair:
    """What is compared: a case or two, on one host kind or two, of one run or two."""

    cases: tuple[Case, Case]
    kinds: Kinds
    runs: tuple[str, str]
    judged: tuple[CellData, UpgradeCell] | None = None
    """None on two host kinds, and of two cases that were not measured in turns."""

    def places(self, ends: tuple[End, End]) -> Iterator[tuple[HostKind, Place]]:
        for kind, case, run_id, end in zip(self.kinds, self.cases, self.runs, ends, strict=True):
            yield kind, (case.case_id, end.subject.name, run_id)


def compared_in_run(
    store: SampleStore, run_id: str, names: tuple[str, str], relevant: float, metrics: Mapping[Side, Metric]
) -> tuple[ComparedCell, ...]:
    """Two subjects by the numbers of a run. Empty where no case has numbers of both."""
    measured = store.measured_subjects(Selection(metrics["both"], run_id=run_id))
    subjects = {row.subject.name: row.subject for row in measured}
    if not subjects.keys() >= set(names):
        return ()
    before, after = (End(subjects[name], run_id=run_id) for name in names)
    return tuple(cell for _, cell in kept_cells(store, (before, after), measured, relevant, metrics))


def kept_cells(
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
        lambda evidence: token_of(evidence, step_of(*ends)),
        lambda: _cells(store, ends, kinds, relevant, metrics),
    )


def step_of(base: End, other: End) -> Step:
    return base.subject.name, other.subject.name


def _cells(
    store: SampleStore, ends: tuple[End, End], kinds: Sequence[Kinds], relevant: float, metrics: Mapping[Side, Metric]
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
    store: SampleStore, ends: tuple[End, End], kinds: Sequence[Kinds], relevant: float, metrics: Mapping[Side, Metric]
) -> list[_Pair]:
    """Judged together on all host kinds, whichever are shown."""
    run_ids: RunIds = (ends[0].run_id, ends[1].run_id)
    step = step_of(*ends)
    judged = judged_steps(store, [step], relevant, run_ids=run_ids, metrics=metrics)[step]
    shown = {kind for kind, _ in kinds}
    return [
        _Pair((data.case, data.case), (kind, kind), (cell.run_ids[0], cell.run_ids[-1]), (data, cell))
        for data, cell in zip(judged.data, judged.judged, strict=True)
        if (kind := cell.host_kind) in shown
    ]


def _on_two_kinds(store: SampleStore, ends: tuple[End, End], kinds: Kinds) -> list[_Pair]:
    rows = [_appearances(store, end, kind) for end, kind in zip(ends, kinds, strict=True)]
    runs = ((case_id, best_runs(rows[0][case_id], rows[1][case_id])) for case_id in rows[0].keys() & rows[1].keys())
    return [_Pair((rows[0][case_id][0].case,) * 2, kinds, pair) for case_id, pair in runs if pair]


def _of_two_cases(store: SampleStore, ends: tuple[End, End], kinds: Sequence[Kinds], relevant: float) -> list[_Pair]:
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
    names = tuple(sorted(set(step_of(*ends))))
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
        host_kind=first,
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
    base, other = pair.cases  # two cases are judged as the second
    return ComparedCell(
        **vars(cell) | {"case_id": base.case_id, "title": base.label},
        other_case_id=other.case_id,
        other_host_kind=pair.kinds[1],
        unalike=tuple(unalike),
        estimates={
            side: (estimate_median(of_base), estimate_median(of_other)) for side, (of_base, of_other) in levels.items()
        },
    )
