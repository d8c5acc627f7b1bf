"""What to do next about a run: pure, from the run and what is seen of it to actions, in the order they are done."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from kexbench.domain.plans import Job
from kexbench.domain.runs import Run, RunEvent, RunReason, RunState
from kexbench.execution.argo import names, words
from kexbench.execution.argo.cluster import Phase, PodView, TaskView, WorkflowView
from kexbench.execution.argo.workflows import UNBUILDABLE, WantedKit, chunks_of


@dataclass(frozen=True)
class RunView:
    """A run and its events since it was last queued."""

    run: Run
    series: int
    """From 1; each resuming begins another."""
    events: tuple[RunEvent, ...]

    @classmethod
    def of(cls, run: Run, events: Sequence[RunEvent]) -> "RunView":
        """`events` are all of the run, oldest first; one that is `queued` begins each series. Raises ValueError for a
        run that never was: the machine that began it measures it."""
        begun = [index for index, event in enumerate(events) if event.state is RunState.QUEUED]
        if not begun:
            raise ValueError(f"run {run.run_id} was never queued: the machine that began it measures it")
        return cls(run, len(begun), tuple(events[begun[-1] :]))

    @property
    def newest(self) -> RunEvent:
        return self.events[-1]

    @property
    def state(self) -> RunState:
        """The newest event's, but for an event that was on its way while somebody cancelled."""
        cancelled = self.newest.state.is_open and self.has_been(RunState.CANCELLING)
        return RunState.CANCELLING if cancelled else self.newest.state

    def has_been(self, state: RunState) -> bool:
        return any(event.state is state for event in self.events)

    def has_had(self, reason: RunReason) -> bool:
        return any(event.reason is reason for event in self.events)


@dataclass(frozen=True)
class Seen:
    """What is seen of a series of a run. Workflows are looked at before kits and stored invocations: what a pod
    delivered before it ended is then always seen with its end."""

    kits: Mapping[WantedKit, str | None]
    """Every kit that the run takes, with its id or None where there is none yet. Only while the run waits for kits."""
    workflows: tuple[WorkflowView, ...]
    pending: tuple[PodView, ...]
    nodes: Mapping[str, tuple[str, ...]]
    """Ready nodes of each pool of the plan that there is."""
    busy: frozenset[str]
    """Nodes that have a pod of kexbench, of whatever run."""
    stored: Mapping[str, int]
    """How many invocations of each job are stored."""
    waits_for: str | None = None
    """The run that has the nodes this one would need; None where it is this one's turn."""
    superseded_by: str | None = None
    """A newer run that makes this one needless."""
    disrupted: tuple[PodView, ...] = ()
    """Pods of the series that Kubernetes is ending."""


@dataclass(frozen=True)
class BuildKits:
    wanted: tuple[WantedKit, ...]


@dataclass(frozen=True)
class StartRun:
    """The API gives the run its kits and material."""


@dataclass(frozen=True)
class SubmitJobs:
    jobs: tuple[Job, ...]


@dataclass(frozen=True)
class Stop:
    workflow: str


@dataclass(frozen=True)
class Record:
    state: RunState
    detail: str
    reason: RunReason | None = None
    about: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Trouble:
    """Something that holds up a run. The key stays the same for as long as it is the same trouble."""

    key: str
    text: str


Action = BuildKits | StartRun | SubmitJobs | Stop | Record


@dataclass(frozen=True)
class _Situation:
    view: RunView
    seen: Seen
    now: datetime
    pending_after_s: float

    @property
    def left(self) -> tuple[Job, ...]:
        """Jobs that lack invocations."""
        return tuple(job for job in self.view.run.plan.jobs if self.seen.stored.get(job.job_id, 0) < job.count)

    @property
    def progress(self) -> tuple[int, int]:
        """Invocations that are stored, and all."""
        jobs = self.view.run.plan.jobs
        return sum(min(self.seen.stored.get(job.job_id, 0), job.count) for job in jobs), self.view.run.plan.invocations

    @property
    def open(self) -> tuple[WorkflowView, ...]:
        """Workflows that still do something, or will."""
        return tuple(workflow for workflow in self.seen.workflows if not workflow.phase.has_ended)

    def is_long_ago(self, moment: datetime) -> bool:
        return (self.now - moment).total_seconds() >= self.pending_after_s


def decide(view: RunView, seen: Seen, now: datetime, pending_after_s: float) -> tuple[Action, ...]:
    """The next actions; none where there is nothing to do but wait. Doing them twice does no harm."""
    rules: dict[RunState, Callable[[_Situation], tuple[Action, ...]]] = {
        RunState.QUEUED: _waiting,
        RunState.BUILDING: _waiting,
        RunState.RUNNING: _running,
        RunState.CANCELLING: _cancelling,
    }
    rule = rules.get(view.state)
    return rule(_Situation(view, seen, now, pending_after_s)) if rule else ()


