"""What to do next about a run: a pure function from the run and its observed state to actions, in order."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import groupby

from kexbench.domain.plans import Job
from kexbench.domain.runs import Run, RunEvent, RunReason, RunState
from kexbench.execution.argo import names, words
from kexbench.execution.argo.cluster import Phase, PodView, TaskView, WorkflowView
from kexbench.execution.argo.workflows import UNBUILDABLE, WantedKit, chunks_of


@dataclass(frozen=True)
class RunView:
    """A run and its events since it was last queued. Its plan is read once its jobs are submitted."""

    run_id: str
    pools: tuple[str, ...]
    invocations: int
    """How many it has in all."""
    series: int
    """Number of the submission, from 1; each resume starts another."""
    events: tuple[RunEvent, ...]
    read: Run | None = None

    @classmethod
    def unread(cls, run_id: str, pools: Sequence[str], invocations: int, events: Sequence[RunEvent]) -> "RunView":
        """`events` are all events of the run, oldest first; a `queued` event starts each submission. Raises ValueError
        for a run that was never queued: the machine that began it measures it."""
        begun = [index for index, event in enumerate(events) if event.state is RunState.QUEUED]
        if not begun:
            raise ValueError(f"run {run_id} was never queued: the machine that began it measures it")
        return cls(run_id, tuple(pools), invocations, len(begun), tuple(events[begun[-1] :]))

    @classmethod
    def of(cls, run: Run, events: Sequence[RunEvent]) -> "RunView":
        return cls.unread(run.run_id, run.plan.pools, run.plan.invocations, events).with_run(run)

    def with_run(self, run: Run) -> "RunView":
        return replace(self, read=run)

    @property
    def run(self) -> Run:
        assert self.read is not None, f"run {self.run_id} was not read"
        return self.read

    @property
    def newest(self) -> RunEvent:
        return self.events[-1]

    @property
    def state(self) -> RunState:
        """The newest event's state, except for an event that crossed a cancellation."""
        cancelled = self.newest.state.is_open and self.has_been(RunState.CANCELLING)
        return RunState.CANCELLING if cancelled else self.newest.state

    @property
    def waits(self) -> bool:
        """Whether none of its jobs is submitted yet."""
        return self.state in (RunState.QUEUED, RunState.BUILDING)

    def after(self, event: RunEvent) -> "RunView":
        """The run once this event is recorded too."""
        return replace(self, events=(*self.events, event))

    def has_been(self, state: RunState) -> bool:
        return any(event.state is state for event in self.events)

    def has_had(self, reason: RunReason) -> bool:
        return any(event.reason is reason for event in self.events)


@dataclass(frozen=True)
class Seen:
    """The observed state of one submission of a run. Workflows are read before kits and stored invocations, so that
    the end of a pod is never seen without its results."""

    kits: Mapping[WantedKit, str | None]
    """Every kit that the run needs, with its id, or None if it is missing. Only while the run waits for kits."""
    workflows: tuple[WorkflowView, ...]
    pending: tuple[PodView, ...]
    nodes: Mapping[str, tuple[str, ...]]
    """Ready nodes of each existing pool of the plan."""
    busy: frozenset[str]
    """Nodes with a pod of kexbench, of any run."""
    stored: Mapping[str, int]
    """How many invocations of each job are stored."""
    left_out: Mapping[str, int] = field(default_factory=dict)
    """How many of each job nobody measures, since all their subjects are hopeless. Only once its workflows ended."""
    waits: bool = False
    """Whether runs before it use the nodes that this one needs."""
    superseded_by: str | None = None
    """The newer run that supersedes this one."""
    disrupted: tuple[PodView, ...] = ()
    """Pods of the submission that Kubernetes is stopping."""
    unlabelled: frozenset[str] = frozenset()
    """Ready nodes that run its tasks, but are in no pool of the plan: they lost the labels of theirs."""


@dataclass(frozen=True)
class BuildKits:
    kits: tuple[WantedKit, ...]


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
    """Something that holds up a run. The keys identify the same trouble over time."""

    keys: tuple[str, ...]
    text: str


Action = BuildKits | StartRun | SubmitJobs | Stop | Record


