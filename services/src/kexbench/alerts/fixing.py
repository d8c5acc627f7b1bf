"""Whether a later version has recovered from a regression."""

from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Mapping, Sequence

from kexbench.alerts.screening import cells_between
from kexbench.alerts.suspicions import HostCase, cause_of, chained, has_recovered, host_case
from kexbench.answers.judging import JudgedCells
from kexbench.domain.alerts import Alert, AlertCell
from kexbench.domain.hosts import meant_by
from kexbench.domain.intervals import Ratio
from kexbench.domain.metrics import Metric
from kexbench.domain.screenings import ScreenedUpgrade
from kexbench.domain.upgrades import UpgradeCell, UpgradeEnd
from kexbench.store.port import SampleStore

MOST_VERSIONS = 50
"""The versions after a regression that are checked. Each adds its error, so later ones are too uncertain."""
_Since = Mapping[HostCase, tuple[Ratio, ...]]
"""The moves from the version before a regression to a later one, by case on a host kind."""


class Moves:
    """Costs of versions relative to each other. Each pair is read once."""

    def __init__(self, store: SampleStore) -> None:
        self._store = store
        self._cells: dict[tuple[Metric, str, str], JudgedCells] = {}

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

    def between(self, metric: Metric, before: str, after: str, *, interleaved: bool = False) -> dict[HostCase, Ratio]:
        """The moves between two subjects, by their names. `interleaved`: only if the same invocations hold both."""
        cells = self.cells(metric, before, after)
        return {host_case(cell): cell.move for cell in cells if cell.move and (cell.paired or not interleaved)}

    def cells(self, metric: Metric, before: str, after: str) -> Sequence[UpgradeCell]:
        key = metric, before, after
        if key not in self._cells:
            self._cells[key] = cells_between(self._store, before, after, metric, relevant=0.0)
        return self._cells[key].judged


def fixed_in(moves: Moves, alert: Alert, upgrades: Iterable[ScreenedUpgrade], relevant: float) -> str | None:
    """The nearest version after an alert's that costs no more than the version before the regression.

    `upgrades` are screened pairs of neighbours. They form a chain, along which their moves add up. If a version was
    interleaved with the one before the regression, that comparison counts instead. Exact metrics are compared with the
    version before the regression, or with the alert's own where releases of kexbench lie between the two."""
    library, metric = alert.cause.library, alert.cause.metric
    assert library is not None
    assert metric is not None
    successors: dict[str, dict[str, UpgradeEnd]] = defaultdict(dict)
    starts: dict[str, set[str]] = defaultdict(set)
    for upgrade in upgrades:
        if upgrade.library == library:
            successors[upgrade.before.subject][upgrade.after.subject] = upgrade.after
            if cause_of(library, metric, upgrade.before, upgrade.after) == alert.cause:
                starts[upgrade.after.subject].add(upgrade.before.subject)
    cells = moves.known_as(alert.cells)
    regression: _Since = {host_case(cell): (cell.move,) for cell in cells if cell.move}
    queue = deque((after, after, befores, regression) for after, befores in starts.items())
    seen = set(starts)
    while queue and len(seen) <= MOST_VERSIONS:
        alerted, subject, befores, since = queue.popleft()
        for name, end in successors[subject].items():
            if name in seen:
                continue
            seen.add(name)
            chains: dict[HostCase, tuple[Ratio, ...]] = {}
            if metric.row.exact:
                recovered = _is_as_before(moves, metric, befores, alerted, name, cells)
            else:
                step = moves.between(metric, subject, name)
                chains = {key: (*before, step[key]) for key, before in since.items() if key in step}
                chains |= _direct(moves, metric, befores, name, regression)
                least = metric.relevant(relevant)
                recovered = has_recovered({key: chained(parts) for key, parts in chains.items()}, cells, least)
            if recovered:
                return end.version
            queue.append((alerted, name, befores, chains))
    return None


def _is_as_before(
    moves: Moves, metric: Metric, befores: Iterable[str], alerted: str, name: str, reported: Collection[AlertCell]
) -> bool:
    """Whether a version has no more of an exact metric than before in all reported cells that it was measured in."""
    rises = {host_case(cell): cell for cell in reported}
    since_before = [
        cell for before in befores for cell in moves.cells(metric, before, name) if host_case(cell) in rises
    ]
    compared = {host_case(cell) for cell in since_before if cell.is_compared}
    since_alerted = [cell for cell in moves.cells(metric, alerted, name) if host_case(cell) in rises.keys() - compared]
    recovered = [cell.verdict in ("same", "less") for cell in since_before if cell.is_compared]
    recovered += [_undoes(metric, rises[host_case(cell)], cell) for cell in since_alerted]
    return bool(recovered) and all(recovered)


def _undoes(metric: Metric, rise: AlertCell, fall: UpgradeCell) -> bool:
    """Whether a later change takes back what an alert reports."""
    exact, values = metric.row.exact, (rise.before, rise.after, fall.before_ns, fall.after_ns)
    if exact is None or fall.verdict != "less" or None in values:
        return False
    before, after, first, second = (value for value in values if value is not None)
    return (after - before) - (first - second) < exact.smallest_from(before)


def _direct(moves: Moves, metric: Metric, befores: Iterable[str], name: str, regression: _Since) -> _Since:
    moves_by_before = [moves.between(metric, before, name, interleaved=True) for before in befores]
    return {key: (move,) for cells in moves_by_before for key, move in cells.items() if key in regression}
