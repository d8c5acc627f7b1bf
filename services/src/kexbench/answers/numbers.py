"""The stored numbers of an upgrade: those that are compared in each case on each host kind."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from statistics import median

import numpy as np

from kexbench.analysis.compared import CellData
from kexbench.analysis.estimates import MIN_COMPARED_INVOCATIONS
from kexbench.analysis.rounds import Batches, medians, values_of
from kexbench.answers.comparing import (
    Bridge,
    Components,
    Numbers,
    are_apart,
    batches_of,
    best_runs,
    bridge_between,
    chosen,
    components_between,
    measured_in_both,
    sentinels,
    unbridged,
    unlike,
    warnings_of,
)
from kexbench.answers.qualifications import layout_floors
from kexbench.domain.cases import Case, case_order
from kexbench.domain.hosts import HostKind
from kexbench.domain.samples import Metric
from kexbench.domain.upgrades import SIDES, Side
from kexbench.store.port import AppearanceRow, OutcomeRow, SampleRow, SampleStore, Selection

Step = tuple[str, str]
"""The names of two subjects, the one before and the one after."""
Runs = dict[tuple[Step, str], tuple[str, str]]
"""The runs of both subjects, by step and case."""
RunIds = tuple[str | None, str | None]
"""The run of each subject of a step; None: of all runs, those that compare the two best."""
ANY_RUNS: RunIds = (None, None)


Sides = dict[Side, Numbers]
Place = tuple[str, str, str]
"""A case, a subject and a run."""


def cells_of_steps(
    store: SampleStore,
    steps: Collection[Step],
    case_ids: Collection[str] = (),
    *,
    run_ids: RunIds = ANY_RUNS,
    metrics: Mapping[Side, Metric] = SIDES,
    asides: bool = False,
) -> dict[Step, list[CellData]]:
    """The data of the cells of steps in some cases, or in all, in the order of the matrix, then by host kind.
    `metrics`: those of both sides together, and optionally of each side. `asides`: runs aside count too; a run that is
    named always does."""
    names = tuple(sorted({name for step in steps for name in step}))
    cells_by_step: dict[Step, list[CellData]] = {step: [] for step in steps}
    if not names:
        return cells_by_step
    named = tuple(run_id for run_id in run_ids if run_id is not None)
    selection = Selection(
        metrics["both"],
        subjects=names,
        case_ids=tuple(sorted(case_ids)),
        runs=() if None in run_ids else named,
        asides=True,
    )
    left_out = frozenset() if asides else store.evidence().left_out.difference(named)
    appearances = [row for row in store.appearances(selection) if row.run_id not in left_out]
    cases = {row.case.case_id: row.case for row in appearances}
    runs_by_kind = {
        kind: _best_runs([row for row in appearances if row.host_kind == kind], steps, run_ids)
        for kind in sorted(host_kinds(appearances))
    }
    read = _read(store, runs_by_kind.values(), selection.case_ids, metrics)
    for kind, runs in runs_by_kind.items():
        for step, cell in _cells_on(store, kind, cases, runs, metrics, read):
            cells_by_step[step].append(cell)
    return {step: sorted(cells, key=lambda cell: case_order(cell.case)) for step, cells in cells_by_step.items()}


def host_kinds(rows: Iterable[AppearanceRow]) -> list[HostKind]:
    """The host kinds, the one measured last first."""
    newest_first = sorted(rows, key=lambda row: (-row.measured_at.timestamp(), row.host_kind))
    return list(dict.fromkeys(row.host_kind for row in newest_first))


def _best_runs(rows: Iterable[AppearanceRow], steps: Iterable[Step], run_ids: RunIds) -> Runs:
    """The runs to compare, from the appearances on one host kind."""
    by_subject: dict[str, dict[str, list[AppearanceRow]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        by_subject[row.subject][row.case.case_id].append(row)
    runs: Runs = {}
    for before, after in steps:
        for case_id in list(by_subject[before]):
            first, second = (
                [row for row in by_subject[name][case_id] if run_id in (None, row.run_id)]
                for name, run_id in zip((before, after), run_ids, strict=True)
            )
            if pair := best_runs(first, second):
                runs[(before, after), case_id] = pair
    return runs


@dataclass(frozen=True)
class _Read:
    """What cells on all host kinds are made of."""

    samples: Mapping[Metric, Mapping[HostKind | None, list[SampleRow]]]
    sentinels: Mapping[Metric, Mapping[HostKind | None, list[SampleRow]]]
    components: Components


def _read(
    store: SampleStore, all_runs: Iterable[Runs], case_ids: tuple[str, ...], metrics: Mapping[Side, Metric]
) -> _Read:
    pairs = [(step, pair) for runs in all_runs for (step, _), pair in runs.items()]
    names = {name for step, _ in pairs for name in step}
    run_ids = tuple(sorted({run_id for _, pair in pairs for run_id in pair}))
    apart = tuple(sorted({run_id for _, pair in pairs if pair[0] != pair[1] for run_id in pair}))
    if not run_ids:
        return _Read({}, {}, {})
    both = metrics["both"]
    here = Selection(both, subjects=tuple(sorted(names)), case_ids=case_ids, runs=run_ids, asides=True)
    beside = Selection(both, case_ids=case_ids, sentinel=True, runs=apart)
    return _Read(
        {metric: by_kind(rows) for metric, rows in store.samples_by_metric(here, metrics.values()).items()},
        {metric: by_kind(rows) for metric, rows in store.samples_by_metric(beside, metrics.values()).items()}
        if apart
        else {},
        store.components(run_ids),
    )


def by_kind(rows: Iterable[SampleRow]) -> Mapping[HostKind | None, list[SampleRow]]:
    rows_by_kind: dict[HostKind | None, list[SampleRow]] = defaultdict(list)
    for row in rows:
        rows_by_kind[row.host_kind].append(row)
    return rows_by_kind


def _cells_on(
    store: SampleStore,
    kind: HostKind,
    cases: Mapping[str, Case],
    runs: Runs,
    metrics: Mapping[Side, Metric],
    read: _Read,
) -> Iterator[tuple[Step, CellData]]:
    if not runs:
        return
    places = {(case_id, *where) for (step, case_id), pair in runs.items() for where in zip(step, pair, strict=True)}
    differing = [(case_id, *pair) for (_, case_id), pair in runs.items() if pair[0] != pair[1]]
    apart = {run_id for _, *pair in differing for run_id in pair}
    here = Selection(
        metrics["both"],
        kind.pool,
        kind.cpu_model,
        subjects=tuple(sorted({name for _, name, _ in places})),
        case_ids=tuple(sorted({case_id for case_id, *_ in places})),
        runs=tuple(sorted({run_id for *_, run_id in places})),
        asides=True,
    )
    numbers: dict[Place, Sides] = defaultdict(dict)
    for side, metric in metrics.items():
        frozen = sentinels(read.sentinels[metric].get(kind, ())) if apart else {}
        others = measured_in_both(store, replace(here, metric=metric), unbridged(differing, frozen))
        for place, own_numbers in numbers_of(read.samples[metric].get(kind, ()), places).items():
            key = (own_numbers.run_id, place[0])
            own_numbers.sentinel, own_numbers.others = frozen.get(key), others.get(key, {})
            numbers[place][side] = own_numbers
    add_conditions(store, numbers, cases, apart)
    libraries = {sides["both"].subject.library for sides in numbers.values() if "both" in sides}
    floors = layout_floors(store, kind, libraries) if metrics["both"] in SIDES.values() else {}
    disturbed = _disturbed(store.disturbed(replace(here, metric=metrics["client"]))) if "client" in metrics else {}
    for (step, case_id), pair in runs.items():
        before, after = ((case_id, *where) for where in zip(step, pair, strict=True))
        first, second = numbers[before], numbers[after]
        if not ("both" in first and "both" in second):
            continue  # meanwhile, an earlier attempt without numbers arrived, and counts instead
        floor = floors.get((second["both"].subject.library, case_id), 0.0)
        cell = _cell(cases[case_id], kind, metrics["both"], first, second, floor)
        changed = components_between(first["both"], second["both"], read.components)
        count = max(disturbed.get(before, 0), disturbed.get(after, 0))
        yield step, replace(cell, components=changed, disturbed=count)


def numbers_of(rows: Iterable[SampleRow], places: Collection[Place]) -> dict[Place, Numbers]:
    by_place: dict[Place, Numbers] = {}
    for row in rows:
        place = (row.case.case_id, row.subject.name, row.run_id)
        if place in places:
            numbers = by_place.setdefault(place, Numbers(row.subject, row.run_id))
            numbers.batches[row.unit] = row.values
            numbers.levels.append(row.level)
    return by_place


def _disturbed(rows: Iterable[OutcomeRow]) -> dict[Place, int]:
    return {(row.case.case_id, row.subject.name, row.run_id): row.invocations for row in rows}


def add_conditions(
    store: SampleStore, numbers: Mapping[Place, Sides], cases: Mapping[str, Case], apart: Collection[str]
) -> None:
    """Add the harness versions of numbers from different runs, and what libraries negotiated by their own choice."""
    harness = store.harness_versions(apart) if apart else {}
    free = {case_id for case_id, case in cases.items() if case.leaves_a_choice}
    runs = {run_id for case_id, _, run_id in numbers if case_id in free}
    negotiated = chosen(store.negotiated(runs)) if runs else {}
    for (case_id, _, _), sides in numbers.items():
        both = sides["both"]
        both.harness_version = harness.get(both.run_id)
        if case_id in free:
            both.negotiated = negotiated.get((both.run_id, case_id, f"{both.subject.library}@{both.subject.source}"))


def _cell(case: Case, kind: HostKind, metric: Metric, before: Sides, after: Sides, floor: float) -> CellData:
    """Exact values are compared as they are: they don't depend on the machine, and what a newer default makes the two
    negotiate is part of their price."""
    older, newer = before["both"], after["both"]
    bridge = bridge_between(older, newer)
    is_exact = metric.row.exact is not None
    sides = {side: (before[side], after[side]) for side in before if side in after}
    bridges = {side: None if is_exact else bridge_between(*both) for side, both in sides.items()}
    first = {side: _batches(both[0], bridges[side], later=False) for side, both in sides.items()}
    second = {side: _batches(both[1], bridges[side], later=True) for side, both in sides.items()}
    paired = len(first["both"].keys() & second["both"].keys()) >= MIN_COMPARED_INVOCATIONS
    return CellData(
        case=case,
        host_kind=kind,
        before=first,
        after=second,
        run_ids=tuple(dict.fromkeys((older.run_id, newer.run_id))),
        warnings=tuple(warnings_of(newer, older, bridge, paired=paired or is_exact)),
        unlike=bool(unlike(newer, older, is_one_case=not is_exact)),
        apart=not is_exact and are_apart(older, newer, bridge),
        floor=floor,
        before_ns=median(older.levels)
        * (_level(bridge.second) / _level(bridge.first) if bridge and not is_exact else 1),
        after_ns=median(newer.levels),
        levels={side: (own.levels, other.levels) for side, (own, other) in sides.items()},
        negotiated=(older.negotiated, newer.negotiated),
        metric=metric,
    )


def _level(batches: Batches) -> float:
    return float(np.median(medians(batches)))


def _batches(numbers: Numbers, bridge: Bridge | None, *, later: bool) -> Batches:
    """The batches; through a bridge, scaled to the cost of the bridge in the later run, so that they keep the metric's
    unit."""
    if bridge is None:
        return batches_of(numbers, None)
    level = _level(bridge.second)
    relative = batches_of(numbers, bridge.second if later else bridge.first)
    return {unit: [value * level for value in values_of(values)] for unit, values in relative.items()}
