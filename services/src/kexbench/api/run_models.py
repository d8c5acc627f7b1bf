"""The shapes of answers about runs."""

from datetime import datetime
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from kexbench.analysis.connection import PartKind
from kexbench.answers.cells import Cell
from kexbench.answers.environment import EnvironmentChanges
from kexbench.answers.mixed_pools import MixedPool
from kexbench.answers.overview import LibraryState
from kexbench.answers.shapes import CaseView, Estimate, SubjectView
from kexbench.api.models import HostKind, ReferenceView
from kexbench.domain.commits import Commit, DryRun, SpecFault, SpecPath
from kexbench.domain.frozen import Frozen
from kexbench.domain.hosts import HostFacts
from kexbench.domain.kits import KitManifest
from kexbench.domain.plans import Isolation, Measure, Plan, Skipped
from kexbench.domain.runs import RunEvent, RunState, Trigger
from kexbench.domain.samples import Metric, Timer
from kexbench.domain.schedules import Schedule
from kexbench.domain.views import View
from kexbench.planning.documents import SPEC_MAX_CHARACTERS
from kexbench.queue.controls import Control
from kexbench.queue.progress import JobsProgress


class RunFacts(Frozen):
    """What a run's plan and kits say."""

    run_id: str
    plan_id: str
    spec_name: str
    description: str
    created_at: datetime
    trigger: Trigger
    cpu_model: str | None = Field(description="null on a cluster, where attempts have different machines")
    pools: list[str]
    subjects: list[str] = Field(
        description="library and version; the reference until they are known", examples=[["openssl 3.5.7"]]
    )
    commit: Commit | None = Field(description="the commit that triggered the run")
    spec_path: str | None = Field(description="path of the spec in the commit")
    cases: int
    invocations_planned: int
    first_look: bool = Field(description="measured with few and short invocations: `kexbench run --quick`")


class RunSummary(RunFacts):
    state: RunState
    state_at: datetime
    detail: str
    invocations_stored: int


class RunPage(Frozen):
    runs: list[RunSummary]
    next_before: datetime | None = Field(description="pass as `before` for the next page; null at the end")


class HostMoveView(Frozen):
    """How the sentinel's cost changed since an earlier run: a change of the machine, not of a library."""

    since_run: str
    since: datetime
    ratio: float = Field(description="1.02: the machine got 2% slower")
    low: float
    high: float
    cases: int
    moved: bool = Field(description="the whole interval is beyond 0.5%")


class SentinelView(Frozen):
    """The sentinel that was measured with the run."""

    library: str
    version: str
    kit_id: str
    move: HostMoveView | None = Field(description="null without an earlier run of the same kit on this host kind")


class HostView(Frozen):
    """A machine that measured a run, or several with equal facts."""

    host: HostFacts
    pools: list[str]
    nodes: list[str] = Field(description="on a cluster")
    isolation: list[Isolation] = Field(description="how far jobs had CPUs of their own there; on a cluster")


class SiblingView(Frozen):
    """The other threads of the core that measured."""

    busy_share: float = Field(description="0 to 1; on average over the run's invocations")
    disturbs: bool = Field(description="busier than an idle CPU: other work slowed the measurement")


class StealView(Frozen):
    """CPU time that the hypervisor gave to others during the run."""

    share: float = Field(description="0 to 1, of all CPUs; on average over the run's invocations")
    disturbs: bool = Field(description="so high that it may affect the measured CPU times")


class PartCost(Frozen):
    """CPU time of a part of a connection; null if it was not measured."""

    subject: str
    client: Estimate | None
    server: Estimate | None
    wall: Estimate | None = Field(
        None, description="wall time per handshake, all threads together; of handshakes and threads"
    )


class PartView(Frozen):
    """A part of a connection's cost."""

    kind: PartKind
    label: str = Field(examples=["verification, 2 + 1 certificates", "transfer of 16 KiB, AES-128-GCM"])
    case_id: str
    without: str | None = Field(description="the case whose cost is subtracted; it lacks only this part")
    transfer_bytes: int
    costs: list[PartCost] = Field(description="one for each subject")


