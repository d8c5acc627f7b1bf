"""The routes that the dashboard and the command line read."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import Query
from pydantic import AwareDatetime, BeforeValidator

from kexbench.answers.cells import ShownCells, shown_cells
from kexbench.answers.environment import EnvironmentChanges, environment_changes
from kexbench.answers.host_moves import moved_since
from kexbench.answers.mixed_pools import MixedPool, mixed_pool
from kexbench.answers.shapes import CaseView, SubjectView
from kexbench.answers.subjects import subject_view
from kexbench.api.answers import KeptRoute
from kexbench.api.connection import connection_view
from kexbench.api.dependencies import HasQueue, TheSampleStore, TheStore
from kexbench.api.gate import api_router
from kexbench.api.models import (
    Filters,
    FirstLookView,
    HostKind,
    Matrix,
    Problem,
    RunChoice,
    RunsAside,
    metric_views,
)
from kexbench.api.problems import ProblemError
from kexbench.api.reference import reference_view
from kexbench.api.run_models import (
    HostMoveView,
    HostView,
    RunDetail,
    RunFacts,
    RunPage,
    RunSummary,
    SentinelView,
    SiblingView,
    StealView,
)
from kexbench.domain.hosts import IDLE_SIBLING, LITTLE_STEAL, HostFacts, kind_of, meant_by
from kexbench.domain.kits import KitManifest
from kexbench.domain.library_commits import version_text
from kexbench.domain.moments import date_and_time
from kexbench.domain.plans import SENTINEL
from kexbench.domain.runs import JobAttempt, Purpose, Run, RunEvent, RunState
from kexbench.domain.samples import OTHERS_MEASURED_SINCE, Metric
from kexbench.domain.upgrades import SIDES_OF
from kexbench.planning.rules import relevant_of
from kexbench.queue.controls import controls_of
from kexbench.store.evidence import Evidence
from kexbench.store.port import (
    AppearanceRow,
    HostKindRow,
    MeanLoad,
    RunKey,
    RunProgress,
    RunStore,
    SampleStore,
    ScreeningStore,
    Selection,
    Store,
)

PROBLEMS: dict[int | str, dict[str, Any]] = {
    404: {"model": Problem, "description": "Not found"},
    422: {"model": Problem, "description": "Invalid request"},
    503: {"model": Problem, "description": "The store is not available"},
}
OneMetric = Annotated[Metric, Query(description="the metric, per handshake")]
MetricOfRun = Annotated[
    Metric | None, Query(description="the metric, per handshake; default: the one that the run's instrument decides by")
]
OnePool = Annotated[str | None, Query(description="default: the pool of the newest samples", max_length=200)]
OneCpuModel = Annotated[str | None, Query(description="default: that of the newest samples", max_length=200)]
Libraries = Annotated[list[str] | None, Query(description="only these libraries", alias="library", max_length=50)]
CaseId = Annotated[str, Query(min_length=1, max_length=200, examples=["tlsv1.2_ecdhe-rsa_rsa-2048_p-256_aes-128-gcm"])]


MOST_FIRST_LOOKS = 5
"""Older ones are found on the page of runs."""
MOST_RUNS = 100
"""Runs to choose from. Older ones are found on the page of runs."""


Before = Annotated[
    AwareDatetime | None, BeforeValidator(date_and_time), Query(description="only entries before this time")
]


router = api_router(route_class=KeptRoute, tags=["reading"], responses=PROBLEMS)


@router.get("/filters", operation_id="filters")
def filters(store: TheStore) -> Filters:
    """The values to filter by. Host kinds with the newest samples come first."""
    return Filters(
        host_kinds=[HostKind(**vars(kind)) for kind in store.host_kinds()],
        libraries=sorted(store.libraries()),
        metrics=metric_views(store.metrics() | store.withdrawn_metrics()),
        aside=store.kept_value(("runs aside",), Evidence.of_all, lambda: _runs_aside(store)),
    )


def _runs_aside(store: Store) -> RunsAside:
    evidence = store.evidence()
    measured_at = evidence.measured_at(evidence.asides)
    first_looks = sorted(
        evidence.first_looks & measured_at.keys(), key=lambda run_id: measured_at[run_id], reverse=True
    )
    names = {run.run_id: run.plan.spec_name for run in store.runs_named(first_looks[:MOST_FIRST_LOOKS])}
    return RunsAside(
        first_looks=len(first_looks),
        newest=[
            FirstLookView(run_id=run_id, spec_name=names[run_id], measured_at=measured_at[run_id])
            for run_id in first_looks[:MOST_FIRST_LOOKS]
            if run_id in names  # unreadable runs have no name
        ],
        shows_first_looks=bool(first_looks) and evidence.shows_first_looks,
        others=len(measured_at) - len(first_looks),
    )


@router.get("/subjects", operation_id="subjects")
def subjects(store: TheSampleStore) -> list[SubjectView]:
    """All subjects with samples, by library and version, one entry for each kit."""
    return [subject_view(subject) for subject in store.subjects()]


@router.get("/matrix", operation_id="matrix")
def matrix(
    store: TheStore,
    metric: OneMetric = Metric.CPU_NS,
    pool: OnePool = None,
    cpu_model: OneCpuModel = None,
    library: Libraries = None,
    spec: Annotated[
        str | None, Query(description="only the cases and versions of this spec's newest run", max_length=200)
    ] = None,
) -> Matrix:
    """Case x version for one host kind, each cell from its newest run. Changes are tested as in the report of their
    upgrade, whatever the filters."""
    kind = host_kind(store, pool, cpu_model)
    if kind is None:
        return Matrix(host_kind=None, metric=metric, cases=[], subjects=[], cells=[])
    selection = Selection(metric, kind.pool, kind.cpu_model, tuple(library or ()))
    shown = shown_cells(store, selection)
    if spec is not None:
        shown = _of_spec(store, spec, shown)
    return Matrix(
        host_kind=kind,
        metric=metric,
        cases=[CaseView.of(case) for case in shown.cases],
        subjects=list(shown.subjects),
        cells=list(shown.cells),
    )


def _of_spec(store: ScreeningStore, spec: str, shown: ShownCells) -> ShownCells:
    """The cells of what a spec measured last. Raises a 404 problem if the spec has no run."""
    newest = next((run for run in store.runs_of_spec(spec, 10) if run.is_started), None)
    if newest is None:
        raise ProblemError(
            HTTPStatus.NOT_FOUND, f"spec {spec} has no run that began", "the overview lists the measured specs"
        )
    case_ids = {case.case_id for case in newest.plan.cases}
    versions = {(kit.library, kit.version, kit.source) for kit in measured_kits(newest)}
    subjects = [view for view in shown.subjects if (view.library, view.version, view.source) in versions]
    names = {view.subject for view in subjects}
    cells = [cell for cell in shown.cells if cell.case_id in case_ids and cell.subject in names]
    measured, present = {cell.case_id for cell in cells}, {cell.subject for cell in cells}
    return ShownCells(
        [case for case in shown.cases if case.case_id in measured],
        [view for view in subjects if view.subject in present],
        cells,
    )


@router.get("/runs", operation_id="runs")
def runs(
    store: TheStore,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    before: Before = None,
) -> RunPage:
    """Runs, newest first."""
    page = store.run_keys(limit, before)
    facts = store.kept(page, lambda _evidence, _key: None, lambda keys: _facts_of_runs(store, keys))
    readable = [each for key in page if (each := facts[key])]
    progress = store.progress([each.run_id for each in readable])
    return RunPage(
        runs=[_summary(each, progress.get(each.run_id)) for each in readable],
        next_before=page[-1].created_at if len(page) >= limit else None,
    )


def _facts_of_runs(store: RunStore, keys: Collection[RunKey]) -> dict[RunKey, RunFacts | None]:
    """None for runs that cannot be read: they must not hide the others."""
    runs = {run.run_id: run for run in store.runs_named([key.run_id for key in keys])}
    return {key: facts_of(read) if (read := runs.get(key.run_id)) else None for key in keys}


@router.get("/runs/{run_id}", operation_id="run")
def run(
    store: TheStore,
    has_queue: HasQueue,
    run_id: str,
    metric: MetricOfRun = None,
    pool: OnePool = None,
    cpu_model: OneCpuModel = None,
) -> RunDetail:
    """One run: its facts, state and all its cells for one metric on one host kind, by default the one measured last."""
    stored = known_run(store, run_id)
    shown = metric or SIDES_OF[stored.plan.measure.instrument]["both"]
    progress, attempts = store.progress([run_id]).get(run_id), store.attempts(run_id)
    kinds = [HostKind(**vars(kind)) for kind in store.host_kinds(run_id)]
    kind = _fitting(kinds, pool, cpu_model)
    chosen_pool, chosen_cpu = (kind.pool, kind.cpu_model) if kind else (pool, cpu_model)
    selection = Selection(shown, chosen_pool, chosen_cpu, run_id=run_id)
    shown_here = shown_cells(store, selection, relevant_of(stored.spec_text))
    load, timers = store.kept_value(
        ("conditions", run_id),
        lambda evidence: evidence.of_run(run_id),
        lambda: (store.mean_load(run_id), store.timers(run_id)),
    )
    reference, connection = store.kept_value(
        ("reference and connection", run_id, kind),
        lambda evidence: evidence.of_run(run_id),
        lambda: (reference_view(store, stored, kind), connection_view(store, stored, kind)),
    )
    return RunDetail(
        summary=summary(stored, progress),
        events=store.events(run_id),
        controls=controls_of(stored, progress) if has_queue and progress else [],
        spec_text=stored.spec_text,
        measure=stored.plan.measure,
        hosts=_hosts(stored, attempts),
        mixed_pools=_mixed_pools(stored, attempts),
        host_kind=kind,
        host_kinds=kinds,
        cases=[CaseView.of(case) for case in stored.plan.cases],
        skipped=list(stored.plan.skipped),
        subjects=list(shown_here.subjects),
        kits=stored.kits,
        components={reference: kit.components for reference, kit in stored.kits.items()},
        metric=shown,
        cells=list(shown_here.cells),
        sentinel=sentinel_view(store, stored, kind),
        environment=_environment(store, stored, attempts, kind),
        steal=_steal(load),
        sibling=_sibling(load),
        timers=timers,
        reference=reference,
        connection=connection,
        discarded_batches=progress.discarded_batches if progress else 0,
        preempted_batches=progress.preempted_batches if progress else 0,
        others_measured=stored.plan.harness_version >= OTHERS_MEASURED_SINCE,
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
    return environment_changes(store, run, attempts, HostKindRow(**dict(kind)))


def _steal(load: MeanLoad) -> StealView | None:
    share = load.steal_share
    return None if share is None else StealView(share=share, disturbs=share > LITTLE_STEAL)


def _sibling(load: MeanLoad) -> SiblingView | None:
    share = load.sibling_busy_share
    return None if share is None else SiblingView(busy_share=share, disturbs=share > IDLE_SIBLING)


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
    host_move = moved_since(store, run, kind.pool, kind.cpu_model) if kind else None
    move = None
    if host_move:
        move = HostMoveView(since_run=host_move.since_run, since=host_move.since, **vars(host_move.move))
    return SentinelView(library=kit.library, version=kit.version, kit_id=kit.kit_id, move=move)


def known_run(store: RunStore, run_id: str) -> Run:
    """Raises a 404 problem."""
    run = store.run(run_id)
    if run is None:
        raise ProblemError(HTTPStatus.NOT_FOUND, f"there is no run {run_id}", "kexbench runs list lists the runs")
    return run


def newest_event(run: Run | RunFacts, progress: RunProgress | None) -> RunEvent:
    """A run without events was just announced."""
    return progress.event if progress else RunEvent(run_id=run.run_id, at=run.created_at, state=RunState.RUNNING)


def summary(run: Run, progress: RunProgress | None) -> RunSummary:
    return _summary(facts_of(run), progress)


def _summary(facts: RunFacts, progress: RunProgress | None) -> RunSummary:
    event = newest_event(facts, progress)
    return RunSummary(
        **vars(facts),
        state=event.state,
        state_at=event.at,
        detail=event.detail,
        invocations_stored=progress.invocations_stored if progress else 0,
    )


def facts_of(run: Run) -> RunFacts:
    return RunFacts(
        run_id=run.run_id,
        plan_id=run.plan.plan_id,
        spec_name=run.plan.spec_name,
        description=run.plan.description,
        created_at=run.created_at,
        trigger=run.trigger,
        cpu_model=kind_of(run.host) if run.host else None,
        pools=list(run.plan.pools),
        subjects=[f"{kit.library} {version_text(kit.version, kit.commit)}" for kit in measured_kits(run)]
        or [subject.reference for subject in run.plan.subjects],
        commit=run.commit,
        spec_path=run.spec_path,
        cases=len(run.plan.cases),
        invocations_planned=run.plan.invocations,
        first_look=run.purpose is Purpose.FIRST_LOOK,
    )


def measured_kits(run: Run) -> list[KitManifest]:
    """The kits of the plan's subjects, without sentinel and peers; none before the run is started."""
    return [run.kits[subject.reference] for subject in run.plan.subjects] if run.is_started else []


