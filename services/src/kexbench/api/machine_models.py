"""The shapes of answers about machines, levels of security and the measurement itself."""

from datetime import datetime

from pydantic import Field

from kexbench.answers.loads import LoadCase
from kexbench.answers.mixed_pools import MixedPool
from kexbench.answers.scaling import ScalingCase
from kexbench.answers.security_shapes import HandshakeView, LevelView, ModelView
from kexbench.answers.shapes import CaseView, SubjectView
from kexbench.api.models import HostKind
from kexbench.domain.frozen import Frozen
from kexbench.domain.upgrades import Side


class Scaling(Frozen):
    """The curves of all cases with more than one measured thread count, and of all cases of web servers with more than
    one measured number of connections at once."""

    host_kind: HostKind | None
    subjects: list[SubjectView]
    cases: list[ScalingCase]
    loads: list[LoadCase]


class QualificationRow(Frozen):
    """The result of an A/A run for one case on one host kind. Shares: 0.004 is 0.4%."""

    library: str
    case: CaseView
    run_id: str
    measured_at: datetime
    invocations: int
    cv: float
    pair_sd: float = Field(description="of paired log ratios; n invocations have the standard error pair_sd / sqrt(n)")
    group: int = Field(description="invocations assumed for smallest_detectable_change and false_positive_*")
    smallest_detectable_change: float
    false_positive_rate: float | None
    false_positive_low: float | None
    false_positive_high: float | None
    relinks: int
    layout_floor: float | None = Field(description="null with fewer than three relinks")
    cannot_resolve_below: float


class Qualifications(Frozen):
    """Newest first by library and case; empty until `kexbench qualify` ran on this host kind."""

    host_kind: HostKind | None
    mixed_pool: MixedPool | None = Field(
        description="set if the pool's nodes, as jobs of the last week reported them, are not comparable"
    )
    alpha: float
    power: float
    rows: list[QualificationRow]


class SecurityView(Frozen):
    """The handshakes of one library version on one host kind, by their strength."""

    model: ModelView
    models: list[ModelView] = Field(description="the models to choose from")
    side: Side
    host_kind: HostKind | None = Field(description="null while nothing is stored")
    subject: str | None = Field(description="unique name of the library version; null while nothing is stored")
    subjects: list[SubjectView] = Field(description="the versions to choose from")
    levels: list[LevelView]
    unranked: list[HandshakeView] = Field(description="handshakes of unknown strength, or below the lowest level")
