"""Whether a context gets slower with each connection: its slope, with the interval over invocations.

Within an invocation the old context is compared with the young one, as two versions of a cell are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kexbench.analysis.moves import pair
from kexbench.analysis.rounds import Batches, medians
from kexbench.analysis.verdict import judge_pairs
from kexbench.domain.ages import Ageing, AgeVerdict, connections_apart
from kexbench.domain.intervals import Estimate, Ratio
from kexbench.domain.upgrades import CellVerdict
from kexbench.domain.verdicts import RELEVANT

MILLION = 1e6
_VERDICTS: Mapping[CellVerdict, AgeVerdict] = {"more": "grows", "same": "does not grow", "less": "does not grow"}


@dataclass(frozen=True)
class AgedCell:
    """The CPU time of a connection by invocation, in nanoseconds."""

    young: Batches
    old: Batches
    connections: int
    """That aged the context in each invocation."""
    kind: object = None
    """Cells of one kind, such as a host kind, share their noise."""


def ageings(cells: Sequence[AgedCell], relevant: float = RELEVANT) -> list[Ageing | None]:
    """The cells in their order, judged together. None where three invocations don't have both ends."""
    pairs = {place: both for place, cell in enumerate(cells) if (both := pair(cell.young, cell.old))}
    kinds = {place: cell.kind for place, cell in enumerate(cells)}
    judged = judge_pairs(pairs, kinds, {}, relevant)
    found: list[Ageing | None] = [None] * len(cells)
    for place, each in judged.items():
        found[place] = Ageing(
            slope=_slope(cells[place], each.move.ratio, pairs[place].count),
            growth=_VERDICTS.get(each.verdict, "unresolved"),
            connections=cells[place].connections,
        )
    return found


def _slope(cell: AgedCell, ratio: Ratio, invocations: int) -> Estimate:
    each_ns = float(np.median(medians(cell.young))) * MILLION / connections_apart(cell.connections)
    return Estimate(
        value=each_ns * (ratio.ratio - 1),
        low=each_ns * (ratio.low - 1),
        high=each_ns * (ratio.high - 1),
        invocations=invocations,
    )
