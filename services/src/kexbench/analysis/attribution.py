"""What explains the moves of an upgrade: the few traits whose cells moved while others did not."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, log

import numpy as np
import scipy

from kexbench.analysis.estimates import CONFIDENCE, Matrix
from kexbench.analysis.rounds import Vector
from kexbench.analysis.traits import Shared, shared_traits
from kexbench.analysis.verdict import CellData, moved_side
from kexbench.domain.upgrades import Factor, Move, Side, UpgradeCell
from kexbench.domain.verdicts import RELEVANT

MOST_FACTORS = 3
MIN_ATTRIBUTED = 3
"""What one or two cells share, most of all cases share with them."""
SUBSTANTIAL = 0.5
"""Of the variation, by all factors together; else none is named."""
SLIGHT = 0.03
"""A factor that explains less is not named."""
_MOST_TRAITS = 20
_SPREADS = 12
_LEAST_ERROR = RELEVANT / 10
"""An estimate is never taken as surer than this: a model may be wrong by as much without anybody's loss."""


@dataclass(frozen=True)
class _Moves:
    """Log moves of cells, and the squares of their standard errors."""

    logs: Vector
    squares: Vector


@dataclass(frozen=True)
class _Fit:
    """Of each factor its part of the log moves, and its standard error."""

    parts: Vector
    errors: Vector
    freedom: int

    def move(self, place: int) -> Move:
        reach = float(scipy.special.stdtrit(self.freedom, (1 + CONFIDENCE) / 2)) * self.errors[place]
        ratio, low, high = np.exp(self.parts[place] + np.array([0, -reach, reach])).tolist()
        return Move(ratio=ratio, low=low, high=high)


def attribute(
    cells: Sequence[CellData], judged: Sequence[UpgradeCell], relevant: float = RELEVANT
) -> tuple[Factor, ...]:
    """At most three traits whose cells moved while others did not, what explains most first.

    A regression of log moves through 0 (nothing changes by itself) on what cells share, each weighted by its variance
    and a variance between cells (random effects; DerSimonian & Laird 1986). All sets of up to three traits are
    tried and the extended Bayesian information criterion decides (Chen & Chen 2008, Biometrika 95), which asks
    the more of a set the more sets there are. None where no cell moved, and where they explain less than half.
    """
    compared = [place for place, cell in enumerate(judged) if cell.move is not None]
    if len(compared) < MIN_ATTRIBUTED or not any(cell.verdict in ("more", "less") for cell in judged):
        return ()
    known = [judged[place] for place in compared]
    traits = shared_traits([cells[place].case for place in compared], [_host(cells[place]) for place in compared])
    moving = [trait for trait in traits if any(_moving(trait, known, ratio) for ratio in (0.0, 2.0))]
    moves = _moves([cell.move for cell in known])
    chosen, shares = _choose(moves, moving, known, relevant)
    return tuple(
        _factor(trait, share, number, chosen, moves, known)
        for number, (trait, share) in enumerate(zip(chosen, shares, strict=True))
    )


def _moved(shared: Shared, judged: Sequence[UpgradeCell], ratio: float) -> int:
    """How many of the cells that have it moved to the side of 1 that a ratio lies on."""
    verdict = "more" if ratio > 1 else "less"
    return sum(cell.verdict == verdict for cell, has in zip(judged, shared.cells, strict=True) if has)


def _moving(shared: Shared, judged: Sequence[UpgradeCell], ratio: float) -> bool:
    """Most of its cells moved that way: a trait whose cells mostly did not explains nothing, whatever others take
    back of it."""
    return _moved(shared, judged, ratio) > float(shared.cells.sum()) / 2


def _host(cell: CellData) -> str:
    return f"{cell.cpu_model} in pool {cell.pool}"


def _moves(moves: Sequence[Move | None]) -> _Moves:
    """The standard errors from the intervals, as if those were normal ones: the weights need no more."""
    known = np.log([[move.ratio, move.low, move.high] for move in moves if move is not None])
    errors = (known[:, 2] - known[:, 1]) / (2 * scipy.special.ndtri((1 + CONFIDENCE) / 2))
    return _Moves(known[:, 0], np.maximum(errors, _LEAST_ERROR) ** 2)


