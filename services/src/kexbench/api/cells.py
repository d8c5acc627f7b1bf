"""Cells from rows: which numbers stand together, and what each is compared with."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from kexbench.analysis.estimates import compare, estimate_median
from kexbench.api.comparing import (
    Chosen,
    Components,
    Numbers,
    Others,
    Sentinels,
    are_apart,
    batches_of,
    bridge_between,
    components_between,
    warnings_of,
)
from kexbench.api.models import Cell, Change, Estimate, OutcomeView, Ratio, SideChange, SubjectView
from kexbench.api.together import Pair, Together
from kexbench.domain.cases import Case, case_order
from kexbench.store.port import OutcomeRow, SampleRow, SubjectRow


def subject_view(subject: SubjectRow) -> SubjectView:
    return SubjectView(subject=subject.name, **vars(subject))


@dataclass(kw_only=True)
class _Gathered(Numbers):
    """All rows of one cell."""

    case: Case
    measured_at: datetime | None = None
    levels: list[float] = field(default_factory=list)
    outcome: OutcomeRow | None = None


def subjects_in_order(rows: Iterable[SampleRow | OutcomeRow]) -> list[SubjectView]:
    """Each subject once, by library, then version; of kits that share a name the newest measured."""
    newest: dict[str, SampleRow | OutcomeRow] = {}
    for row in rows:
        known = newest.get(row.subject.name)
        if known is None or known.measured_at < row.measured_at:
            newest[row.subject.name] = row
    ordered = sorted(newest.values(), key=lambda row: version_order(row.subject))
    return [subject_view(row.subject) for row in ordered]


def cases_in_order(rows: Iterable[SampleRow | OutcomeRow]) -> list[Case]:
    """Each case once: by protocol, key exchange, then the numbers that a person would sort by; variations of a case
    stand behind it."""
    return sorted({row.case.case_id: row.case for row in rows}.values(), key=case_order)


def pairs_apart(samples: Iterable[SampleRow]) -> dict[Pair, tuple[str, str]]:
    """Those of a cell and the one that it is compared with whose numbers are of different runs, with these runs."""
    gathered = _gather(samples, [])
    pairs = [(cell, previous) for cell, previous in _compared(gathered) if previous]
    return {
        (cell.case.case_id, cell.subject.name, previous.subject.name): (cell.run_id, previous.run_id)
        for cell, previous in pairs
        if cell.run_id != previous.run_id
    }


def cells(
    samples: Iterable[SampleRow],
    outcomes: Iterable[OutcomeRow],
    frozen: Sentinels,
    negotiated: Chosen,
    harness: Mapping[str, int] | None = None,
    together: Together | None = None,
    components: Components | None = None,
    others: Others | None = None,
) -> list[Cell]:
    """One cell for every case and subject that has a number or a reason for none. `harness`: the version of each run's;
    `together`: the numbers of pairs that stand apart and that an older run has both of; `components`: by kit id;
    `others`: what runs that stand apart both measured."""
    gathered = _gather(samples, outcomes)
    pairs = together or {}
    both = [(pair[0], numbers) for pair, found in pairs.items() for numbers in found]
    free = {cell.case.case_id for cell in gathered.values() if cell.case.leaves_a_choice}
    for case_id, numbers in [*((cell.case.case_id, cell) for cell in gathered.values()), *both]:
        numbers.sentinel = frozen.get((numbers.run_id, case_id))
        numbers.others = (others or {}).get((numbers.run_id, case_id), {})
        numbers.harness_version = (harness or {}).get(numbers.run_id)
        if case_id in free:
            reference = f"{numbers.subject.library}@{numbers.subject.source}"
            numbers.negotiated = negotiated.get((numbers.run_id, case_id, reference))
    return [_cell(cell, previous, pairs, components or {}) for cell, previous in _compared(gathered)]


def with_sides(found: Iterable[Cell], client: Iterable[Cell], server: Iterable[Cell]) -> list[Cell]:
    """Cells of both sides together, each change with those of the client and the server in the same cell, and with what
    kept the two from being told apart."""
    of_client, of_server = ({_place(cell): cell for cell in side} for side in (client, server))
    return [_with_sides(cell, of_client.get(_place(cell)), of_server.get(_place(cell))) for cell in found]


def _with_sides(cell: Cell, client: Cell | None, server: Cell | None) -> Cell:
    told: dict[str, object] = {"sides_outcome": client.outcome if client else None}
    if cell.change:
        sides = {"client": _side(cell.change, client), "server": _side(cell.change, server)}
        told["change"] = cell.change.model_copy(update=sides)
    return cell.model_copy(update=told)


def _place(cell: Cell) -> tuple[str, str]:
    return cell.case_id, cell.subject


def _side(total: Change, cell: Cell | None) -> SideChange | None:
    side = cell.change if cell else None
    if side is None or side.against != total.against:
        return None
    return SideChange(ratio=side.ratio, low=side.low, high=side.high, verdict=side.verdict)


def _compared(gathered: Mapping[tuple[str, str], _Gathered]) -> list[tuple[_Gathered, _Gathered | None]]:
    """Each with the one that it is compared with."""
    by_case: dict[str, list[_Gathered]] = defaultdict(list)
    for cell in gathered.values():
        by_case[cell.case.case_id].append(cell)
    return [(cell, _previous(cell, by_case[cell.case.case_id])) for cell in gathered.values()]


def _gather(samples: Iterable[SampleRow], outcomes: Iterable[OutcomeRow]) -> dict[tuple[str, str], _Gathered]:
    gathered: dict[tuple[str, str], _Gathered] = {}
    for row in samples:
        key = (row.case.case_id, row.subject.name)
        cell = gathered.setdefault(key, _Gathered(case=row.case, subject=row.subject))
        cell.run_id = row.run_id
        cell.measured_at = max(row.measured_at, cell.measured_at or row.measured_at)
        cell.levels.append(row.level)
        cell.batches[row.unit] = row.values
    for outcome in outcomes:
        key = (outcome.case.case_id, outcome.subject.name)
        cell = gathered.setdefault(key, _Gathered(case=outcome.case, subject=outcome.subject))
        if cell.levels and cell.run_id != outcome.run_id:
            if outcome.measured_at <= (cell.measured_at or outcome.measured_at):
                continue  # an older run's trouble says nothing about the newest numbers
            cell.outcome = cell.outcome or outcome  # a newer run's does, beside the numbers that it lacks
            continue
        if cell.outcome is None:
            cell.outcome = outcome
            cell.run_id = outcome.run_id
            cell.measured_at = max(outcome.measured_at, cell.measured_at or outcome.measured_at)
    return gathered


def _previous(cell: _Gathered, others: list[_Gathered]) -> _Gathered | None:
    """The version before it of the same library that has numbers, of the same build profile if there is one."""
    older = [
        other
        for other in others
        if other.levels
        and other.subject.library == cell.subject.library
        and other.subject.version_key < cell.subject.version_key
    ]
    alike = [other for other in older if other.subject.build_profile == cell.subject.build_profile]
    return max(alike or older, key=lambda other: version_order(other.subject), default=None)


def _cell(cell: _Gathered, previous: _Gathered | None, together: Together, components: Components) -> Cell:
    assert cell.measured_at is not None
    estimate = change = apart_from = None
    if cell.levels:
        found = estimate_median(cell.levels)
        estimate = Estimate(**vars(found))
        if previous:
            pair = (cell.case.case_id, cell.subject.name, previous.subject.name)
            both = together.get(pair, (cell, previous))
            if are_apart(*both, bridge_between(*both)):
                apart_from = previous.subject.name
            else:
                change = _change(*both, components)
    outcome = None
    if cell.outcome:
        row = cell.outcome
        outcome = OutcomeView(kind=row.kind, reason=row.reason, detail=row.detail, invocations=row.invocations)
    return Cell(
        case_id=cell.case.case_id,
        subject=cell.subject.name,
        estimate=estimate,
        change=change,
        apart_from=apart_from,
        outcome=outcome,
        to_sentinel=_to_sentinel(cell),
        negotiated=cell.negotiated,
        run_id=cell.run_id,
        measured_at=cell.measured_at,
    )


def _to_sentinel(cell: _Gathered) -> Ratio | None:
    found = compare(cell.batches, cell.sentinel.batches) if cell.sentinel and cell.batches else None
    return Ratio(ratio=found.ratio, low=found.low, high=found.high) if found else None


def _change(cell: Numbers, previous: Numbers, components: Components) -> Change | None:
    """Invocations of different runs are never paired, whatever they are numbered; what a run's machine did is taken
    out by what both runs measured."""
    bridge = bridge_between(cell, previous)
    ours, theirs = (bridge.first, bridge.second) if bridge else (None, None)
    found = compare(batches_of(cell, ours), batches_of(previous, theirs))
    if found is None:
        return None
    warnings = warnings_of(cell, previous, bridge, paired=found.paired)
    return Change(
        against=previous.subject.name,
        warnings=warnings,
        components=list(components_between(previous, cell, components)),
        **vars(found),
    )


def version_order(subject: SubjectRow) -> tuple[str, ...]:
    return (subject.library, subject.version_key, subject.build_profile, subject.source)