def run_choices(rows: Iterable[AppearanceRow]) -> list[RunChoice]:
    """The runs of some appearances, the last ones first."""
    measured_at: dict[str, datetime] = {}
    for row in rows:
        measured_at[row.run_id] = max(row.measured_at, measured_at.get(row.run_id, row.measured_at))
    newest = sorted(measured_at.items(), key=lambda item: (item[1], item[0]), reverse=True)
    return [RunChoice(run_id=run_id, measured_at=at) for run_id, at in newest[:MOST_RUNS]]


def host_kind(store: SampleStore, pool: str | None, cpu_model: str | None) -> HostKind | None:
    """The first host kind that fits. If none does, the requested one, which has no samples."""
    if kind := _fitting([HostKind(**vars(kind)) for kind in store.host_kinds()], pool, cpu_model):
        return kind
    return HostKind(pool=pool, cpu_model=cpu_model) if pool and cpu_model else None


def _fitting(kinds: list[HostKind], pool: str | None, cpu_model: str | None) -> HostKind | None:
    """The first host kind that fits."""
    fitting = [kind for kind in kinds if pool in (None, kind.pool)]
    if cpu_model is not None:
        cpu_models = meant_by(cpu_model, [kind.cpu_model for kind in fitting])
        fitting = [kind for kind in fitting if kind.cpu_model in cpu_models]
    return fitting[0] if fitting else None
