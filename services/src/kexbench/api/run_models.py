"""The shapes of what is read of runs."""

from datetime import datetime

from pydantic import Field

from kexbench.api.mixed import MixedPool
from kexbench.api.models import CaseView, HostKind
from kexbench.api.reference_models import ReferenceView
from kexbench.comparison.models import Cell, SubjectView
from kexbench.domain.commits import Commit
from kexbench.domain.frozen import Frozen
from kexbench.domain.hosts import HostFacts
from kexbench.domain.kits import KitManifest
from kexbench.domain.plans import Isolation, Measure, Skipped
from kexbench.domain.runs import RunEvent, RunState, Trigger
from kexbench.domain.samples import Metric, Timer
from kexbench.queue.controls import Control


class RunSummary(Frozen):
    run_id: str
    plan_id: str
    spec_name: str
    description: str
    created_at: datetime
    trigger: Trigger
    state: RunState
    state_at: datetime
    detail: str
    cpu_model: str | None = Field(description="null on a cluster, where every attempt has its own machine")
    pools: list[str]
    subjects: list[str] = Field(
        description="library and version; references until those are known", examples=[["openssl 3.5.7"]]
    )
    commit: Commit | None = Field(description="that triggered it")
    spec_path: str | None = Field(description="of the spec within the commit")
    cases: int
    invocations_planned: int
    invocations_stored: int


class RunPage(Frozen):
    runs: list[RunSummary]
    next_before: datetime | None = Field(description="pass as `before` for the next page; null at the end")


class HostMoveView(Frozen):
    """How the frozen subject's cost moved since an earlier run: a move is the machine's, not a library's."""

    since_run: str
    since: datetime
    ratio: float = Field(description="1.02: the machine got 2% slower")
    low: float
    high: float
    cases: int
    moved: bool = Field(description="the whole interval lies beyond 0.5%")


class SentinelView(Frozen):
    """The frozen subject that was measured along."""

    library: str
    version: str
    kit_id: str
    move: HostMoveView | None = Field(description="null without an earlier run of the same kit on this host kind")


class HostView(Frozen):
    """A machine that a run was measured on, or the facts that some of them share."""

    host: HostFacts
    pools: list[str]
    nodes: list[str] = Field(description="on a cluster")
    isolation: list[Isolation] = Field(description="what CPUs jobs were found to have there; on a cluster")


class SiblingView(Frozen):
    """The other threads of the core that measured."""

    busy_share: float = Field(description="0 to 1; on average over the run's invocations")
    disturbs: bool = Field(description="more than a CPU that nobody uses: what ran there slowed the measuring")


class StealView(Frozen):
    """Time that the hypervisor gave to others while the run was measured."""

    share: float = Field(description="0 to 1, of all CPUs; on average over the run's invocations")
    disturbs: bool = Field(description="so much that it may be in the CPU times measured")


class RunDetail(Frozen):
    """Everything about one run: what was planned, on what, and all its cells for one metric on one host kind."""

    summary: RunSummary
    events: list[RunEvent] = Field(description="every change of its state, in their order")
    controls: list[Control] = Field(description="what may be asked of it here and now; empty where nothing")
    spec_text: str
    measure: Measure
    hosts: list[HostView]
    mixed_pools: list[MixedPool] = Field(description="those of the run's pools whose nodes it found not comparable")
    host_kind: HostKind | None = Field(description="that the cells are of; null while nothing is stored")
    host_kinds: list[HostKind] = Field(description="that the run has numbers of")
    cases: list[CaseView]
    skipped: list[Skipped]
    subjects: list[SubjectView]
    kits: dict[str, KitManifest]
    components: dict[str, dict[str, str]] = Field(
        description="what each subject's library stands on, where known: by reference, then by component its version",
        examples=[{"gnutls@debian/trixie": {"nettle": "3.10.1", "gmp": "6.3.0", "libc": "2.41"}}],
    )
    metric: Metric
    cells: list[Cell]
    steal: StealView | None = Field(description="null where the kernel does not tell")
    sibling: SiblingView | None = Field(description="null where the core has one thread, or nobody looked")
    reference: ReferenceView | None
    sentinel: SentinelView | None = Field(description="null where the run has none")
    timers: dict[str, Timer] = Field(description="what reading the clocks cost, by the subject's reference")
    discarded_batches: int
    preempted_batches: int
