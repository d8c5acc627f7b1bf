"""A mix of connections that a server serves: which cases, in which shares, and how many connections a second."""

from dataclasses import dataclass
from enum import StrEnum

from kexbench.domain.cases import Case
from kexbench.domain.samples import Metric


class CostOf(StrEnum):
    """What the CPU time of a server contains: handshakes alone, or connections with objects, data and closing."""

    HANDSHAKE = "handshake"
    CONNECTION = "connection"


SERVER_COSTS: dict[CostOf, Metric] = {
    CostOf.HANDSHAKE: Metric.SERVER_CPU_NS,
    CostOf.CONNECTION: Metric.SERVER_CONNECTION_CPU_NS,
}


@dataclass(frozen=True)
class MixPart:
    share: float
    """Of the connections. The shares of a mix sum to 1."""
    case_id: str
    case: Case | None = None
    """None as long as only its id is known."""


@dataclass(frozen=True)
class TrafficMix:
    connections_per_s: float
    utilisation: float
    """The share of a core that may be used."""
    cores_per_machine: int | None
    cost: CostOf
    parts: tuple[MixPart, ...]
    against: tuple[MixPart, ...] = ()
    """What would serve the same connections otherwise; empty for nothing."""

    @property
    def all_parts(self) -> tuple[MixPart, ...]:
        """Each case once."""
        return tuple({part.case_id: part for part in (*self.parts, *self.against)}.values())
