"""Whether a later version costs no more than the one before a regression did."""

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping

from kexbench.alerts.judging import HostCase, cause_of, chained, has_recovered, host_case
from kexbench.alerts.screening import cells_between
from kexbench.comparison.upgrade_data import JudgedCells
from kexbench.domain.alerts import Alert, AlertCell
from kexbench.domain.hosts import meant_by
from kexbench.domain.judgements import JudgedUpgrade
from kexbench.domain.kits import Library
from kexbench.domain.upgrades import Move, UpgradeEnd
from kexbench.store.port import SampleStore

MOST_VERSIONS = 50
"""So many versions behind a regression are looked at: each adds its error, until they say nothing any more."""
_Since = Mapping[HostCase, tuple[Move, ...]]
"""What led from the version before a regression to a later one, by case on a host kind."""


class Moves:
    """What versions cost relative to each other; each pair is read once."""

    def __init__(self, store: SampleStore) -> None:
        self._store = store
        self._known: dict[tuple[str, str, str], JudgedCells] = {}

    def known_as(self, cells: Iterable[AlertCell]) -> tuple[AlertCell, ...]:
        """An alert's cells on the host kinds there are: one of an earlier release names a host by fewer facts."""
        kinds: dict[str, list[str]] = defaultdict(list)
        for kind in self._store.host_kinds():
            kinds[kind.pool].append(kind.cpu_model)
        return tuple(
            cell.model_copy(update={"cpu_model": cpu_model})
            for cell in cells
            for cpu_model in meant_by(cell.cpu_model, kinds[cell.pool])
        )

    def between(self, library: Library, before: str, after: str, *, interleaved: bool = False) -> dict[HostCase, Move]:
        """Of two subjects, by their names; only where they were `interleaved`, or otherwise too."""
        key = library, before, after
        if key not in self._known:
            self._known[key] = cells_between(self._store, before, after, relevant=0.0)
        cells = self._known[key].judged
        return {host_case(cell): cell.move for cell in cells if cell.move and (cell.paired or not interleaved)}


def fixed_in(moves: Moves, alert: Alert, upgrades: Iterable[JudgedUpgrade], relevant: float) -> str | None:
    """The version, of those behind an alert's, that costs no more than the one before it did; the nearest.

    `upgrades` are neighbours that were judged. Each is behind another, so that what they moved adds up; where a version
    was interleaved with the one before the regression, that says it directly."""
    assert alert.cause.library is not None
    library = alert.cause.library
    behind: dict[str, dict[str, UpgradeEnd]] = defaultdict(dict)
    begins: dict[str, set[str]] = defaultdict(set)
    for upgrade in upgrades:
        if upgrade.library == library:
            behind[upgrade.before.subject][upgrade.after.subject] = upgrade.after
            if cause_of(library, upgrade.before, upgrade.after) == alert.cause:
                begins[upgrade.after.subject].add(upgrade.before.subject)
    cells = moves.known_as(alert.cells)
    regression: _Since = {host_case(cell): (cell.move,) for cell in cells}
    ahead = deque((after, befores, regression) for after, befores in begins.items())
    seen = set(begins)
    while ahead and len(seen) <= MOST_VERSIONS:
        subject, befores, since = ahead.popleft()
        for name, end in behind[subject].items():
            if name in seen:
                continue
            seen.add(name)
            step = moves.between(library, subject, name)
            led = {key: (*before, step[key]) for key, before in since.items() if key in step}
            led |= _directly(moves, library, befores, name, regression)
            if has_recovered({key: chained(parts) for key, parts in led.items()}, cells, relevant):
                return end.version
            ahead.append((name, befores, led))
    return None


def _directly(moves: Moves, library: Library, befores: Iterable[str], name: str, wanted: _Since) -> _Since:
    found = [moves.between(library, before, name, interleaved=True) for before in befores]
    return {key: (move,) for cells in found for key, move in cells.items() if key in wanted}
