"""The batches of a subject in an invocation, or the numbers that are kept once they were removed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

LOG_STEPS = 100_000_000
"""Log ratios of invocations are rounded to this part of 1. Noise is ten thousand times larger. Rounded, they take a
third of the space, and the database and Python compute the same."""


class RoundRatio(NamedTuple):
    """The log ratio of two subjects over the rounds of an invocation."""

    mean: float
    """Interquartile, as in `analysis.rounds`."""
    median: float


@dataclass(frozen=True)
class RemovedBatches:
    """What is kept of batches. All of them were above 0."""

    subject: str
    """As the plan names it."""
    median: float
    ratios: Mapping[str, RoundRatio] = field(default_factory=dict)
    """Relative to other subjects of the invocation. Of two subjects, one has the ratio."""


Values: TypeAlias = Sequence[float] | RemovedBatches
"""In the order of the rounds, NaN for an unknown value."""
