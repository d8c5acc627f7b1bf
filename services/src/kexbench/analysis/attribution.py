"""Factors of an upgrade: the few traits whose cells moved while others did not."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, log

import numpy as np
import scipy

from kexbench.analysis.compared import CellData
from kexbench.analysis.estimates import CONFIDENCE, Matrix
from kexbench.analysis.rounds import Vector
from kexbench.analysis.sides import moved_side
from kexbench.analysis.traits import Shared, shared_traits
from kexbench.domain.intervals import Ratio
from kexbench.domain.upgrades import Factor, Side, UpgradeCell
from kexbench.domain.verdicts import RELEVANT

MOST_FACTORS = 3
MIN_ATTRIBUTED = 3
"""The traits of one or two cells are shared by most other cells."""
SUBSTANTIAL = 0.5
"""The share of the variation that all factors together must explain; otherwise none is named."""
SLIGHT = 0.03
"""A factor that explains less is not named."""
_MOST_TRAITS = 20
_SPREADS = 12
_LEAST_ERROR = RELEVANT / 10
"""The smallest standard error of an estimate. A model may be wrong by as much without harm."""


@dataclass(frozen=True)
class _Moves:
    """Log moves of cells and their squared standard errors."""

    logs: Vector
    squares: Vector


@dataclass(frozen=True)
class _Fit:
    """The part of the log moves of each factor, with its standard error."""

    parts: Vector
    errors: Vector
    freedom: int

    def move(self, place: int) -> Ratio:
        reach = float(scipy.special.stdtrit(self.freedom, (1 + CONFIDENCE) / 2)) * self.errors[place]
        centre = float(self.parts[place])
        return Ratio.of_logs(centre, centre - reach, centre + reach)


def attribute(
    cells: Sequence[CellData], judged: Sequence[UpgradeCell], relevant: float = RELEVANT
) -> tuple[Factor, ...]:
    """At most three traits whose cells moved while others did not. The one that explains most comes first.

    A regression of the log moves through 0 on the traits. Each cell is weighted by its variance plus a variance
    between cells (random effects; DerSimonian & Laird 1986). All sets of up to three traits are tried. The extended
    Bayesian information criterion decides (Chen & Chen 2008, Biometrika 95); it is stricter the more sets there are.
    None if no cell moved, or if the set explains less than half.
    """
    compared = [place for place, cell in enumerate(judged) if cell.move is not None]
    if len(compared) < MIN_ATTRIBUTED or not any(cell.verdict in ("more", "less") for cell in judged):
        return ()
    cells_compared = [judged[place] for place in compared]
    traits = shared_traits([cells[place].case for place in compared], [_host(cells[place]) for place in compared])
    moving = [trait for trait in traits if any(_moving(trait, cells_compared, ratio) for ratio in (0.0, 2.0))]
    moves = _moves([cell.move for cell in cells_compared])
    chosen, shares = _choose(moves, moving, cells_compared, cells[0].metric.relevant(relevant))
    return tuple(
        _factor(trait, share, number, chosen, moves, cells_compared)
        for number, (trait, share) in enumerate(zip(chosen, shares, strict=True))
    )


def _moved(shared: Shared, judged: Sequence[UpgradeCell], ratio: float) -> int:
    """How many cells with the trait moved in the direction of `ratio`."""
    verdict = "more" if ratio > 1 else "less"
    return sum(cell.verdict == verdict for cell, has in zip(judged, shared.cells, strict=True) if has)


def _moving(shared: Shared, judged: Sequence[UpgradeCell], ratio: float) -> bool:
    """Whether most cells with the trait moved in the direction of `ratio`. Otherwise it explains nothing, even if other
    traits offset it."""
    return _moved(shared, judged, ratio) > float(shared.cells.sum()) / 2


def _host(cell: CellData) -> str:
    return f"{cell.host_kind.cpu_model} in pool {cell.host_kind.pool}"


def _moves(moves: Sequence[Ratio | None]) -> _Moves:
    """The standard errors come from the intervals, as if these were normal. That suffices for the weights."""
    logs = np.log([[move.ratio, move.low, move.high] for move in moves if move is not None])
    errors = (logs[:, 2] - logs[:, 1]) / (2 * scipy.special.ndtri((1 + CONFIDENCE) / 2))
    return _Moves(logs[:, 0], np.maximum(errors, _LEAST_ERROR) ** 2)


def _choose(
    moves: _Moves, traits: Sequence[Shared], judged: Sequence[UpgradeCell], relevant: float
) -> tuple[list[Shared], list[float]]:
    """The best set without traits that explain or move little, and the share that each trait explains."""
    if not traits:
        return [], []
    chosen = [traits[place] for place in _best_set(moves, np.column_stack([trait.cells for trait in traits]))]
    while chosen:
        shares = _shares(moves, chosen)
        fit = _fit(moves, chosen)
        parts = [fit.move(number) for number in range(len(chosen))]
        weak = [
            share < SLIGHT or not _is_relevant(part, relevant) or not _moving(trait, judged, part.ratio)
            for share, part, trait in zip(shares, parts, chosen, strict=True)
        ]
        if not any(weak):
            order = sorted(range(len(chosen)), key=lambda number: -shares[number])
            if _explained(moves, chosen) < SUBSTANTIAL:
                return [], []
            return [chosen[number] for number in order], [shares[number] for number in order]
        least = min((number for number, is_weak in enumerate(weak) if is_weak), key=lambda number: shares[number])
        del chosen[least]
    return [], []


def _is_relevant(move: Ratio, relevant: float) -> bool:
    return (move.low > 1 or move.high < 1) and abs(move.ratio - 1) >= relevant


def _best_set(moves: _Moves, columns: Matrix) -> tuple[int, ...]:
    """The places of the columns that the criterion prefers; none if no set is better than chance."""
    count = len(moves.logs)
    if columns.shape[1] > _MOST_TRAITS:  # only the likeliest: all sets of hundreds would take minutes
        criteria = _criteria(moves, columns, 1)
        kept = np.sort(np.argsort(criteria, kind="stable")[:_MOST_TRAITS])
        return tuple(int(kept[place]) for place in _best_set(moves, columns[:, kept]))
    best: tuple[int, ...] = ()
    least = float(_criteria(moves, columns, 0)[0])
    for size in range(1, min(MOST_FACTORS, count - 1, columns.shape[1]) + 1):
        criteria = _criteria(moves, columns, size)
        if criteria.min() < least:
            least = float(criteria.min())
            best = list(combinations(range(columns.shape[1]), size))[int(criteria.argmin())]
    return best


def _criteria(moves: _Moves, columns: Matrix, size: int) -> Vector:
    """The extended BIC of each set of `size` columns, at the variance between cells that fits best."""
    count, traits = columns.shape
    sets = np.array(list(combinations(range(traits), size)), dtype=int).reshape(comb(traits, size), size)
    deviances = np.full(len(sets), np.inf)
    for spread in _spreads(moves):
        weights = 1 / (moves.squares + spread)
        products = (columns.T * weights) @ columns + 1e-9 * weights.sum() * np.eye(traits)
        projections = columns.T @ (weights * moves.logs)
        explained = np.zeros(len(sets))
        if size:
            parts = np.linalg.solve(
                products[sets[:, :, np.newaxis], sets[:, np.newaxis, :]], projections[sets][:, :, np.newaxis]
            )
            explained = (parts[:, :, 0] * projections[sets]).sum(axis=1)
        deviance = (weights * moves.logs**2).sum() - explained - np.log(weights).sum()
        deviances = np.minimum(deviances, deviance + (log(count) if spread else 0.0))
    return deviances + size * log(count) + 2 * log(comb(traits, size))


def _spreads(moves: _Moves) -> Vector:
    """The variances between cells to try: from 0 up to the largest squared move."""
    most = max(float(np.abs(moves.logs).max()), 2 * _LEAST_ERROR)
    return np.concatenate([[0.0], np.geomspace(_LEAST_ERROR, most, _SPREADS - 1) ** 2])


def _fit(moves: _Moves, chosen: Sequence[Shared]) -> _Fit:
    """Weighted least squares with the errors of Knapp & Hartung 2003, but never smaller than the plain ones."""
    columns = np.column_stack([trait.cells for trait in chosen])
    fits = [_weighted(moves, columns, 1 / (moves.squares + spread)) for spread in _spreads(moves)]
    parts, covariance, squares = min(fits, key=lambda fit: fit[3])[:3]
    freedom = len(moves.logs) - len(chosen)
    return _Fit(parts, np.sqrt(np.diag(covariance) * max(1.0, squares / freedom)), freedom)


def _weighted(moves: _Moves, columns: Matrix, weights: Vector) -> tuple[Vector, Matrix, float, float]:
    """The parts of the columns, their covariance, the weighted residual squares and -2 log likelihood."""
    products: Matrix = (columns.T * weights) @ columns
    covariance: Matrix = np.asarray(np.linalg.pinv(products), dtype=float)
    parts: Vector = covariance @ (columns.T @ (weights * moves.logs))
    squares = float((weights * (moves.logs - columns @ parts) ** 2).sum())
    return parts, covariance, squares, squares - float(np.log(weights).sum())


def _explained(moves: _Moves, chosen: Sequence[Shared]) -> float:
    """The share of the squared log moves that traits explain. The weights are those of a fit without traits."""
    no_traits = np.zeros((len(moves.logs), 1))
    choices = [1 / (moves.squares + spread) for spread in _spreads(moves)]
    weights = min(choices, key=lambda weights: _weighted(moves, no_traits, weights)[3])
    columns = np.column_stack([trait.cells for trait in chosen]) if chosen else no_traits
    return 1 - _weighted(moves, columns, weights)[2] / float((weights * moves.logs**2).sum())


def _shares(moves: _Moves, chosen: Sequence[Shared]) -> list[float]:
    """The share of the variation that each trait explains beyond the others."""
    total = _explained(moves, chosen)
    return [total - _explained(moves, [*chosen[:place], *chosen[place + 1 :]]) for place in range(len(chosen))]


def _factor(
    shared: Shared, explained: float, place: int, chosen: Sequence[Shared], moves: _Moves, judged: Sequence[UpgradeCell]
) -> Factor:
    both = _fit(moves, chosen).move(place)
    by_side: dict[Side, Ratio] = {"both": both}
    clients, servers = [cell.client for cell in judged], [cell.server for cell in judged]
    if None not in clients and None not in servers:
        by_side |= {"client": _fit(_moves(clients), chosen).move(place)}
        by_side |= {"server": _fit(_moves(servers), chosen).move(place)}
    side = moved_side(by_side.get("client"), by_side.get("server"))
    move = by_side[side]
    return Factor(
        **vars(move),
        dimension=shared.trait.dimension,
        value=shared.trait.value,
        side=side,
        cells=int(shared.cells.sum()),
        explained=explained,
        words=shared.trait.words,
        alike=tuple(trait.words for trait in shared.others),
        moved=_moved(shared, judged, both.ratio),
    )
