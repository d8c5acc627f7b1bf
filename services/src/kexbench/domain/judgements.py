"""A judgement: what the analysis came to about a run that ended, of every upgrade that it measured."""

from typing import Literal

from pydantic import Field

from kexbench.domain.canonical import content_hash
from kexbench.domain.frozen import Frozen
from kexbench.domain.kits import Library
from kexbench.domain.moments import Moment
from kexbench.domain.upgrades import Move, UpgradeEnd

UpgradeOutcome = Literal["quiet", "confirming", "confirmed", "not confirmed", "cannot confirm"]
"""`quiet`: nothing was suspected; `confirming`: the confirming run has not ended; the rest is what it came to. Of
`cannot confirm` the detail says why; somebody may resume the run."""


class JudgedUpgrade(Frozen):
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
    detail: str = Field("", description="why the outcome is what it is, where that is not plain")
    alert_id: str | None = Field(None, description="that tells of it")

    @property
    def key(self) -> str:
        """The same for the same two subjects, whichever run measured them."""
        return upgrade_key(self.library, self.before.subject, self.after.subject)

    @property
    def waits(self) -> bool:
        """Whether another outcome may come of its confirming run, which may be resumed even where it failed."""
        return self.confirmation_run is not None and self.outcome in ("confirming", "cannot confirm")


def upgrade_key(library: str, before: str, after: str) -> str:
    """Of two subjects by their names."""
    return content_hash([library, before, after])


class HostMoved(Frozen):
    """A host kind whose sentinel moved since an earlier run: the machine's doing, and no library's."""

    pool: str
    cpu_model: str
    move: Move
    cases: int
    since_run: str
    since: Moment


class Judgement(Frozen):
    """One for each ended run whose spec has a rule; of several the newest counts."""

    run_id: str
    spec_name: str
    at: Moment
    ended_at: Moment = Field(description="when the run had ended, as it was judged; one that is resumed ends again")
    upgrades: tuple[JudgedUpgrade, ...]
    host_moves: tuple[HostMoved, ...]

    @property
    def confirmation_runs(self) -> tuple[str, ...]:
        """Those that it waits for."""
        return tuple(one.confirmation_run for one in self.upgrades if one.waits and one.confirmation_run)


class ReplayedUpgrade(Frozen):
    """What a rule says of an upgrade that is stored."""

    run_id: str = Field(description="the newest that measured both versions")
    measured_at: Moment
    library: Library
    before: UpgradeEnd
    after: UpgradeEnd
    cells: int = Field(description="that look slower, or that a run confirmed")
    compared: int
    outcome: Literal["suspected", "confirmed", "not confirmed"] = Field(
        description="suspected: a run of its own would have to confirm it; else such a run is stored"
    )
    sentence: str
