"""The port of leases: one of several processes holds one, and the others know which (docs/adr/0050)."""

from dataclasses import dataclass
from typing import Protocol

LEASE_S = 30
"""A holder that does not renew its lease within this time loses it."""


@dataclass(frozen=True)
class LeaseView:
    holder: str = ""
    """Empty if nobody holds it."""
    renewal: str = ""
    """Differs after each renewal."""


class Leases(Protocol):
    """Every method raises ClusterError."""

    def view(self, name: str) -> LeaseView: ...
    def hold(self, name: str, identity: str, duration_s: int = LEASE_S) -> bool:
        """Take or renew a lease. Returns whether it is ours now."""
        ...

    def release(self, name: str, identity: str) -> None:
        """Let another holder take it at once. Does nothing if it is not ours."""
        ...
