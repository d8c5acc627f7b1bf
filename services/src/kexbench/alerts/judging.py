"""What follows from the numbers of an upgrade, decided without reading or writing anything: which cells are suspected,
which were confirmed, what the alert is called, and whether a later version recovered."""

import math
from collections.abc import Iterable, Mapping, Sequence

from kexbench.analysis.verdict import moved_side
from kexbench.domain.alerts import AlertCell, AlertKind, Cause
from kexbench.domain.judgements import JudgedUpgrade, Judgement
from kexbench.domain.kits import Library
from kexbench.domain.upgrades import Move, UpgradeCell, UpgradeEnd

HostCase = tuple[str, str, str]
"""A case on a host kind: its id, the pool, the CPU model."""


def host_case(cell: UpgradeCell | AlertCell) -> HostCase:
    return cell.case_id, cell.pool, cell.cpu_model


def in_pool(pool: str, case_id: str) -> str:
    """As a judgement names what it suspects: where the confirming run will run is known by the pool alone."""
    return f"{pool}/{case_id}"


def cause_of(library: Library, before: UpgradeEnd, after: UpgradeEnd) -> Cause:
    """What is one alert: the two versions, with their sources where they are of one version."""
    first, second = before.version, after.version
    if first == second:
        first, second = (f"{end.version} ({end.source})" for end in (before, after))
    return Cause(kind=AlertKind.UPGRADE, library=library, before=first, after=second)


def alert_cells(spec_name: str, cells: Iterable[UpgradeCell]) -> tuple[AlertCell, ...]:
    return tuple(
        AlertCell(
            spec_name=spec_name,
            case_id=cell.case_id,
            title=cell.title,
            pool=cell.pool,
            cpu_model=cell.cpu_model,
            move=cell.move,
            side=moved_side(cell.client, cell.server),
        )
        for cell in cells
        if cell.move
    )


def answered(key: str, spec_name: str, judgements: Iterable[Judgement]) -> dict[str, JudgedUpgrade]:
    """Of what a spec suspects of an upgrade that which is answered or asked already: what a run did not confirm is not
    asked again, since who asks often enough is told of everything, and what is being confirmed for any spec is waited
    for. By what is suspected, the judgement that says so."""
    found: dict[str, JudgedUpgrade] = {}
    for judgement in judgements:
        for upgrade in judgement.upgrades:
            decided = upgrade.outcome in ("confirmed", "not confirmed") and judgement.spec_name == spec_name
            if upgrade.key == key and (decided or upgrade.outcome == "confirming"):
                found |= dict.fromkeys(upgrade.suspected, upgrade)
    return found


def chained(moves: Sequence[Move]) -> Move:
    """Several moves, one after the other; their errors are those of different measurements."""
    centre = sum(math.log(move.ratio) for move in moves)
    reach = math.hypot(*((math.log(move.high) - math.log(move.low)) / 2 for move in moves))
    return Move(ratio=math.exp(centre), low=math.exp(centre - reach), high=math.exp(centre + reach))


def has_recovered(since: Mapping[HostCase, Move], cells: Iterable[AlertCell], relevant: float) -> bool:
    """Whether a version costs no more than the one before the regression did, in all cells of the alert that it was
    measured in. `since` are its costs relative to that one: each less than a relevant change away, and surely
    less than what the alert is about."""
    known = [(since[host_case(cell)], cell.move) for cell in cells if host_case(cell) in since]
    return bool(known) and all(now.ratio < 1 + relevant and now.high < then.ratio for now, then in known)
