"""Everything about one run: its plan, its machines, and all its cells for one metric on one host kind."""

from collections import defaultdict
from dataclasses import replace

from pydantic import Field

from kexbench.answers.cells import Cell, shown_cells
from kexbench.answers.connection import ConnectionCosts, connection_costs
from kexbench.answers.environment import EnvironmentChanges, environment_changes
from kexbench.answers.host_moves import HostMoveSince, moved_since
from kexbench.answers.meaning import fitting_kind
from kexbench.answers.mixed_pools import MixedPool, mixed_pool
from kexbench.answers.reference import ReferenceView, reference_view
from kexbench.answers.runs import RunSummary, known_run, summary
from kexbench.answers.shapes import CaseView
from kexbench.answers.spread import NodeShare, spread
from kexbench.domain.frozen import Frozen
from kexbench.domain.hosts import IDLE_SIBLING, LITTLE_STEAL, HostFacts, HostKind, kind_of
from kexbench.domain.kits import KitManifest
from kexbench.domain.plans import SENTINEL, Isolation, Measure, Skipped
from kexbench.domain.runs import JobAttempt, Run, RunEvent
from kexbench.domain.samples import OTHERS_MEASURED_SINCE, Metric, Timer
from kexbench.domain.subjects import Subject
from kexbench.domain.upgrades import SIDES_OF
from kexbench.planning.rules import relevant_of
from kexbench.queue.controls import Control, controls_of
from kexbench.store.port import MeanLoad, SampleStore, Selection, Store


class SentinelView(Frozen):
    """The sentinel that was measured with the run."""

    library: str
    version: str
    kit_id: str
    move: HostMoveSince | None = Field(description="null without an earlier run of the same kit on this host kind")


class HostView(Frozen):
    """A machine that measured a run, or several with equal facts."""

    host: HostFacts
    pools: list[str]
    nodes: list[str] = Field(description="on a cluster")
    isolation: list[Isolation] = Field(description="how far jobs had CPUs of their own there; on a cluster")


class BusyShare(Frozen):
    """CPU time that something else used while a run was measured, on average over its invocations."""

    share: float = Field(description="0 to 1")
    disturbs: bool = Field(description="so high that it may affect the measured CPU times")


class RunDetail(Frozen):
    """Everything about one run: its plan, its machines, and all its cells for one metric on one host kind."""

    summary: RunSummary
    events: list[RunEvent] = Field(description="all changes of its state, in order")
    controls: list[Control] = Field(description="what can be done to it here and now")
    spec_text: str
    measure: Measure
    hosts: list[HostView]
    spread: list[NodeShare] = Field(description="over the nodes of a cluster; empty on a machine by itself")
    mixed_pools: list[MixedPool] = Field(description="the run's pools whose nodes are not comparable")
    host_kind: HostKind | None = Field(description="the host kind of the cells; null while nothing is stored")
    host_kinds: list[HostKind] = Field(description="the host kinds that the run has numbers of")
    cases: list[CaseView]
    skipped: list[Skipped]
    subjects: list[Subject]
    kits: dict[str, KitManifest]
    components: dict[str, dict[str, str]] = Field(
        description="what each subject's library depends on, if known: versions by reference and component",
        examples=[{"gnutls@debian/trixie": {"nettle": "3.10.1", "gmp": "6.3.0", "libc": "2.41"}}],
    )
    metric: Metric
    cells: list[Cell]
    steal: BusyShare | None = Field(
        description="given to others by the hypervisor, of all CPUs; null if the kernel does not report it"
    )
    sibling: BusyShare | None = Field(
        description="of the other threads of the measuring core; null if it has one thread, or was not checked"
    )
    reference: ReferenceView | None
    connections: list[ConnectionCosts] = Field(
        description="what connections cost beyond their handshakes; empty if no case goes beyond it"
    )
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


def _environment(
    store: Store, run: Run, attempts: list[JobAttempt], kind: HostKind | None
) -> EnvironmentChanges | None:
    """Machines are known before anything is stored."""
    if kind is None:
        hosts = _hosts(run, attempts)
        if not hosts:
            return None
        kind = HostKind(pool=hosts[0].pools[0], cpu_model=kind_of(hosts[0].host))
    return environment_changes(store, run, attempts, kind)


def _steal(load: MeanLoad) -> BusyShare | None:
    share = load.steal_share
    return None if share is None else BusyShare(share=share, disturbs=share > LITTLE_STEAL)


