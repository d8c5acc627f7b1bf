"""Which side of a handshake a change is in."""

import numpy as np

from kexbench.domain.intervals import Ratio
from kexbench.domain.upgrades import Side
from kexbench.domain.verdicts import RELEVANT

_SLIGHT = 0.2
"""A side did not move if its change is smaller than this share of the other side's."""


def moved_side(client: Ratio | None, server: Ratio | None) -> Side:
    """The side that moved: one side if its interval excludes no change and the other side's change is slight."""
    if client is None or server is None:
        return "both"
    sizes = {"client": _sure_size(client), "server": _sure_size(server)}
    if sizes["server"] > 0 and sizes["client"] < _SLIGHT * sizes["server"]:
        return "server"
    if sizes["client"] > 0 and sizes["server"] < _SLIGHT * sizes["client"]:
        return "client"
    return "both"


def _sure_size(move: Ratio) -> float:
    """The size of a move on a log scale; 0 if its interval includes no change, or it is not relevant."""
    sure = move.low > 1 or move.high < 1
    return float(abs(np.log(move.ratio))) if sure and abs(move.ratio - 1) >= RELEVANT else 0.0
