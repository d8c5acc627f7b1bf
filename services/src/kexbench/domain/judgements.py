"""A judgement: what the analysis came to about a run that ended, of every upgrade that it measured."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from kexbench.domain.kits import Library
from kexbench.domain.moments import Moment
from kexbench.domain.upgrades import Move, UpgradeEnd

UpgradeOutcome = Literal["quiet", "confirming", "confirmed", "not confirmed", "cannot confirm"]
"""`quiet`: nothing was suspected; `confirming`: the confirming run has not ended; the rest is what it came to."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class JudgedUpgrade(_Frozen):
    """Two neighbouring versions that a run measured, over all its cases and host kinds."""

    library: Library
    before: UpgradeEnd
    after: UpgradeEnd
    compared: int = Field(description="cells")
    more: int = Field(description="cells that look slower; suspicions, until a run confirms them")
    less: int = Field(description="cells that look faster")
    unresolved: int = Field(description="cells that cannot be told from no change")
    suspected: tuple[str, ...] = Field(description="case ids, each behind its pool and a slash")
    confirmation_run: str | None = Field(description="that decides about the suspicion")
    outcome: UpgradeOutcome


class HostMoved(_Frozen):
    """A host kind whose sentinel moved since an earlier run: the machine's doing, and no library's."""

    pool: str
    cpu_model: str
    move: Move
    cases: int
    since_run: str
    since: Moment


class Judgement(_Frozen):
    """One for each ended run whose spec has a rule; of several the newest counts."""

    run_id: str
    at: Moment
    upgrades: tuple[JudgedUpgrade, ...]
    host_moves: tuple[HostMoved, ...]