@dataclass(frozen=True)
class _Situation:
    view: RunView
    seen: Seen
    now: datetime
    pending_after_s: float

    @property
    def incomplete(self) -> tuple[Job, ...]:
        """Jobs that lack invocations."""
        stored, left_out = self.seen.stored, self.seen.left_out
        done = {job_id: stored.get(job_id, 0) + left_out.get(job_id, 0) for job_id in {*stored, *left_out}}
        return tuple(job for job in self.view.run.plan.jobs if done.get(job.job_id, 0) < job.count)

    @property
    def progress(self) -> tuple[int, int]:
        """The number of stored invocations, and of all."""
        return sum(self.seen.stored.values()), self.view.invocations

    @property
    def open(self) -> tuple[WorkflowView, ...]:
        """Workflows that have not ended."""
        return tuple(workflow for workflow in self.seen.workflows if not workflow.phase.has_ended)

    @property
    def removed_pools(self) -> tuple[str, ...]:
        """Pools of the plan that the configuration no longer has."""
        return tuple(pool for pool in self.view.pools if pool not in self.seen.nodes)

    def is_long_ago(self, moment: datetime) -> bool:
        return (self.now - moment).total_seconds() >= self.pending_after_s


def decide(view: RunView, seen: Seen, now: datetime, pending_after_s: float) -> tuple[Action, ...]:
    """The next actions; empty if there is nothing to do but wait. Repeating them does no harm."""
    rules: dict[RunState, Callable[[_Situation], tuple[Action, ...]]] = {
        RunState.QUEUED: _waiting,
        RunState.BUILDING: _waiting,
        RunState.RUNNING: _running,
        RunState.CANCELLING: _cancelling,
    }
    rule = rules.get(view.state)
    if rule is None:
        return ()
    situation = _Situation(view, seen, now, pending_after_s)
    return (*_losses(situation), *rule(situation))


def _losses(situation: _Situation) -> Iterator[Record]:
    """Reports once each pod that was lost and replaced, even if no dispatcher ran at the time. A task that failed in
    the end is explained by the end of the run."""
    view = situation.view
    reported = {key for event in view.events for key in event.about}
    retried = [task for workflow in situation.seen.workflows for task in workflow.tasks if task.retries]
    failed = _failed(retried)
    if lost := [task for task in retried if task not in failed and _loss(task) not in reported]:
        # The dispatcher that began to build may have been killed. A `queued` event would start another submission.
        state = RunState.BUILDING if view.state is RunState.QUEUED else view.state
        yield Record(state, words.tried_again(lost), RunReason.TROUBLED, tuple(map(_loss, lost)))


def _loss(task: TaskView) -> str:
    return f"lost {task.of}:{task.retries}"


def _waiting(situation: _Situation) -> tuple[Action, ...]:
    view, seen = situation.view, situation.seen
    if seen.superseded_by:
        newer = seen.superseded_by
        return (Record(RunState.CANCELLING, words.superseded(newer), RunReason.SUPERSEDED, (newer,)),)
    if fault := _without_pools(situation):
        return fault
    if missing := tuple(sorted(kit for kit, kit_id in seen.kits.items() if kit_id is None)):
        return _without_kits(situation, missing)
    if seen.waits:
        # Which run has the nodes changes with each run that ends; the queue shows it, and no waiting run has news.
        return _note(view, Record(RunState.BUILDING, words.WAITS_ITS_TURN, RunReason.WAITS_FOR_RUN))
    return (StartRun(),)


def _without_kits(situation: _Situation, missing: tuple[WantedKit, ...]) -> tuple[Action, ...]:
    view, seen = situation.view, situation.seen
    name = names.kits_workflow_name(view.run_id, view.series)
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
    return _watching(situation, [], builds)


