"""A node that disagrees with comparable nodes of its pool, by the frozen sentinel that all of them measure.

The unit is a run on a node: the mean log cost of the sentinel there, relative to the pool's. Invocations of one run
share what the node did that day, so they count as one value.

Assumption: the runs of a node are independent and normal around the node's own level. Nodes may be noisy to a different
degree: their variances are moderated (analysis/moderation.py). With two nodes they are pooled, since two runs of each
could not tell them apart.

The node that is furthest from the median is tested against the mean of the others, by Welch's t with Satterthwaite's
degrees of freedom, at `ALPHA` divided by the number of nodes (Bonferroni). If it differs, it is left out and the rest
are tested again, as in the procedure for several outliers of Rosner (1983, Percentage Points for a Generalized ESD
Many-Outlier Procedure, Technometrics 25): otherwise one slow node of three would make the other two look fast.

If all nodes of a pool are equal, at most `ALPHA` of such pools have a named node. Simulated with 2 to 150 nodes, 2 to 5
runs of each and a noise of 0.3% between runs, it was never more than 0.7%: with normal noise, with heavy tails (t with
four degrees of freedom), and with nodes whose noise differs by a factor of 1.5. Without a smallest relevant difference,
the last would be up to 6% for many nodes with two runs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from pydantic import Field

from kexbench.analysis.detectable import ALPHA
from kexbench.analysis.estimates import CONFIDENCE
from kexbench.analysis.moderation import MIN_MODERATED, moderate
from kexbench.analysis.welch import satterthwaite_freedom, welch_freedom
from kexbench.domain.intervals import Ratio
from kexbench.domain.verdicts import RELEVANT

MIN_RUNS = 2
"""Of a node, and of each of its peers."""
NEWEST_RUNS = 5
"""Older ones do not count: a node may have become slow."""


class Disagreement(Ratio):
    """The sentinel's cost on a node relative to its peers: 1.03 means that the node is 3% slower."""

    runs: int = Field(description="of the node, the newest ones")
    peers: int = Field(
        description="comparable nodes that it was compared with. With a single one, it may be the other that is fast"
    )


@dataclass(frozen=True)
class _Node:
    name: str
    mean: float
    square: float
    """The squared standard error of the mean."""
    freedom: float
    runs: int


def disagreements(runs: Mapping[str, Sequence[float]], alpha: float = ALPHA) -> dict[str, Disagreement]:
    """The nodes that disagree with the others, the one furthest off first. `runs`: the mean log cost of the sentinel in
    each run of a node, oldest first, relative to anything that is the same for all nodes.

    A node is named if its simultaneous interval is wholly beyond 0.5%; its 95% interval is returned. Nodes with fewer
    than two runs are not compared.
    """
    nodes = _nodes({name: values[-NEWEST_RUNS:] for name, values in runs.items() if len(values) >= MIN_RUNS})
    tests, named = len(nodes), {}
    while len(nodes) > 1:
        centre = float(np.median([node.mean for node in nodes]))
        # Of two nodes both are as far: a slow machine is likelier than a fast one.
        candidate = max(nodes, key=lambda node: (round(abs(node.mean - centre), 9), node.mean))
        nodes.remove(candidate)
        move, reach, simultaneous = _compared(candidate, nodes, alpha / tests)
        relevant = float(np.log1p(RELEVANT))
        if abs(move) - simultaneous <= relevant:
            break
        ratio = Ratio.of_logs(move, move - reach, move + reach)
        named[candidate.name] = Disagreement(**vars(ratio), runs=candidate.runs, peers=len(nodes))
    return named


def _nodes(runs: Mapping[str, Sequence[float]]) -> list[_Node]:
    names, counts = list(runs), np.array([len(values) for values in runs.values()], dtype=float)
    if len(names) < 2:
        return []
    variances = np.array([np.var(values, ddof=1) for values in runs.values()])
    freedoms = counts - 1
    pooled = float((variances * freedoms).sum() / freedoms.sum())
    if len(names) < MIN_MODERATED:
        variances, freedoms = np.full(len(names), pooled), np.full(len(names), freedoms.sum())
    else:
        moderated = moderate(variances, freedoms)
        variances, freedoms = np.maximum(moderated.variances, pooled), moderated.freedoms
    return [
        _Node(name, float(np.mean(runs[name])), float(variance / count), float(freedom), int(count))
        for name, variance, count, freedom in zip(names, variances, counts, freedoms, strict=True)
    ]


def _compared(node: _Node, peers: Sequence[_Node], alpha: float) -> tuple[float, float, float]:
    """How far a node is from the mean of others, and half of its 95% and its simultaneous interval."""
    move = node.mean - float(np.mean([peer.mean for peer in peers]))
    squares = np.array([node.square, *(peer.square / len(peers) ** 2 for peer in peers)])
    freedoms = np.array([node.freedom, *(peer.freedom for peer in peers)])
    error = float(np.sqrt(squares.sum()))
    if error == 0:
        return move, 0.0, 0.0
    freedom = min(welch_freedom(squares, freedoms), satterthwaite_freedom(squares, freedoms), float(freedoms.max()))
    reach, simultaneous = (
        float(scipy.special.stdtrit(freedom, quantile)) * error for quantile in ((1 + CONFIDENCE) / 2, 1 - alpha / 2)
    )
    return move, reach, simultaneous
