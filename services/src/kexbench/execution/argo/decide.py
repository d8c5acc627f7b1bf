"""What to do next about a run: pure, from the run and what is seen of it to actions, in the order they are done."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from kexbench.domain.plans import Job
from kexbench.domain.runs import Run, RunEvent, RunState
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

    def has_been(self, state: RunState, beginning: str = "") -> bool:
        """Whether this series came to a state, with words that begin like this."""
        return any(event.state is state and event.detail.startswith(beginning) for event in self.events)


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
    unbuilt: tuple[str, ...] = ()
    """References of kits whose sources do not build."""


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
        return (Record(RunState.CANCELLING, words.superseded(seen.superseded_by)),)
    if fault := _without_pools(found):
        return fault
    if missing := tuple(sorted(kit for kit, kit_id in seen.kits.items() if kit_id is None)):
        return _without_kits(found, missing)
    return _note(view, RunState.BUILDING, words.waits_for(seen.waits_for)) if seen.waits_for else (StartRun(),)


def _without_kits(found: _Situation, missing: tuple[WantedKit, ...]) -> tuple[Action, ...]:
    view, seen = found.view, found.seen
    name = names.kits_workflow_name(view.run.run_id, view.series)
    workflow = next((workflow for workflow in seen.workflows if workflow.name == name), None)
    if workflow is None:
        if any(event.state is RunState.BUILDING and not words.is_turn(event.detail) for event in view.events):
            return (Record(RunState.FAILED, words.kits_gone(missing, name)),)
        return (BuildKits(missing), Record(RunState.BUILDING, words.building(missing)))
    if workflow.phase.has_ended:
        unbuilt = [task.of for task in _failed(workflow.tasks) if re.search(UNBUILDABLE, task.message)]
        return (Record(RunState.FAILED, words.kits_unbuilt(missing, workflow), tuple(sorted(unbuilt))),)
    return _watching(found, RunState.BUILDING, [], words.building(missing))


def _running(found: _Situation) -> tuple[Action, ...]:
    view, left = found.view, found.left
    if not view.has_been(RunState.RUNNING, words.SUBMITTED):
        if not left:
            return (Record(RunState.FINISHED, ""),)
        return _without_pools(found) or (SubmitJobs(left), Record(RunState.RUNNING, words.submitted(left)))
    gone = _gone(found)
    if found.open:
        return _watching(found, RunState.RUNNING, [words.lost(gone)] if gone else [], words.GOES_ON)
    tasks = {task.of: task for workflow in found.seen.workflows for task in workflow.tasks}
    if not left:
        return (Record(RunState.FINISHED, words.finished(_failed(tasks.values()))),)
    failed = _failed(tasks[job.job_id] for job in left if job.job_id in tasks)
    told = {*(job.job_id for job in gone), *(task.of for task in failed)}
    silent = [job for job in left if job.job_id not in told]
    return (Record(RunState.FAILED, words.unfinished(failed, gone, silent, *found.progress)),)


def _cancelling(found: _Situation) -> tuple[Action, ...]:
    # One that Argo never looked at has no pods, and gets none any more.
    active = [workflow for workflow in found.open if not (workflow.stopping and workflow.phase is Phase.UNSEEN)]
    if active:
        return _stops(active)
    return (Record(RunState.CANCELLED, words.cancelled(*found.progress)),)


def _without_pools(found: _Situation) -> tuple[Action, ...]:
    """The end of a run whose pools are not those of the cluster any more."""
    unknown = [pool for pool in found.view.run.plan.pools if pool not in found.seen.nodes]
    return (*_stops(found.open), Record(RunState.FAILED, words.unknown_pools(unknown))) if unknown else ()


def _watching(found: _Situation, state: RunState, notes: list[str], quiet: str) -> tuple[Action, ...]:
    """What is done while workflows are open: trouble is told, and given up when it lasts."""
    view = found.view
    waiting = [pod for pod in found.seen.pending if not _waits_its_turn(pod, found.seen)]
    waits = list(_waits(found, waiting))
    runs = any(task.phase is Phase.RUNNING for workflow in found.open for task in workflow.tasks)
    goes_on = runs or len(waiting) < len(found.seen.pending)
    if waits and not goes_on and _has_lasted(found, waiting, waits):
        detail = words.given_up(waits, found.pending_after_s, *found.progress)
        return (*_stops(found.open), Record(RunState.FAILED, detail))
    if told := "; ".join([*notes, *waits, *_other_notes(found)]):
        return _note(view, state, told)
    # After trouble, nothing is said before something runs; without any, only what is built has news.
    was_quiet = words.is_quiet(view.newest.detail)
    return _note(view, state, quiet) if (state is RunState.BUILDING if was_quiet else goes_on) else ()


def _has_lasted(found: _Situation, waiting: Sequence[PodView], waits: Sequence[str]) -> bool:
    """Whether pods have waited for too long, and for what is told now: a pod that was waiting for its turn has not."""
    since: datetime | None = None
    for event in found.view.events:
        if words.is_quiet(event.detail):
            since = None
        elif since is None and any(note in event.detail for note in waits):
            since = event.at
    return since is not None and found.is_long_ago(max(since, *(pod.created_at for pod in waiting)))


def _waits(found: _Situation, waiting: Sequence[PodView]) -> Iterator[str]:
    """What pods wait for, in words that don't change while they do. One that is just being started is no news."""
    news = [pod for pod in waiting if pod.reason or found.is_long_ago(pod.created_at)]
    by_pool = sorted(news, key=lambda pod: (pod.labels.get(names.POOL, ""), pod.reason, pod.name))
    for pool, group in groupby(by_pool, key=lambda pod: pod.labels.get(names.POOL, "")):
        if not found.seen.nodes.get(pool):
            yield words.no_node(pool)
            continue
        for _, alike in groupby(group, key=lambda pod: pod.reason):
            yield words.waits(list(alike), pool)


def _other_notes(found: _Situation) -> Iterator[str]:
    for workflow in found.open:
        if workflow.phase is Phase.UNSEEN and found.is_long_ago(workflow.created_at):
            yield words.unseen(workflow)
    if found.seen.disrupted:
        yield words.disrupted(found.seen.disrupted)
    tasks = [task for workflow in found.open for task in workflow.tasks]
    if retried := [task for task in tasks if task.retries and not task.phase.has_ended]:
        yield words.tried_again(retried)
    ready = {node for nodes in found.seen.nodes.values() for node in nodes}
    stranded = [task for task in tasks if task.phase is Phase.RUNNING and task.node and task.node not in ready]
    if stranded:
        yield words.nodes_away(sorted({task.node for task in stranded}), [task.of for task in stranded])


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


def _note(view: RunView, state: RunState, detail: str) -> tuple[Action, ...]:
    """An event, unless it was told since things last went well: two reasons of one trouble may take turns."""
    since = max((at for at, event in enumerate(view.events) if words.is_quiet(event.detail)), default=-1)
    recent = view.events[-1:] if words.is_quiet(detail) else view.events[since + 1 :]
    told = any((event.state, event.detail) == (state, detail) for event in recent)
    return () if told else (Record(state, detail),)


def _waits_its_turn(pod: PodView, seen: Seen) -> bool:
    """Whether a pod of kexbench is on a node that it could have. What the scheduler says doesn't tell: of several
    reasons against a node it gives the first, which is rather that its CPUs are taken."""
    pool = pod.labels.get(names.POOL, "")
    return pod.reason == "Unschedulable" and not seen.busy.isdisjoint(seen.nodes.get(pool, ()))