def _running(situation: _Situation) -> tuple[Action, ...]:
    view, incomplete = situation.view, situation.incomplete
    if not view.has_had(RunReason.SUBMITTED):
        if not incomplete:
            return (Record(RunState.FINISHED, ""),)
        submitted = Record(RunState.RUNNING, words.submitted(incomplete), RunReason.SUBMITTED)
        return _without_pools(situation) or (SubmitJobs(incomplete), submitted)
    gone = _gone(situation)
    if situation.open:
        lost = [_Trouble((f"gone {' '.join(job.job_id for job in gone)}",), words.lost(gone))] if gone else []
        return _watching(situation, lost, Record(RunState.RUNNING, words.GOES_ON, RunReason.GOES_ON))
    tasks = {task.of: task for workflow in situation.seen.workflows for task in workflow.tasks}
    if not incomplete:
        return (Record(RunState.FINISHED, words.finished(_failed(tasks.values()))),)
    failed = _failed(tasks[job.job_id] for job in incomplete if job.job_id in tasks)
    explained = {*(job.job_id for job in gone), *(task.of for task in failed)}
    silent = [job for job in incomplete if job.job_id not in explained]
    detail = words.unfinished(failed, gone, silent, *situation.progress)
    if not (failed or gone):
        return (Record(RunState.INCOMPLETE, detail, RunReason.OUT_OF_TIME),)
    return (Record(RunState.FAILED, detail, RunReason.JOBS_FAILED),)


def _cancelling(situation: _Situation) -> tuple[Action, ...]:
    # A stopping workflow that Argo has not processed has no pods and gets none.
    active = [workflow for workflow in situation.open if not (workflow.stopping and workflow.phase is Phase.UNSEEN)]
    if active:
        return _stops(active)
    return (Record(RunState.CANCELLED, words.cancelled(*situation.progress)),)


def _without_pools(situation: _Situation) -> tuple[Action, ...]:
    """Ends a run if the cluster no longer has its pools."""
    removed = situation.removed_pools
    if not removed:
        return ()
    ended = Record(RunState.FAILED, words.unknown_pools(removed), RunReason.NO_POOL, removed)
    return (*_stops(situation.open), ended)


def _watching(situation: _Situation, troubles: list[_Trouble], quiet: Record) -> tuple[Action, ...]:
    """The actions while workflows are open: reports trouble, and gives up if it lasts."""
    view = situation.view
    waiting = [pod for pod in situation.seen.pending if not _waits_for_others(pod, situation.seen)]
    waits = list(_waits(situation, waiting))
    tasks = [task for workflow in situation.open for task in workflow.tasks]
    runs = any(task.phase is Phase.RUNNING for task in tasks)
    goes_on = runs or len(waiting) < len(situation.seen.pending)
    if waits and not goes_on and _has_lasted(situation, waiting, waits):
        detail = words.given_up([wait.text for wait in waits], situation.pending_after_s, *situation.progress)
        ended = Record(RunState.FAILED, detail, RunReason.GIVEN_UP, _keys(waits))
        return (*_stops(situation.open), ended)
    if current := [*troubles, *waits, *_other_troubles(situation)]:
        detail = "; ".join(trouble.text for trouble in current)
        return _note(view, Record(quiet.state, detail, RunReason.TROUBLED, _keys(current)))
    # After trouble, the next event follows when something runs and no lost pod is missing; without trouble, only builds
    # have news.
    is_missing = any(task.retries and task.phase in (Phase.UNSEEN, Phase.PENDING) for task in tasks)
    has_news = quiet.state is RunState.BUILDING if _is_quiet(view.newest) else goes_on and not is_missing
    return _note(view, quiet) if has_news else ()


def _keys(troubles: Iterable[_Trouble]) -> tuple[str, ...]:
    return tuple(key for trouble in troubles for key in trouble.keys)


def _is_quiet(event: RunEvent | Record) -> bool:
    """Whether it reports no trouble."""
    return event.reason is not RunReason.TROUBLED


def _has_lasted(situation: _Situation, waiting: Sequence[PodView], waits: Sequence[_Trouble]) -> bool:
    """Whether pods have waited too long for the current reasons. A pod that waited for its position has not."""
    since: datetime | None = None
    for event in situation.view.events:
        if _is_quiet(event):
            since = None
        elif since is None and not set(_keys(waits)).isdisjoint(event.about):
            since = event.at
    return since is not None and situation.is_long_ago(max(since, *(pod.created_at for pod in waiting)))


