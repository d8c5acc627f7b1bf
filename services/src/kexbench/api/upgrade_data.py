"""What the store has of an upgrade: of each case on each host kind the numbers that are set beside each other."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import median

import numpy as np

from kexbench.analysis.estimates import MIN_COMPARED_INVOCATIONS
from kexbench.analysis.rounds import Batches, medians
from kexbench.analysis.upgrade import CellData
from kexbench.api.comparing import (
    Bridge,
    Numbers,
    are_apart,
    batches_of,
    best_runs,
    bridge_between,
    chosen,
    components_between,
    sentinels,
    unlike,
    warnings_of,
)
from kexbench.api.lab import GROUP, qualified
from kexbench.api.models import HostKind
from kexbench.api.together import measured_in_both, unbridged
from kexbench.api.upgrade_ends import version_names
from kexbench.domain.cases import Case, case_order
from kexbench.domain.samples import Metric
from kexbench.domain.upgrades import MissingCell, Side
from kexbench.store.port import AppearanceRow, HostKindRow, OutcomeRow, SampleRow, Selection, Store, SubjectRow

SIDES: dict[Side, Metric] = {
    "both": Metric.CPU_NS,
    "client": Metric.CLIENT_CPU_NS,
    "server": Metric.SERVER_CPU_NS,
}
NOT_MEASURED = "not measured"
_Runs = Mapping[str, tuple[str, str]]
"""By the case's id the run of either subject."""
_Sides = dict[Side, Numbers]


def cells_of_upgrade(
    store: Store,
    library: str,
    before: str,
    after: str,
    *,
    run_id: str | None = None,
    kinds: Collection[HostKindRow] | None = None,
) -> list[CellData]:
    """Of two subjects, by their names, what their costs are judged by: in all that is stored or in one run alone, on
    every host kind or on some. In the order of the matrix, then host kinds, the one measured last first."""
    selection = Selection(Metric.CPU_NS, libraries=(library,), subjects=(before, after), run_id=run_id, asides=True)
    appearances = store.appearances(selection)
    cases = {row.case.case_id: row.case for row in appearances}
    found: list[CellData] = []
    for kind in host_kinds(appearances):
        if kinds is None or kind in kinds:
            runs = _best_runs(appearances, kind, before, after)
            found += _cells_on(store, kind, replace(selection, run_id=None), cases, runs)
    return sorted(found, key=lambda cell: case_order(cell.case))


def host_kinds(rows: Iterable[AppearanceRow]) -> list[HostKindRow]:
    """The one measured last first."""
    newest_first = sorted(rows, key=lambda row: row.measured_at, reverse=True)
    return list(dict.fromkeys(HostKindRow(row.pool, row.cpu_model) for row in newest_first))


def _best_runs(rows: Iterable[AppearanceRow], kind: HostKindRow, before: str, after: str) -> _Runs:
    by_case: dict[str, list[AppearanceRow]] = defaultdict(list)
    for row in rows:
        if (row.pool, row.cpu_model) == (kind.pool, kind.cpu_model):
            by_case[row.case.case_id].append(row)
    runs = {case_id: best_runs(own, before, after) for case_id, own in by_case.items()}
    return {case_id: pair for case_id, pair in runs.items() if pair}


def _cells_on(
    store: Store, kind: HostKindRow, selection: Selection, cases: Mapping[str, Case], runs: _Runs
) -> Iterable[CellData]:
    if not runs:
        return
    before, after = selection.subjects
    everything = {run_id for pair in runs.values() for run_id in pair}
    apart = {run_id for pair in runs.values() if pair[0] != pair[1] for run_id in pair}
    here = replace(selection, pool=kind.pool, cpu_model=kind.cpu_model, runs=tuple(everything))
    numbers: dict[tuple[str, str], _Sides] = defaultdict(dict)
    for side, metric in SIDES.items():
        for key, found in _numbers(store.samples(replace(here, metric=metric)), selection.subjects, runs).items():
            numbers[key][side] = found
        frozen = sentinels(store.sentinels(metric, apart)) if apart else {}
        places = unbridged([(case_id, *pair) for case_id, pair in runs.items() if pair[0] != pair[1]], frozen)
        others = measured_in_both(store, replace(here, metric=metric), places)
        for (case_id, _), sides in numbers.items():
            if side in sides:
                place = (sides[side].run_id, case_id)
                sides[side].sentinel, sides[side].others = frozen.get(place), others.get(place, {})
    _tell_what_was_done(store, numbers, cases, apart)
    floors = _layout_floors(store, kind, selection.libraries)
    disturbed = _disturbed(store.disturbed(replace(here, metric=Metric.CLIENT_CPU_NS)), selection.subjects, runs)
    runs_by_kit = {sides["both"].subject.kit_id: sides["both"].run_id for sides in numbers.values()}
    components = store.components(set(runs_by_kit.values()))
    for case_id in runs:
        first, second = numbers[case_id, before], numbers[case_id, after]
        cell = _cell(cases[case_id], kind, first, second, floors.get(case_id, 0.0))
        along = components_between(first["both"], second["both"], components)
        yield replace(cell, components=along, disturbed=disturbed.get(case_id, 0))


def _numbers(rows: Iterable[SampleRow], subjects: Sequence[str], runs: _Runs) -> dict[tuple[str, str], Numbers]:
    found: dict[tuple[str, str], Numbers] = {}
    for row in rows:
        case_id, name = row.case.case_id, row.subject.name
        if case_id in runs and runs[case_id][subjects.index(name)] == row.run_id:
            numbers = found.setdefault((case_id, name), Numbers(row.subject, row.run_id))
            numbers.batches[row.unit] = row.values
            numbers.levels.append(row.level)
    return found