def _choose(
    moves: _Moves, traits: Sequence[Shared], judged: Sequence[UpgradeCell], relevant: float
) -> tuple[list[Shared], list[float]]:
    """The best set without those of its traits that explain little or move little, and what each explains."""
    if not traits:
        return [], []
    chosen = [traits[place] for place in _best_set(moves, np.column_stack([trait.cells for trait in traits]))]
    while chosen:
        shares = _shares(moves, chosen)
        fit = _fit(moves, chosen)
        parts = [fit.move(number) for number in range(len(chosen))]
        weak = [
            share < SLIGHT or not _told(part, relevant) or not _moving(trait, judged, part.ratio)
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


def _told(move: Move, relevant: float) -> bool:
    return (move.low > 1 or move.high < 1) and abs(move.ratio - 1) >= relevant


def _best_set(moves: _Moves, columns: Matrix) -> tuple[int, ...]:
    """The places of the columns that the criterion prefers; none where nothing is better than chance."""
    count = len(moves.logs)
    if columns.shape[1] > _MOST_TRAITS:  # the likeliest alone: all sets of hundreds would take minutes
        alone = _criteria(moves, columns, 1)
        kept = np.sort(np.argsort(alone, kind="stable")[:_MOST_TRAITS])
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
    """Of each set of `size` columns the extended BIC, at the variance between cells that suits it best."""
    count, traits = columns.shape
    sets = np.array(list(combinations(range(traits), size)), dtype=int).reshape(comb(traits, size), size)
    found = np.full(len(sets), np.inf)
    for spread in _spreads(moves):
        weights = 1 / (moves.squares + spread)
        products = (columns.T * weights) @ columns + 1e-9 * weights.sum() * np.eye(traits)
        onto = columns.T @ (weights * moves.logs)
        explained = np.zeros(len(sets))
        if size:
            parts = np.linalg.solve(
                products[sets[:, :, np.newaxis], sets[:, np.newaxis, :]], onto[sets][:, :, np.newaxis]
            )
            explained = (parts[:, :, 0] * onto[sets]).sum(axis=1)
        doubt = (weights * moves.logs**2).sum() - explained - np.log(weights).sum()
        found = np.minimum(found, doubt + (log(count) if spread else 0.0))
    return found + size * log(count) + 2 * log(comb(traits, size))


def _spreads(moves: _Moves) -> Vector:
    """Variances between cells to try: none, and up to that of a cell that moved as far as any."""
    most = max(float(np.abs(moves.logs).max()), 2 * _LEAST_ERROR)
    return np.concatenate([[0.0], np.geomspace(_LEAST_ERROR, most, _SPREADS - 1) ** 2])


def _fit(moves: _Moves, chosen: Sequence[Shared]) -> _Fit:
    """Weighted least squares. Errors as Knapp & Hartung 2003 have them, but never smaller than without."""
    columns = np.column_stack([trait.cells for trait in chosen])
    fits = [_weighted(moves, columns, 1 / (moves.squares + spread)) for spread in _spreads(moves)]
    parts, covariance, rest = min(fits, key=lambda fit: fit[3])[:3]
    freedom = len(moves.logs) - len(chosen)
    return _Fit(parts, np.sqrt(np.diag(covariance) * max(1.0, rest / freedom)), freedom)


def _weighted(moves: _Moves, columns: Matrix, weights: Vector) -> tuple[Vector, Matrix, float, float]:
    """The parts of the columns, their covariance, the weighted squares that they leave, and -2 log likelihood."""
    products: Matrix = (columns.T * weights) @ columns
    covariance: Matrix = np.asarray(np.linalg.pinv(products), dtype=float)
    parts: Vector = covariance @ (columns.T @ (weights * moves.logs))
    rest = float((weights * (moves.logs - columns @ parts) ** 2).sum())
    return parts, covariance, rest, rest - float(np.log(weights).sum())


def _explained(moves: _Moves, chosen: Sequence[Shared]) -> float:
    """The share of the squared log moves that traits account for, cells weighted as if nothing explained them."""
    none = np.zeros((len(moves.logs), 1))
    choices = [1 / (moves.squares + spread) for spread in _spreads(moves)]
    weights = min(choices, key=lambda weights: _weighted(moves, none, weights)[3])
    columns = np.column_stack([trait.cells for trait in chosen]) if chosen else none
    return 1 - _weighted(moves, columns, weights)[2] / float((weights * moves.logs**2).sum())


def _shares(moves: _Moves, chosen: Sequence[Shared]) -> list[float]:
    """What of the variation each trait accounts for that the others do not."""
    whole = _explained(moves, chosen)
    return [whole - _explained(moves, [*chosen[:place], *chosen[place + 1 :]]) for place in range(len(chosen))]


def _factor(
    shared: Shared, explained: float, place: int, chosen: Sequence[Shared], moves: _Moves, judged: Sequence[UpgradeCell]
) -> Factor:
    of_both = _fit(moves, chosen).move(place)
    of_sides: dict[Side, Move] = {"both": of_both}
    clients, servers = [cell.client for cell in judged], [cell.server for cell in judged]
    if None not in clients and None not in servers:
        of_sides |= {"client": _fit(_moves(clients), chosen).move(place)}
        of_sides |= {"server": _fit(_moves(servers), chosen).move(place)}
    side = moved_side(of_sides.get("client"), of_sides.get("server"))
    move = of_sides[side]
    return Factor(
        dimension=shared.trait.dimension,
        value=shared.trait.value,
        side=side,
        ratio=move.ratio,
        low=move.low,
        high=move.high,
        cells=int(shared.cells.sum()),
        explained=explained,
        words=shared.trait.words,
        alike=tuple(trait.words for trait in shared.others),
        moved=_moved(shared, judged, of_both.ratio),
    )
