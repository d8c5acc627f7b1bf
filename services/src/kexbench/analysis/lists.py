"""Compares two lists of invocations without a matrix, for `kexbench analyze compare`."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kexbench.analysis.estimates import MIN_COMPARED_INVOCATIONS
from kexbench.analysis.moves import moves, pair
from kexbench.analysis.verdict import has_moved
from kexbench.domain.intervals import Ratio
from kexbench.domain.verdicts import RELEVANT

CHANCE, STRICT_CHANCE = 0.01, 0.001
"""Two-sided p values. At most 5 of 1000 pairs of unchanged lists look like a regression, or 1 of 2000."""
STRICT_RELEVANT = 0.01


@dataclass(frozen=True)
class Compared:
    """The cost of `b` relative to `a`."""

    move: Ratio
    regression: bool


def compare_lists(a: list[list[float]], b: list[list[float]], paired: bool, strict: bool) -> Compared:
    """Compare the costs of `a` and `b`, lists of invocations, which are lists of batch values.

    `paired`: invocation i of both ran interleaved, so the 20% trimmed mean of paired log ratios is used. Otherwise
    Welch's t over log invocation medians. A regression is at least 0.5% slower at p < 0.01, or at least 1% at
    p < 0.001 with `strict`. ValueError with the remedy if the lists cannot be compared.
    """
    for name, invocations in (("a", a), ("b", b)):
        _check(name, invocations)
    if paired and len(a) != len(b):
        raise ValueError(
            f"paired lists need the same number of invocations, but a has {len(a)} and b has {len(b)}: "
            "leave out those without a partner, or compare with paired false"
        )
    before, after = (
        {f"{name}/{number}": values for number, values in enumerate(invocations)}
        for name, invocations in _named(a, b, paired)
    )
    both = pair(before, after)
    assert both is not None  # the checks above exclude it
    move = moves({0: both}, {0: None})[0]
    relevant, chance = (STRICT_RELEVANT, STRICT_CHANCE) if strict else (RELEVANT, CHANCE)
    regression = move.centre > 0 and has_moved(move, move.chance, chance, relevant)
    return Compared(move.ratio, regression)


def _named(
    a: list[list[float]], b: list[list[float]], paired: bool
) -> tuple[tuple[str, list[list[float]]], tuple[str, list[list[float]]]]:
    """Invocations with the same name form a pair."""
    return ("", a), ("" if paired else "b", b)


def _check(name: str, invocations: Sequence[Sequence[float]]) -> None:
    if len(invocations) < MIN_COMPARED_INVOCATIONS:
        raise ValueError(
            f"{name} has {len(invocations)} invocations, and at least {MIN_COMPARED_INVOCATIONS} are needed: "
            "measure more, each in a process of its own; batches of one process do not count"
        )
    for number, values in enumerate(invocations):
        if not values:
            raise ValueError(f"{name}[{number}] has no batches: leave the invocation out")
        for place, value in enumerate(values):
            if not (np.isfinite(value) and value > 0):
                raise ValueError(
                    f"{name}[{number}][{place}] is {value}: costs must be finite and above 0; leave the batch out"
                )
