"""Dry runs: the plan, time and resolution of a spec's run, without running it."""

from datetime import UTC, datetime
from itertools import takewhile

from kexbench.analysis.estimates import MIN_COMPARED_INVOCATIONS
from kexbench.answers.meaning import host_kind
from kexbench.answers.mixed_pools import mixed_pool
from kexbench.answers.qualifications import qualified
from kexbench.answers.queued import QueueEntry, queue
from kexbench.api.access import ADMITTED
from kexbench.api.commits import committed_run, planned_or_faults
from kexbench.api.dependencies import TheQueueing, TheStore
from kexbench.api.gate import CountedRoute, api_router
from kexbench.api.run_models import DryRunRequest, DryRunView
from kexbench.api.uploading import router as uploads
from kexbench.domain.commits import DryRun
from kexbench.domain.libraries import MADE_UP
from kexbench.domain.plans import Plan
from kexbench.domain.runs import RunState, Trigger
from kexbench.planning.estimate import job_seconds
from kexbench.planning.queue import QueuedRun, in_order
from kexbench.queue.runs import waiting_states
from kexbench.queue.supplies import LocalSupplies, Supplies
from kexbench.store.port import SampleStore, Store

router = api_router(route_class=CountedRoute, tags=["control"], responses=uploads.responses)


@router.post("/dry-runs", operation_id="dry_run", dependencies=ADMITTED)
def dry_run(store: TheStore, supplies: TheQueueing, request: DryRunRequest) -> DryRunView:
    """Plan a spec and describe its run. Nothing is stored, built or measured. The answer lists the faults of a spec."""
    return dry_run_of(store, supplies, request)


def dry_run_of(store: Store, supplies: Supplies | LocalSupplies, request: DryRunRequest) -> DryRunView:
    run_id = committed_run(request.commit, request.spec_file) if request.commit else None
    if run_id and store.run(run_id):
        return DryRunView(run_id=run_id)
    plan = planned_or_faults(supplies, request.spec_text, request.spec_file, request.catalogue_text, request.subjects)
    if isinstance(plan, tuple):
        return DryRunView(faults=list(plan))
    trigger = Trigger.COMMIT if request.commit else Trigger.API
    ahead = _ahead(store, plan, trigger, supplies)
    return DryRunView(
        plan=plan if request.with_plan else None,
        dry_run=DryRun(
            cases=len(plan.cases),
            jobs=len(plan.jobs),
            minutes=_minutes(plan),
            runs_ahead=len(ahead),
            minutes_ahead=_rounded(sum(entry.left_s for entry in ahead)),
            detects=_resolution(store, plan),
            mixed_pools=tuple(pool for pool in plan.pools if mixed_pool(pool, store.nodes(pool).items())),
        ),
    )


def _minutes(plan: Plan) -> dict[str, float]:
    seconds = job_seconds(plan)
    return {pool: _rounded(sum(seconds[job.job_id] for job in plan.jobs if job.pool == pool)) for pool in plan.pools}


def _rounded(seconds: float) -> float:
    return round(seconds / 60, 2)


def _ahead(store: Store, plan: Plan, trigger: Trigger, supplies: Supplies | LocalSupplies) -> list[QueueEntry]:
    """The runs that a run of this plan would wait for in one of its pools if it were queued now."""
    waits = waiting_states(supplies)
    entries = [entry for entry in queue(store, supplies).runs if not entry.superseded_by]
    waiting = {entry.run_id: _as_waiting(entry) for entry in entries if entry.state in waits}
    newcomer = QueuedRun("", trigger, plan.spec_name, datetime.now(UTC), RunState.QUEUED)
    order = in_order([*waiting.values(), newcomer], store.last_begun())
    earlier = {run.run_id for run in takewhile(lambda run: run is not newcomer, order)}
    return [
        entry
        for entry in entries
        if (entry.run_id in earlier or entry.run_id not in waiting) and not set(plan.pools).isdisjoint(entry.pools)
    ]


def _as_waiting(entry: QueueEntry) -> QueuedRun:
    return QueuedRun(entry.run_id, entry.trigger, entry.spec_name, entry.queued_at, RunState.QUEUED)


def _resolution(store: SampleStore, plan: Plan) -> float | None:
    """The smallest detectable change of the noisiest case, over all pools. None without an A/A run of each library in
    each pool."""
    libraries = {subject.library for subject in plan.subjects}
    if plan.measure.invocations < MIN_COMPARED_INVOCATIONS or libraries & MADE_UP:
        return None
    changes = []
    for pool in plan.pools:
        kind = host_kind(store, pool, None)
        rows = qualified(store, kind, plan.measure.invocations, libraries) if kind else []
        if {row.library for row in rows} != libraries:
            return None
        changes += [row.smallest_detectable_change for row in rows]
    return max(changes)
