"""The shapes of what the API says of upgrades, beside the report itself, which is in domain/upgrades.py."""

from datetime import datetime

from pydantic import Field

from kexbench.domain.frozen import Frozen
from kexbench.domain.kits import Library
from kexbench.domain.upgrades import UpgradeEnd


class UpgradeView(Frozen):
    """A version and the one before it that has a case on a host kind in common with it."""

    library: Library
    before: UpgradeEnd
    after: UpgradeEnd
    measured_at: datetime = Field(description="when `after` was measured last")
    cells: int = Field(description="cases, on each host kind, that both have numbers of")


class UpgradePage(Frozen):
    upgrades: list[UpgradeView]
    next_before: datetime | None = Field(description="pass as `before` for the next page; null at the end")