def _waiting(found: _Situation) -> tuple[Action, ...]:
    view, seen = found.view, found.seen
    if seen.superseded_by:
        newer = seen.superseded_by
        return (Record(RunState.CANCELLING, words.superseded(newer), RunReason.SUPERSEDED, (newer,)),)
    if fault := _without_pools(found):
        return fault
    if missing := tuple(sorted(kit for kit, kit_id in seen.kits.items() if kit_id is None)):
        return _without_kits(found, missing)
    if first := seen.waits_for:
        return _note(view, Record(RunState.BUILDING, words.waits_for(first), RunReason.WAITS_FOR_RUN, (first,)))
    return (StartRun(),)


def _without_kits(found: _Situation, missing: tuple[WantedKit, ...]) -> tuple[Action, ...]:
    view, seen = found.view, found.seen
    name = names.kits_workflow_name(view.run.run_id, view.series)
    workflow = next((workflow for workflow in seen.workflows if workflow.name == name), None)
    builds = Record(RunState.BUILDING, words.building(missing), RunReason.BUILDS_KITS, tuple(map(str, missing)))
    if workflow is None:
        if view.has_had(RunReason.BUILDS_KITS):
            return (Record(RunState.FAILED, words.kits_gone(missing, name), RunReason.KITS_FAILED),)
        return (BuildKits(missing), builds)
    if workflow.phase.has_ended:
        unbuilt = [task.of for task in _failed(workflow.tasks) if re.search(UNBUILDABLE, task.message)]
        reason = RunReason.UNBUILDABLE if unbuilt else RunReason.KITS_FAILED
        return (Record(RunState.FAILED, words.kits_unbuilt(missing, workflow), reason, tuple(sorted(unbuilt))),)
    return _watching(found, [], builds)


def _running(found: _Situation) -> tuple[Action, ...]:
    view, left = found.view, found.left
    if not view.has_had(RunReason.SUBMITTED):
        if not left:
            return (Record(RunState.FINISHED, ""),)
        submitted = Record(RunState.RUNNING, words.submitted(left), RunReason.SUBMITTED)
        return _without_pools(found) or (SubmitJobs(left), submitted)
    gone = _gone(found)
    if found.open:
        lost = [_Trouble(f"gone {' '.join(job.job_id for job in gone)}", words.lost(gone))] if gone else []
        return _watching(found, lost, Record(RunState.RUNNING, words.GOES_ON, RunReason.GOES_ON))
    tasks = {task.of: task for workflow in found.seen.workflows for task in workflow.tasks}
    if not left:
        return (Record(RunState.FINISHED, words.finished(_failed(tasks.values()))),)
    failed = _failed(tasks[job.job_id] for job in left if job.job_id in tasks)
    told = {*(job.job_id for job in gone), *(task.of for task in failed)}
    silent = [job for job in left if job.job_id not in told]
    detail = words.unfinished(failed, gone, silent, *found.progress)
    return (Record(RunState.FAILED, detail, RunReason.JOBS_FAILED),)


def _cancelling(found: _Situation) -> tuple[Action, ...]:
    # One that Argo never looked at has no pods, and gets none any more.
    active = [workflow for workflow in found.open if not (workflow.stopping and workflow.phase is Phase.UNSEEN)]
    if active:
        return _stops(active)
    return (Record(RunState.CANCELLED, words.cancelled(*found.progress)),)


def _without_pools(found: _Situation) -> tuple[Action, ...]:
    """The end of a run whose pools are not those of the cluster any more."""
    unknown = [pool for pool in found.view.run.plan.pools if pool not in found.seen.nodes]
    if not unknown:
        return ()
    ended = Record(RunState.FAILED, words.unknown_pools(unknown), RunReason.NO_POOL, tuple(unknown))
    return (*_stops(found.open), ended)


def _watching(found: _Situation, troubles: list[_Trouble], quiet: Record) -> tuple[Action, ...]:
    """What is done while workflows are open: trouble is told, and given up when it lasts."""
    view = found.view
    waiting = [pod for pod in found.seen.pending if not _waits_its_turn(pod, found.seen)]
    waits = list(_waits(found, waiting))
    runs = any(task.phase is Phase.RUNNING for workflow in found.open for task in workflow.tasks)
    goes_on = runs or len(waiting) < len(found.seen.pending)
    if waits and not goes_on and _has_lasted(found, waiting, waits):
        detail = words.given_up([wait.text for wait in waits], found.pending_after_s, *found.progress)
        ended = Record(RunState.FAILED, detail, RunReason.GIVEN_UP, tuple(wait.key for wait in waits))
        return (*_stops(found.open), ended)
    if told := [*troubles, *waits, *_other_troubles(found)]:
        detail, keys = "; ".join(one.text for one in told), tuple(one.key for one in told)
        return _note(view, Record(quiet.state, detail, RunReason.TROUBLED, keys))
    # After trouble, nothing is said before something runs; without any, only what is built has news.
    has_news = quiet.state is RunState.BUILDING if _is_quiet(view.newest) else goes_on
    return _note(view, quiet) if has_news else ()