def _waits(situation: _Situation, waiting: Sequence[PodView]) -> Iterator[_Trouble]:
    """The reasons why pods wait, except for pods that are just starting."""
    news = [pod for pod in waiting if pod.reason or situation.is_long_ago(pod.created_at)]
    by_pool = sorted(news, key=lambda pod: (pod.labels.get(names.POOL, ""), pod.reason, pod.name))
    for pool, group in groupby(by_pool, key=lambda pod: pod.labels.get(names.POOL, "")):
        if pool in situation.removed_pools:
            yield _Trouble((f"no pool {pool}",), words.unknown_pools([pool]))
            continue
        if not situation.seen.nodes.get(pool):
            yield _Trouble((f"no node {pool}",), words.no_node(pool))
            continue
        for reason, alike in groupby(group, key=lambda pod: pod.reason):
            pods = list(alike)
            yield _Trouble((f"waits {pool} {reason} {len(pods)} {pods[0].message}",), words.waits(pods, pool))


def _other_troubles(situation: _Situation) -> Iterator[_Trouble]:
    for workflow in situation.open:
        if workflow.phase is Phase.UNSEEN and situation.is_long_ago(workflow.created_at):
            yield _Trouble((f"unseen {workflow.name}",), words.unseen(workflow))
    if pods := situation.seen.disrupted:
        yield _Trouble((f"disrupted {' '.join(pod.name for pod in pods)}",), words.disrupted(pods))
    tasks = [task for workflow in situation.open for task in workflow.tasks]
    running = [task for task in tasks if task.phase is Phase.RUNNING and task.node]
    jobs = situation.view.read.plan.jobs if situation.view.read else ()  # otherwise the tasks build kits
    pools = {job.job_id: job.pool for job in jobs}
    removed = [task for task in running if pools.get(task.of) in situation.removed_pools]
    if removed:
        gone = sorted({pools[task.of] for task in removed})
        yield _Trouble((f"removed {' '.join(gone)}",), words.unknown_pools(gone, [task.of for task in removed]))
    ready = {node for nodes in situation.seen.nodes.values() for node in nodes}
    stranded = [task for task in running if task.node not in ready and task not in removed]
    unlabelled = situation.seen.unlabelled
    for key, tasks, sentence in (
        ("unlabelled", [task for task in stranded if task.node in unlabelled], words.nodes_without_labels),
        ("away", [task for task in stranded if task.node not in unlabelled], words.nodes_away),
    ):
        if nodes := sorted({task.node for task in tasks}):
            yield _Trouble((f"{key} {' '.join(nodes)}",), sentence(nodes, [task.of for task in tasks]))


def _gone(situation: _Situation) -> list[Job]:
    """Jobs that lack invocations and whose workflow was deleted."""
    view, existing = situation.view, {workflow.name for workflow in situation.seen.workflows}
    homes = {
        job.job_id: names.job_workflow_name(view.run_id, view.series, number)
        for number, (_, jobs) in enumerate(chunks_of(view.run.plan))
        for job in jobs
    }
    return [job for job in situation.incomplete if homes[job.job_id] not in existing]


def _failed(tasks: Iterable[TaskView]) -> list[TaskView]:
    return [task for task in tasks if task.phase in (Phase.FAILED, Phase.ERROR)]


def _stops(workflows: Sequence[WorkflowView]) -> tuple[Action, ...]:
    return tuple(Stop(workflow.name) for workflow in workflows if not workflow.stopping)


def _note(view: RunView, record: Record) -> tuple[Action, ...]:
    """An event, unless it was reported since the last trouble-free event: two reasons of one trouble may alternate."""
    since = max((at for at, event in enumerate(view.events) if _is_quiet(event)), default=-1)
    recent = view.events[-1:] if _is_quiet(record) else view.events[since + 1 :]
    content = (record.state, record.reason, record.about)
    return () if any((event.state, event.reason, event.about) == content for event in recent) else (record,)


def _waits_for_others(pod: PodView, seen: Seen) -> bool:
    """Whether another pod of kexbench is on a node that this pod could use. The scheduler's message does not show it,
    because it gives only the first reason against a node, usually that the CPUs are taken."""
    pool = pod.labels.get(names.POOL, "")
    return pod.reason == "Unschedulable" and not seen.busy.isdisjoint(seen.nodes.get(pool, ()))
