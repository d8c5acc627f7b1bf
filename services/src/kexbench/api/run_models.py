"""The shapes of what is read of runs."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from kexbench.api.models import HostKind, ReferenceView
from kexbench.comparison.mixed import MixedPool
from kexbench.comparison.models import CaseView, Cell, SubjectView
from kexbench.domain.commits import Commit, DryRun, SpecFault, SpecPath
from kexbench.domain.frozen import Frozen
from kexbench.domain.hosts import HostFacts
from kexbench.domain.kits import KitManifest
from kexbench.domain.plans import Isolation, Measure, Plan, Skipped
from kexbench.domain.runs import RunEvent, RunState, Trigger
from kexbench.domain.samples import Metric, Timer
from kexbench.domain.schedules import Schedule
from kexbench.planning.documents import SPEC_MAX_CHARACTERS
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


class QueueEntry(Frozen):
    """A run that was begun or waits."""

    run_id: str
    spec_name: str
    trigger: Trigger
    priority: int = Field(description="by the trigger; 1 comes first")
    state: RunState
    detail: str
    queued_at: datetime = Field(description="of one that a command measures itself: when it began")
    spec_begun_at: datetime | None = Field(
        description="when a run of the spec began last; of several specs of one priority the one longest ago is next"
    )
    pools: list[str]
    invocations_planned: int
    invocations_stored: int
    left_s: float = Field(description="estimated time of measuring what is left of it")
    wait_s: float | None = Field(
        description="estimated time of all that is before it; null once it is begun, and on a cluster, where runs may "
        "be measured side by side"
    )
    superseded_by: str | None = Field(description="the newer run of its line that it will be cancelled for")


class QueueView(Frozen):
    runs: list[QueueEntry] = Field(description="those that were begun first, then in the order they will begin")


class Submission(Frozen):
    """A spec that shall be measured."""

    spec_text: str = Field(min_length=1, max_length=SPEC_MAX_CHARACTERS)
    spec_file: str = Field("spec.yaml", max_length=400, description="as faults name it")


class RunWanted(Submission):
    """A spec that shall be measured now."""

    purpose: Literal["history", "qualification"] = Field(
        "history", description="qualification: an A/A run, whose numbers are no part of any overview"
    )


class DryRunRequest(Frozen):
    """A spec that shall be planned and not measured."""

    spec_text: str = Field(max_length=SPEC_MAX_CHARACTERS)
    spec_file: SpecPath = Field("spec.yaml", description="as faults name it; its path where it is of a commit")
    catalogue_text: str | None = Field(None, max_length=SPEC_MAX_CHARACTERS, description="null is this service's own")
    subjects: Annotated[list[str], Field(max_length=10_000)] = Field([], description="references; all where empty")
    commit: Commit | None = Field(None, description="that it is of: what is measured of it already is told")
    with_plan: bool = Field(False, description="whether the whole plan is told, which may be large")


class DryRunView(Frozen):
    """A dry run, or the run that there is, or faults."""

    dry_run: DryRun | None = None
    plan: Plan | None = Field(None, description="of the dry run, where it was asked for")
    run_id: str | None = Field(None, description="the run that there is of this spec of this commit")
    faults: list[SpecFault] = Field([], description="why there is neither")


class OpenRun(Frozen):
    """A run that something is still to happen to, without its plan, which may be large."""

    run_id: str
    is_started: bool
    events: list[RunEvent] = Field(description="in their order; each that is `queued` begins another series")


class KnownKits(Frozen):
    """Which kits a run has and which are to be built, on its pools' architecture."""

    architecture: str
    kits: dict[str, str | None] = Field(description="kit id by reference; null is missing")


class ScheduleView(Frozen):
    """A spec that a cluster measures again and again."""

    name: str = Field(description="the spec's own", examples=["nightly"])
    cron: str = Field(description="minute, hour, day of the month, month, day of the week; UTC", examples=["0 3 * * *"])
    spec_text: str = Field(description="planned anew each time")
    changed_at: datetime
    changed_by: str

    @classmethod
    def of(cls, schedule: Schedule) -> "ScheduleView":
        return cls(**schedule.model_dump(exclude={"removed"}))