def _sibling(load: MeanLoad) -> BusyShare | None:
    share = load.sibling_busy_share
    return None if share is None else BusyShare(share=share, disturbs=share > IDLE_SIBLING)


def _mixed_pools(run: Run, attempts: list[JobAttempt]) -> list[MixedPool]:
    nodes: dict[str, list[tuple[str, HostFacts]]] = defaultdict(list)
    for attempt in attempts:
        if job := run.job(attempt.job_id):
            nodes[job.pool].append((attempt.node, attempt.host))
    pools = (mixed_pool(pool, nodes[pool]) for pool in run.plan.pools)
    return [mixed for mixed in pools if mixed]


def _hosts(run: Run, attempts: list[JobAttempt]) -> list[HostView]:
    """The machines of a run. Those with equal recorded facts are merged."""
    if run.host:
        return [HostView(host=run.host, pools=list(run.plan.pools), nodes=[], isolation=[])]
    by_host: dict[str, list[JobAttempt]] = defaultdict(list)
    for attempt in attempts:
        by_host[attempt.host.host_id].append(attempt)
    pools = {job.job_id: job.pool for job in run.plan.jobs}
    return [
        HostView(
            host=alike[0].host,
            pools=sorted({pools[attempt.job_id] for attempt in alike}),
            nodes=sorted({attempt.node for attempt in alike}),
            isolation=sorted({attempt.isolation for attempt in alike}),
        )
        for alike in by_host.values()
    ]


def sentinel_view(store: SampleStore, run: Run, kind: HostKind | None) -> SentinelView | None:
    """The sentinel of a run, and how far a host kind moved since the previous run."""
    kit = run.kits.get(SENTINEL)
    if kit is None:
        return None
    move = moved_since(store, run, kind.pool, kind.cpu_model) if kind else None
    return SentinelView(library=kit.library, version=kit.version, kit_id=kit.kit_id, move=move)


def run_detail(
    store: Store,
    run_id: str,
    metric: Metric | None = None,
    pool: str | None = None,
    cpu_model: str | None = None,
    *,
    has_queue: bool,
) -> RunDetail:
    """`metric`: by default the one that the run's instrument decides by. Raises Refusal."""
    stored = known_run(store, run_id)
    decides = SIDES_OF[stored.plan.measure.instrument]["both"]
    shown = metric or decides
    progress, attempts = store.progress([run_id]).get(run_id), store.attempts(run_id)
    kinds = store.host_kinds(run_id)
    kind = fitting_kind(kinds, pool, cpu_model)
    chosen_pool, chosen_cpu = (kind.pool, kind.cpu_model) if kind else (pool, cpu_model)
    relevant, here = relevant_of(stored.spec_text), Selection(shown, chosen_pool, chosen_cpu, run_id=run_id)
    cells = shown_cells(store, here, relevant)
    # Of a metric without values, the subjects are those that the run has values of.
    subjects = cells.subjects or shown_cells(store, replace(here, metric=decides), relevant).subjects
    load, timers = store.kept_value(
        ("conditions", run_id),
        lambda evidence: evidence.of_run(run_id),
        lambda: (store.mean_load(run_id), store.timers(run_id)),
    )
    reference, connections = store.kept_value(
        ("reference and connection", run_id, kind),
        lambda evidence: evidence.of_run(run_id),
        lambda: (reference_view(store, stored, kind), connection_costs(store, stored, kind)),
    )
    return RunDetail(
        summary=summary(stored, progress),
        events=store.events(run_id),
        controls=controls_of(stored, progress) if has_queue and progress else [],
        spec_text=stored.spec_text,
        measure=stored.plan.measure,
        hosts=_hosts(stored, attempts),
        spread=spread(stored, attempts, store.stored_by_job(run_id)) if attempts else [],
        mixed_pools=_mixed_pools(stored, attempts),
        host_kind=kind,
        host_kinds=kinds,
        cases=[CaseView.of(case) for case in stored.plan.cases],
        skipped=list(stored.plan.skipped),
        subjects=list(subjects),
        kits=stored.kits,
        components={reference: kit.components for reference, kit in stored.kits.items()},
        metric=shown,
        cells=list(cells.cells),
        sentinel=sentinel_view(store, stored, kind),
        environment=_environment(store, stored, attempts, kind),
        steal=_steal(load),
        sibling=_sibling(load),
        timers=timers,
        reference=reference,
        connections=connections,
        discarded_batches=progress.discarded_batches if progress else 0,
        preempted_batches=progress.preempted_batches if progress else 0,
        others_measured=stored.plan.harness_version >= OTHERS_MEASURED_SINCE,
    )
