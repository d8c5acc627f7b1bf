"""A screening: the analysis of a run that ended, with a result for every upgrade that it measured."""

from typing import Literal

from pydantic import Field

from kexbench.domain.canonical import content_hash
from kexbench.domain.frozen import Frozen
from kexbench.domain.intervals import Ratio
from kexbench.domain.kits import Library
from kexbench.domain.metrics import Metric
from kexbench.domain.moments import Moment
from kexbench.domain.upgrades import UpgradeEnd

UpgradeOutcome = Literal["quiet", "confirming", "confirmed", "not confirmed", "cannot confirm"]
"""`quiet`: no suspicion; `confirming`: the confirmation run has not ended; the others are its results. For `cannot
confirm` the detail says why, and the run may be resumed. Exact metrics are quiet or confirmed at once."""


class ScreenedUpgrade(Frozen):
    """Two neighbouring versions that a run measured, in one metric over all its cases and host kinds."""

    library: Library
    metric: Metric = Metric.CPU_NS
    before: UpgradeEnd
    after: UpgradeEnd
    compared: int = Field(description="cells")
    more: int = Field(
        description="cells in which the metric looks higher; suspicions until a run confirms them, unless it is exact"
    )
    less: int = Field(description="cells in which it looks lower")
    unresolved: int = Field(description="cells below the resolution")
    suspected: tuple[str, ...] = Field(description="case ids, each after its pool and a slash")
    confirmation_run: str | None = Field(description="the run that decides about the suspicion")
    outcome: UpgradeOutcome
    detail: str = Field("", description="the reason of the outcome, where it is not obvious")
    alert_id: str | None = Field(None, description="the alert that reports it")

    @property
    def key(self) -> str:
        """The same for the same two subjects and metric, whichever run measured them."""
        return upgrade_key(self.library, self.before.subject, self.after.subject, self.metric)

    @property
    def waits(self) -> bool:
        """Whether the outcome may still change, since the confirmation run is open or may be resumed."""
        return self.confirmation_run is not None and self.outcome in ("confirming", "cannot confirm")


def upgrade_key(library: str, before: str, after: str, metric: Metric = Metric.CPU_NS) -> str:
    """The key of two subjects, by their names, in a metric. That of CPU time is the one of earlier releases."""
    return content_hash([library, before, after, *([] if metric is Metric.CPU_NS else [metric])])


class HostMoved(Frozen):
    """A host kind whose sentinel changed since an earlier run: the machine changed, not a library."""

    pool: str
    cpu_model: str
    move: Ratio
    cases: int
    since_run: str
    since: Moment


class Screening(Frozen):
    """The result for an ended run whose spec has an alert rule; the newest of several counts."""

    run_id: str
    spec_name: str
    at: Moment
    ended_at: Moment = Field(description="the screened end of the run; a resumed run ends again")
    upgrades: tuple[ScreenedUpgrade, ...]
    host_moves: tuple[HostMoved, ...]

    @property
    def confirmation_runs(self) -> tuple[str, ...]:
        """The confirmation runs that it waits for."""
        return tuple(each.confirmation_run for each in self.upgrades if each.waits and each.confirmation_run)


class ReplayedUpgrade(Frozen):
    """The result of a rule for a stored upgrade."""

    run_id: str = Field(description="the newest that measured both versions")
    measured_at: Moment
    library: Library
    metric: Metric
    before: UpgradeEnd
    after: UpgradeEnd
    cells: int = Field(description="cells in which the metric looks higher, or that are confirmed")
    compared: int
    outcome: Literal["suspected", "confirmed", "not confirmed"] = Field(
        description="suspected: no confirmation run is stored; otherwise the result of that run, or of an exact metric"
    )
    sentence: str
