"""Whether a later version has recovered from a regression."""

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping

from kexbench.alerts.screening import cells_between
from kexbench.alerts.suspicions import HostCase, cause_of, chained, has_recovered, host_case
from kexbench.answers.judging import JudgedCells
from kexbench.domain.alerts import Alert, AlertCell
from kexbench.domain.hosts import meant_by
from kexbench.domain.intervals import Ratio
from kexbench.domain.kits import Library
from kexbench.domain.screenings import ScreenedUpgrade
from kexbench.domain.upgrades import UpgradeEnd
from kexbench.store.port import SampleStore

MOST_VERSIONS = 50
"""The versions after a regression that are checked. Each adds its error, so later ones are too uncertain."""
_Since = Mapping[HostCase, tuple[Ratio, ...]]
"""The moves from the version before a regression to a later one, by case on a host kind."""


class Moves:
    """Costs of versions relative to each other. Each pair is read once."""

    def __init__(self, store: SampleStore) -> None:
        self._store = store
        self._cells: dict[tuple[str, str, str], JudgedCells] = {}

    def known_as(self, cells: Iterable[AlertCell]) -> tuple[AlertCell, ...]:
        """An alert's cells on the current host kinds. An alert of an earlier release names a host by fewer facts."""
        kinds: dict[str, list[str]] = defaultdict(list)
        for kind in self._store.host_kinds():
            kinds[kind.pool].append(kind.cpu_model)
        return tuple(
            cell.model_copy(update={"cpu_model": cpu_model})
            for cell in cells
            for cpu_model in meant_by(cell.cpu_model, kinds[cell.pool])
        )

    def between(self, library: Library, before: str, after: str, *, interleaved: bool = False) -> dict[HostCase, Ratio]:
        """The moves between two subjects, by their names. `interleaved`: only if the same invocations hold both."""
        key = library, before, after
        if key not in self._cells:
            self._cells[key] = cells_between(self._store, before, after, relevant=0.0)
        cells = self._cells[key].judged
        return {host_case(cell): cell.move for cell in cells if cell.move and (cell.paired or not interleaved)}


def fixed_in(moves: Moves, alert: Alert, upgrades: Iterable[ScreenedUpgrade], relevant: float) -> str | None:
    """The nearest version after an alert's that costs no more than the version before the regression.

    `upgrades` are screened pairs of neighbours. They form a chain, along which their moves add up. If a version was
    interleaved with the one before the regression, that comparison counts instead."""
    assert alert.cause.library is not None
    library = alert.cause.library
    successors: dict[str, dict[str, UpgradeEnd]] = defaultdict(dict)
    starts: dict[str, set[str]] = defaultdict(set)
    for upgrade in upgrades:
        if upgrade.library == library:
            successors[upgrade.before.subject][upgrade.after.subject] = upgrade.after
            if cause_of(library, upgrade.before, upgrade.after) == alert.cause:
                starts[upgrade.after.subject].add(upgrade.before.subject)
    cells = moves.known_as(alert.cells)
    regression: _Since = {host_case(cell): (cell.move,) for cell in cells}
    queue = deque((after, befores, regression) for after, befores in starts.items())
    seen = set(starts)
    while queue and len(seen) <= MOST_VERSIONS:
        subject, befores, since = queue.popleft()
        for name, end in successors[subject].items():
            if name in seen:
                continue
            seen.add(name)
            step = moves.between(library, subject, name)
            chains = {key: (*before, step[key]) for key, before in since.items() if key in step}
            chains |= _direct(moves, library, befores, name, regression)
            if has_recovered({key: chained(parts) for key, parts in chains.items()}, cells, relevant):
                return end.version
            queue.append((name, befores, chains))
    return None


def _direct(moves: Moves, library: Library, befores: Iterable[str], name: str, regression: _Since) -> _Since:
    moves_by_before = [moves.between(library, before, name, interleaved=True) for before in befores]
    return {key: (move,) for cells in moves_by_before for key, move in cells.items() if key in regression}