def _is_quiet(said: RunEvent | Record) -> bool:
    """Whether it tells of no trouble."""
    return said.reason is not RunReason.TROUBLED


def _has_lasted(found: _Situation, waiting: Sequence[PodView], waits: Sequence[_Trouble]) -> bool:
    """Whether pods have waited for too long, and for what is told now: a pod that was waiting for its turn has not."""
    since: datetime | None = None
    for event in found.view.events:
        if _is_quiet(event):
            since = None
        elif since is None and any(wait.key in event.about for wait in waits):
            since = event.at
    return since is not None and found.is_long_ago(max(since, *(pod.created_at for pod in waiting)))


def _waits(found: _Situation, waiting: Sequence[PodView]) -> Iterator[_Trouble]:
    """What pods wait for. One that is just being started is no news."""
    news = [pod for pod in waiting if pod.reason or found.is_long_ago(pod.created_at)]
    by_pool = sorted(news, key=lambda pod: (pod.labels.get(names.POOL, ""), pod.reason, pod.name))
    for pool, group in groupby(by_pool, key=lambda pod: pod.labels.get(names.POOL, "")):
        if not found.seen.nodes.get(pool):
            yield _Trouble(f"no node {pool}", words.no_node(pool))
            continue
        for reason, alike in groupby(group, key=lambda pod: pod.reason):
            pods = list(alike)
            yield _Trouble(f"waits {pool} {reason} {len(pods)} {pods[0].message}", words.waits(pods, pool))


def _other_troubles(found: _Situation) -> Iterator[_Trouble]:
    for workflow in found.open:
        if workflow.phase is Phase.UNSEEN and found.is_long_ago(workflow.created_at):
            yield _Trouble(f"unseen {workflow.name}", words.unseen(workflow))
    if pods := found.seen.disrupted:
        yield _Trouble(f"disrupted {' '.join(pod.name for pod in pods)}", words.disrupted(pods))
    tasks = [task for workflow in found.open for task in workflow.tasks]
    if retried := [task for task in tasks if task.retries and not task.phase.has_ended]:
        keys = " ".join(f"{task.of}:{task.retries}" for task in retried)
        yield _Trouble(f"lost {keys}", words.tried_again(retried))
    ready = {node for nodes in found.seen.nodes.values() for node in nodes}
    stranded = [task for task in tasks if task.phase is Phase.RUNNING and task.node and task.node not in ready]
    if stranded:
        nodes = sorted({task.node for task in stranded})
        yield _Trouble(f"away {' '.join(nodes)}", words.nodes_away(nodes, [task.of for task in stranded]))


def _gone(found: _Situation) -> list[Job]:
    """Jobs that lack invocations and whose workflow was deleted."""
    view, there = found.view, {workflow.name for workflow in found.seen.workflows}
    homes = {
        job.job_id: names.job_workflow_name(view.run.run_id, view.series, number)
        for number, (_, jobs) in enumerate(chunks_of(view.run.plan))
        for job in jobs
    }
    return [job for job in found.left if homes[job.job_id] not in there]


def _failed(tasks: Iterable[TaskView]) -> list[TaskView]:
    return [task for task in tasks if task.phase in (Phase.FAILED, Phase.ERROR)]


def _stops(workflows: Sequence[WorkflowView]) -> tuple[Action, ...]:
    return tuple(Stop(workflow.name) for workflow in workflows if not workflow.stopping)


def _note(view: RunView, record: Record) -> tuple[Action, ...]:
    """An event, unless it was told since things last went well: two reasons of one trouble may take turns."""
    since = max((at for at, event in enumerate(view.events) if _is_quiet(event)), default=-1)
    recent = view.events[-1:] if _is_quiet(record) else view.events[since + 1 :]
    said = (record.state, record.reason, record.about)
    return () if any((event.state, event.reason, event.about) == said for event in recent) else (record,)


def _waits_its_turn(pod: PodView, seen: Seen) -> bool:
    """Whether a pod of kexbench is on a node that it could have. What the scheduler says doesn't tell: of several
    reasons against a node it gives the first, which is rather that its CPUs are taken."""
    pool = pod.labels.get(names.POOL, "")
    return pod.reason == "Unschedulable" and not seen.busy.isdisjoint(seen.nodes.get(pool, ()))
