"""The shapes of what is known of the machines and of the measuring itself."""

from datetime import datetime

from pydantic import Field

from kexbench.api.models import HostKind
from kexbench.comparison.mixed import MixedPool
from kexbench.comparison.models import CaseView, Estimate, SubjectView
from kexbench.domain.frozen import Frozen


class CoefficientView(Frozen):
    value: float
    low: float | None
    high: float | None


class ScalingPoint(Frozen):
    threads: int
    rate: Estimate = Field(description="handshakes per second of wall time, all threads together")
    efficiency: CoefficientView | None = Field(description="rate over threads times that of one; null for one thread")


class ScalingLine(Frozen):
    """One subject of one case over thread counts, with the fitted universal scalability law."""

    subject: str
    points: list[ScalingPoint] = Field(description="by thread count")
    contention: CoefficientView | None = Field(description="share of the work that waits for others; null: no fit")
    coherency: CoefficientView | None = Field(description="null with fewer than three thread counts")
    peak_threads: float | None


class ScalingCase(Frozen):
    case: CaseView = Field(description="with one thread")
    lines: list[ScalingLine]


class Scaling(Frozen):
    """Curves of all cases that were measured with more than one thread count."""

    host_kind: HostKind | None
    subjects: list[SubjectView]
    cases: list[ScalingCase]


class QualificationRow(Frozen):
    """What an A/A run proved of one case on one host kind. Shares: 0.004 is 0.4%."""

    library: str
    case: CaseView
    run_id: str
    measured_at: datetime
    invocations: int
    cv: float
    pair_sd: float = Field(description="of paired log ratios; n invocations have the standard error pair_sd / sqrt(n)")
    group: int = Field(description="the number of invocations that the next two are about")
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
        description="where the pool's nodes, as jobs of the last week found them, are not comparable; else null"
    )
    alpha: float
    power: float
    rows: list[QualificationRow]