def _disturbed(rows: Iterable[OutcomeRow], subjects: Sequence[str], runs: _Runs) -> dict[str, int]:
    """By the case's id, of the version that has more of them."""
    found: dict[str, int] = defaultdict(int)
    for row in rows:
        case_id = row.case.case_id
        if case_id in runs and runs[case_id][subjects.index(row.subject.name)] == row.run_id:
            found[case_id] = max(found[case_id], row.invocations)
    return found


def _tell_what_was_done(
    store: Store, numbers: Mapping[tuple[str, str], _Sides], cases: Mapping[str, Case], apart: Collection[str]
) -> None:
    """Which harness measured what was not measured together, and what libraries chose that could choose."""
    harness = store.harness_versions(apart) if apart else {}
    free = {case_id for case_id, case in cases.items() if case.leaves_a_choice}
    runs = {sides["both"].run_id for (case_id, _), sides in numbers.items() if case_id in free}
    negotiated = chosen(store.negotiated(runs)) if runs else {}
    for (case_id, _), sides in numbers.items():
        both = sides["both"]
        both.harness_version = harness.get(both.run_id)
        if case_id in free:
            both.negotiated = negotiated.get((both.run_id, case_id, f"{both.subject.library}@{both.subject.source}"))


def _cell(case: Case, kind: HostKindRow, before: _Sides, after: _Sides, floor: float) -> CellData:
    older, newer = before["both"], after["both"]
    bridge = bridge_between(older, newer)
    sides = {side: (before[side], after[side]) for side in SIDES if side in before and side in after}
    bridges = {side: bridge_between(*both) for side, both in sides.items()}
    first = {side: _batches(both[0], bridges[side], later=False) for side, both in sides.items()}
    second = {side: _batches(both[1], bridges[side], later=True) for side, both in sides.items()}
    paired = len(first["both"].keys() & second["both"].keys()) >= MIN_COMPARED_INVOCATIONS
    return CellData(
        case=case,
        pool=kind.pool,
        cpu_model=kind.cpu_model,
        before=first,
        after=second,
        run_ids=tuple(dict.fromkeys((older.run_id, newer.run_id))),
        warnings=tuple(warnings_of(newer, older, bridge, paired=paired)),
        unlike=bool(unlike(newer, older)),
        apart=are_apart(older, newer, bridge),
        floor=floor,
        before_ns=median(older.levels) * (_level(bridge.second) / _level(bridge.first) if bridge else 1),
        after_ns=median(newer.levels),
    )


def _level(batches: Batches) -> float:
    return float(np.median(medians(batches)))


def _batches(numbers: Numbers, bridge: Bridge | None, *, later: bool) -> Batches:
    """Through a bridge: what it would have cost while what stands in between cost what it did in the later run, so that
    the numbers are still of the metric's unit."""
    if bridge is None:
        return batches_of(numbers, None)
    level = _level(bridge.second)
    found = batches_of(numbers, bridge.second if later else bridge.first)
    return {unit: [value * level for value in values] for unit, values in found.items()}


def _layout_floors(store: Store, kind: HostKindRow, libraries: Collection[str]) -> dict[str, float]:
    rows = qualified(store, HostKind(pool=kind.pool, cpu_model=kind.cpu_model), GROUP, libraries)
    return {row.case.id: row.layout_floor for row in rows if row.layout_floor is not None}


def missing_cells(
    store: Store, before: SubjectRow, after: SubjectRow, *, kinds: Collection[HostKindRow] | None = None
) -> list[MissingCell]:
    """The cases that one of two subjects has numbers of and the other has none of, with the reason. Not those of host
    kinds that only one was ever measured on."""
    selection = Selection(Metric.CPU_NS, libraries=(before.library,), subjects=(before.name, after.name), asides=True)
    appearances = store.appearances(selection)
    cases: dict[tuple[HostKindRow, str], dict[str, Case]] = defaultdict(dict)
    for row in appearances:
        cases[HostKindRow(row.pool, row.cpu_model), row.subject][row.case.case_id] = row.case
    versions = version_names(before, after)
    found: list[tuple[Case, MissingCell]] = []
    for kind in host_kinds(appearances):
        if kinds is not None and kind not in kinds:
            continue
        reasons = _reasons(store.outcomes(replace(selection, pool=kind.pool, cpu_model=kind.cpu_model)))
        for version, lacking, having in ((versions[0], before, after), (versions[1], after, before)):
            theirs = reasons.get(lacking.name, {})
            known = cases.get((kind, lacking.name), {})
            if not known and not theirs:
                continue
            for case_id, case in cases.get((kind, having.name), {}).items():
                if case_id not in known:
                    reason = theirs.get(case_id, NOT_MEASURED)
                    found.append((case, _missing(case, kind, version, reason)))
    return [missing for _, missing in sorted(found, key=lambda one: case_order(one[0]))]


def _reasons(rows: Iterable[OutcomeRow]) -> dict[str, dict[str, str]]:
    """By subject and case the most frequent one, which comes first."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for row in rows:
        words = filter(None, (str(row.kind), row.reason, row.detail))
        found[row.subject.name].setdefault(row.case.case_id, ": ".join(words))
    return found


def _missing(case: Case, kind: HostKindRow, version: str, reason: str) -> MissingCell:
    return MissingCell(
        case_id=case.case_id,
        title=case.label,
        pool=kind.pool,
        cpu_model=kind.cpu_model,
        version=version,
        reason=reason,
    )
