"""Decisions from the numbers of an upgrade, without access to the store: its cause and cells in an alert, earlier
answers, and recovery."""

import math
from collections.abc import Iterable, Mapping, Sequence

from kexbench.analysis.sides import moved_side
from kexbench.domain.alerts import AlertCell, AlertKind, Cause
from kexbench.domain.hosts import HostKind
from kexbench.domain.intervals import Ratio
from kexbench.domain.kits import Library
from kexbench.domain.metrics import Metric
from kexbench.domain.screenings import ScreenedUpgrade, Screening
from kexbench.domain.upgrades import UpgradeCell, UpgradeEnd

HostCase = tuple[str, HostKind]
"""A case, by its id, on a host kind."""


def host_case(cell: UpgradeCell | AlertCell) -> HostCase:
    return cell.case_id, cell.host_kind


def in_pool(pool: str, case_id: str) -> str:
    """The name of a suspicion in a screening. Of the place of its confirmation run, only the pool is known."""
    return f"{pool}/{case_id}"


def cause_of(library: Library, metric: Metric, before: UpgradeEnd, after: UpgradeEnd) -> Cause:
    """The cause of an alert: the two versions, with their sources if the versions are the same."""
    first, second = before.version, after.version
    if first == second:
        first, second = (f"{end.version} ({end.source})" for end in (before, after))
    return Cause(kind=AlertKind.UPGRADE, library=library, metric=metric, before=first, after=second)


def alert_cells(spec_name: str, cells: Iterable[UpgradeCell]) -> tuple[AlertCell, ...]:
    return tuple(
        AlertCell(
            spec_name=spec_name,
            case_id=cell.case_id,
            title=cell.title,
            pool=cell.host_kind.pool,
            cpu_model=cell.host_kind.cpu_model,
            before=cell.before_ns,
            after=cell.after_ns,
            move=cell.move,
            side=moved_side(cell.client, cell.server),
        )
        for cell in cells
        if cell.is_compared
    )


def answered(key: str, spec_name: str, screenings: Iterable[Screening]) -> dict[str, ScreenedUpgrade]:
    """The suspicions of an upgrade that a run has answered for this spec, or is confirming for any spec, each with its
    screening. An unconfirmed suspicion is not measured again, since repeated tests would raise false alarms."""
    answers: dict[str, ScreenedUpgrade] = {}
    for screening in screenings:
        for upgrade in screening.upgrades:
            decided = upgrade.outcome in ("confirmed", "not confirmed") and screening.spec_name == spec_name
            if upgrade.key == key and (decided or upgrade.outcome == "confirming"):
                answers |= dict.fromkeys(upgrade.suspected, upgrade)
    return answers


def chained(moves: Sequence[Ratio]) -> Ratio:
    """The product of successive moves, whose errors are independent."""
    centre = sum(math.log(move.ratio) for move in moves)
    reach = math.hypot(*((math.log(move.high) - math.log(move.low)) / 2 for move in moves))
    return Ratio.of_logs(centre, centre - reach, centre + reach)


def has_recovered(since: Mapping[HostCase, Ratio], cells: Iterable[AlertCell], relevant: float) -> bool:
    """Whether a version has recovered in all cells of the alert that it was measured in. `since` are its costs relative
    to the version before the regression. Each must be less than a relevant change, and its interval below the alert's
    ratio."""
    pairs = [(since[host_case(cell)], cell.move) for cell in cells if cell.move and host_case(cell) in since]
    return bool(pairs) and all(now.ratio < 1 + relevant and now.high < then.ratio for now, then in pairs)
