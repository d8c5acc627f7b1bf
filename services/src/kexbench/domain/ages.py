"""The age of a context: at which of its points it is young, at which it is old, and how far apart that is."""

from typing import Literal

from pydantic import Field

from kexbench.domain.frozen import Frozen
from kexbench.domain.intervals import Estimate

LONGEST_AGE_S = 3600.0
"""More connections than fit into an hour are not made."""
POINTS, LEAST_APART = 100, 10
"""Points of an age, and the connections between two of them that it has at least."""
END = 0.2
"""The share of the points that are young, and the share that are old."""

AgeVerdict = Literal["grows", "does not grow", "unresolved"]


class Ageing(Frozen):
    """How the age of a context changes what a connection costs."""

    slope: Estimate = Field(description="nanoseconds of CPU time that a million connections add to each later one")
    growth: AgeVerdict
    connections: int = Field(description="that aged the context in each invocation")


def points_of(connections: int) -> int:
    """How many points an age of so many connections has."""
    return max(2, min(POINTS, connections // LEAST_APART))


def young_points(points: int) -> range:
    """The first fifth of them. The very first one is left out where there is another one, because its connections also
    fill caches."""
    young = max(1, round(END * points))
    return range(1, young) if young > 1 else range(1)


def old_points(points: int) -> range:
    return range(points - max(1, round(END * points)), points)


def connections_apart(connections: int) -> float:
    """How many connections are between the middles of the young points and of the old ones."""
    points = points_of(connections)
    young, old = young_points(points), old_points(points)
    return connections / points * (sum(old) / len(old) - sum(young) / len(young))