class ConnectionCosts(Frozen):
    title: str = Field(description="the case without anything beyond the handshake")
    parts: list[PartView]


class ConnectionView(Frozen):
    """What connections cost beyond their handshakes."""

    connections: list[ConnectionCosts]


class RunDetail(Frozen):
    """Everything about one run: its plan, its machines, and all its cells for one metric on one host kind."""

    summary: RunSummary
    events: list[RunEvent] = Field(description="all changes of its state, in order")
    controls: list[Control] = Field(description="what can be done to it here and now")
    spec_text: str
    measure: Measure
    hosts: list[HostView]
    mixed_pools: list[MixedPool] = Field(description="the run's pools whose nodes are not comparable")
    host_kind: HostKind | None = Field(description="the host kind of the cells; null while nothing is stored")
    host_kinds: list[HostKind] = Field(description="the host kinds that the run has numbers of")
    cases: list[CaseView]
    skipped: list[Skipped]
    subjects: list[SubjectView]
    kits: dict[str, KitManifest]
    components: dict[str, dict[str, str]] = Field(
        description="what each subject's library depends on, if known: versions by reference and component",
        examples=[{"gnutls@debian/trixie": {"nettle": "3.10.1", "gmp": "6.3.0", "libc": "2.41"}}],
    )
    metric: Metric
    cells: list[Cell]
    steal: StealView | None = Field(description="null if the kernel does not report it")
    sibling: SiblingView | None = Field(description="null if the core has one thread, or was not checked")
    reference: ReferenceView | None
    connection: ConnectionView | None = Field(description="null if no case goes beyond its handshake")
    sentinel: SentinelView | None = Field(description="null if the run has none")
    environment: EnvironmentChanges | None = Field(
        description="what differs from the previous run of the spec; null without one on this pool and CPU model"
    )
    timers: dict[str, Timer] = Field(description="cost of reading the clocks, by the subject's reference")
    discarded_batches: int = Field(description="batches repeated because they were disturbed")
    preempted_batches: int = Field(description="disturbed batches that were kept")
    others_measured: bool = Field(
        description="whether batches count as disturbed by the CPU time that other programs took; runners of earlier "
        "releases counted context switches, whatever their cause"
    )


class RunProgressView(JobsProgress):
    """How far a run is."""

    run_id: str
    state: RunState
    state_at: datetime
    detail: str
    invocations_planned: int
    invocations_stored: int
    invocations_measured: int = Field(description="also those that the measuring machine has not stored yet")
    expected_end_at: datetime | None = Field(
        description="by the pace of the run, or as planned until it has one; null unless it is being measured"
    )
    log: list[str] = Field(description="the last lines of its log, on the machine that measures it")


class QueueEntry(Frozen):
    """A run that is under way or waits."""

    run_id: str
    spec_name: str
    trigger: Trigger
    priority: int = Field(description="by the trigger; 1 comes first")
    state: RunState
    detail: str
    queued_at: datetime
    spec_begun_at: datetime | None = Field(
        description="when a run of the spec last began; within a priority, the spec with the oldest one is next"
    )
    pools: list[str]
    invocations_planned: int
    invocations_stored: int
    invocations_measured: int = Field(description="also those that the measuring machine has not stored yet")
    left_s: float = Field(
        description="expected time until the end of the run once it has begun, by how long runs took before"
    )
    wait_s: float | None = Field(
        description="estimated time of the runs before it; null once it has begun, and on a cluster, where runs may be "
        "measured in parallel"
    )
    superseded_by: str | None = Field(description="the newer run of the same branch or schedule that replaces it")


class QueueView(Frozen):
    runs: list[QueueEntry] = Field(description="runs under way first, then in the order they will begin")


class RunUnderWay(Frozen):
    """A run that has begun and not ended."""

    run_id: str
    spec_name: str
    trigger: Trigger
    state: RunState
    detail: str
    state_at: datetime = Field(description="since when it is in this state")
    invocations_planned: int
    invocations_stored: int
    invocations_measured: int = Field(description="also those that the measuring machine has not stored yet")
    expected_end_at: datetime | None = Field(description="estimated; null unless it is being measured")


class SpecView(Frozen):
    name: str
    begun_at: datetime = Field(description="when its newest run began")


class UnderWay(Frozen):
    """What is measured now."""

    under_way: list[RunUnderWay] = Field(description="oldest first")
    waiting: int = Field(description="the number of runs that wait")


class Overview(UnderWay):
    """What a maintainer looks at first."""

    libraries: list[LibraryState] = Field(description="the measured libraries, by name")
    specs: list[SpecView] = Field(description="the specs with a run that has begun, by name")
    views: list[View] = Field(description="named views, in the order of their file")


class Submission(Frozen):
    """A spec to measure."""

    spec_text: str = Field(min_length=1, max_length=SPEC_MAX_CHARACTERS)
    spec_file: str = Field("spec.yaml", max_length=400, description="its name in faults")


class RunWanted(Submission):
    """A spec to measure now."""

    purpose: Literal["history", "qualification"] = Field(
        "history", description="qualification: an A/A run, whose numbers appear in no overview"
    )


class DryRunRequest(Frozen):
    """A spec to plan without measuring it."""

    spec_text: str = Field(max_length=SPEC_MAX_CHARACTERS)
    spec_file: SpecPath = Field("spec.yaml", description="its name in faults; its path if it is of a commit")
    catalogue_text: str | None = Field(None, max_length=SPEC_MAX_CHARACTERS, description="null: the service's own")
    subjects: Annotated[list[str], Field(max_length=10_000)] = Field([], description="references; empty: all")
    commit: Commit | None = Field(None, description="the commit of the spec: if that has a run, the run is returned")
    with_plan: bool = Field(False, description="whether to return the whole plan, which may be large")


class DryRunView(Frozen):
    """A dry run, an existing run, or faults."""

    dry_run: DryRun | None = None
    plan: Plan | None = Field(None, description="the plan of the dry run, if requested")
    run_id: str | None = Field(None, description="the existing run of this spec of this commit")
    faults: list[SpecFault] = Field([], description="why there is neither")


class CancelWanted(Frozen):
    """Which runs to cancel: those named, or all that have not begun."""

    run_ids: list[Annotated[str, Field(max_length=200)]] = Field([], max_length=10_000)
    queued: bool = Field(False, description="all that have not begun; on a cluster also those whose kits are built now")

    @model_validator(mode="after")
    def _names_runs(self) -> Self:
        if bool(self.run_ids) == self.queued:
            raise ValueError("give the ids of runs, or queued for all that have not begun")
        return self


CancelOutcome = Literal["accepted", "unchanged", "refused", "unknown"]


class RunCancellation(Frozen):
    run_id: str
    outcome: CancelOutcome = Field(
        description="`accepted`: this request cancels it. `unchanged`: it is being cancelled already, or has ended. "
        "`refused`: a command on its machine measures it. `unknown`: there is no such run."
    )
    state: RunState | None = Field(description="after this request; null for an unknown run")
    detail: str
    remedy: str | None


class RunsCancelled(Frozen):
    runs: list[RunCancellation] = Field(description="in the order of the request, each once")


class OpenRun(Frozen):
    """A run that has not ended, without its plan, which may be large."""

    run_id: str
    pools: list[str]
    invocations_planned: int
    events: list[RunEvent] = Field(description="in order; each `queued` event begins another submission")


class KnownKits(Frozen):
    """The kits that a run has and those to build, for the architecture of its pools."""

    architecture: str
    kits: dict[str, str | None] = Field(description="kit id by reference; null if missing")


class ScheduleView(Frozen):
    """A spec that is measured regularly."""

    name: str = Field(description="the name of the spec", examples=["nightly"])
    cron: str = Field(description="minute, hour, day of the month, month, day of the week; UTC", examples=["0 3 * * *"])
    spec_text: str = Field(description="planned anew each time")
    changed_at: datetime
    changed_by: str

    @classmethod
    def of(cls, schedule: Schedule) -> "ScheduleView":
        return cls(**schedule.model_dump(exclude={"removed"}))
