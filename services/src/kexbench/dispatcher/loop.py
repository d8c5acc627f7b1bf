"""The dispatcher: turns runs of the API into workflows on a cluster, and reports their results to the API.

It has no state: every action follows from the API and Kubernetes, so it may restart at any time.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from threading import Event

from kexbench import traces
from kexbench.client import ApiError
from kexbench.dispatcher.control import Control, QueuePosition
from kexbench.dispatcher.health import Health
from kexbench.domain.bisections import WantedLine
from kexbench.domain.numbers import counted
from kexbench.domain.pools import Pool
from kexbench.domain.runs import RunEvent, RunReason, RunState
from kexbench.execution.argo import names, words
from kexbench.execution.argo.cluster import Cluster, ClusterError, Phase, PodView
from kexbench.execution.argo.decide import Action, BuildKits, Record, RunView, Seen, StartRun, Stop, SubmitJobs, decide
from kexbench.execution.argo.pods import JobSettings
from kexbench.execution.argo.schedules import ApplyCron, DeleteCron, decide_crons
from kexbench.execution.argo.turns import Turns, outstanding
from kexbench.execution.argo.workflows import kits_workflow, line_workflow, run_workflows
from kexbench.queue.troubles import Troubles

LEASE = "kexbench-dispatcher"
INTERVAL_S = 5.0
LONGEST_WAIT_S = 60.0
"""Between two attempts while the API or Kubernetes is away."""
EXPECTED = (ClusterError, ApiError)
"""Errors of requests to the API and Kubernetes."""
_log = logging.getLogger(__name__)


class Dispatcher:
    def __init__(
        self,
        control: Control,
        cluster: Cluster,
        pools: tuple[Pool, ...],
        settings: JobSettings,
        identity: str,
        clock: Callable[[], datetime],
        health: Health | None = None,
        troubles: Troubles | None = None,
    ) -> None:
        """`identity` is unique to this process."""
        self._troubles = troubles or Troubles(clock, EXPECTED)
        self._health = health or Health(self._troubles)
        self._open_runs: set[str] = set()
        """The runs that were open in the last round."""
        self._control = self._health.counted(control, "api")
        self._cluster = self._health.counted(cluster, "kubernetes")
        self._pools = {pool.name: pool for pool in pools}
        self._settings = settings
        self._identity = identity
        self._clock = clock

    def run(self, ending: Event) -> None:
        """Poll and act until a signal sets the event. Waits longer each time while the API or Kubernetes is away. Then
        it releases the lease, so that its successor need not wait for the expiry."""
        wait_s = INTERVAL_S
        while not ending.is_set():
            with self._health.timed_round():
                answered = self.once()
            self._health.end_round(answered=answered)
            wait_s = INTERVAL_S if answered else min(2 * wait_s, LONGEST_WAIT_S)
            ending.wait(wait_s)
        try:
            self._cluster.release_lease(LEASE, self._identity)
        except ClusterError as error:
            _log.warning("%s", error)

    def once(self) -> bool:
        """Process every open run and the schedules once, if the lease is ours. Returns whether every request was
        answered. Trouble is logged when it begins and when it ends."""
        with self._troubles.guard("polling"):
            return not self._holds_lease() or self._round()
        return False

    def _round(self) -> bool:
        queue = self._control.positions()
        runs = sorted(self._control.open_runs(), key=lambda view: _place(queue, view))
        if runs:
            self._avoid(self._control.set_asides())
        pods, nodes = self._cluster.pods() if runs else (), _Nodes(self._cluster, self._pools)
        open_runs = {view.run_id for view in runs}
        for run_id in self._open_runs - open_runs:
            for part in _parts(run_id):
                self._troubles.forget(part)
        self._open_runs = open_runs
        # A run that cannot be processed now does not hold up the others. Those that have begun come first: where one
        # ends, its nodes are free for the next run in the same round.
        newer, turns = {position.run_id: position.superseded_by for position in queue}, Turns()
        answered = [
            self._look_after(view, turns, nodes, pods, newer.get(view.run_id))
            for view in sorted(runs, key=lambda view: view.waits)
        ]
        return all([*answered, self._keep_schedules(), self._keep_bisections(), self._keep_alerts()])

    def _avoid(self, set_asides: Mapping[str, tuple[str, ...]]) -> None:
        """Pods that are submitted from now on avoid the nodes that are set aside."""
        self._pools = {
            name: pool.model_copy(update={"avoided_nodes": set_asides.get(name, ())})
            for name, pool in self._pools.items()
        }

    def _look_after(
        self, view: RunView, turns: Turns, nodes: "_Nodes", pods: Sequence[PodView], superseded_by: str | None
    ) -> bool:
        """See a run, act on it, and note which nodes it takes. Returns whether that was answered."""
        seen = self._try_to_see(view, turns, nodes, pods)
        done = self._process(view, replace(seen, superseded_by=superseded_by)) if seen else None
        view = done or view
        if view.state.is_open and not turns.is_decided(view.pools, nodes.known()):
            turns.add(self._outstanding(view, seen.stored if seen else {}))
        else:
            self._troubles.forget(_parts(view.run_id)[2])
        return done is not None

    def _outstanding(self, view: RunView, stored: Mapping[str, int]) -> Sequence[str]:
        """The pool of each outstanding job; at least one a pool where the plan cannot be read."""
        with self._troubles.guard(_parts(view.run_id)[2]):
            return outstanding(view.read or self._control.run(view.run_id), stored)
        return view.pools

    def _try_to_see(self, view: RunView, turns: Turns, nodes: "_Nodes", pods: Sequence[PodView]) -> Seen | None:
        with self._troubles.guard(_parts(view.run_id)[0]):
            ready = {pool: nodes.of(pool) for pool in view.pools if pool in self._pools}
            waits = view.waits and turns.has_none_for(view.pools, nodes.known())
            has_kits = view.newest.reason is RunReason.WAITS_FOR_RUN
            if waits and has_kits and turns.is_decided(view.pools, nodes.known()):
                # It goes on waiting, whatever else there is.
                return Seen({}, (), (), ready, frozenset(), {}, waits=True)
            seen = self._see(view, ready, pods)
            return replace(seen, waits=waits, unlabelled=nodes.unlabelled(seen))
        return None

    def _process(self, view: RunView, seen: Seen) -> RunView | None:
        """The run after what was done; None if that failed."""
        run_id = view.run_id
        with self._troubles.guard(_parts(run_id)[1]):
            while True:
                if view.state is RunState.RUNNING and view.read is None:
                    view = view.with_run(self._control.run(run_id))
                actions = decide(view, seen, self._clock(), self._settings.site.pending_seconds)
                for action in actions:
                    # A slow action may outlast the lease: its new holder then acts instead.
                    if not self._holds_lease():
                        return view
                    _log.info("run %s: %s", run_id, _summary(action), extra={"event": "action", "run_id": run_id})
                    name, attributes = _traced(action)
                    with traces.span(name, run_id, **attributes):
                        event = self._act(view, seen, action)
                    view = view.after(event) if event else view
                if StartRun() not in actions:  # what was started has its jobs submitted in the same round
                    return view
        return None

    def _keep_bisections(self) -> bool:
        with self._troubles.guard("bisections"):
            if self._holds_lease():
                for missing in self._control.advance_bisections():
                    self._find_commits(missing)
            return True
        return False

    def _keep_alerts(self) -> bool:
        with self._troubles.guard("alerts"):
            if self._holds_lease():
                self._control.advance_alerts()
            return True
        return False

    def _find_commits(self, missing: WantedLine) -> None:
        """Start the search for the commits of a bisection. If they were delivered meanwhile, giving up has no
        effect."""
        bisection_id, pool = missing.bisection_id, self._pools.get(missing.pool)
        if pool is None:
            self._control.give_up_line(missing, words.unknown_pools([missing.pool]))
            return
        workflows = self._cluster.workflows(names.labels_of(bisection_id, missing.series))
        if not workflows:
            _log.info("bisection %s: finding its commits", bisection_id)
            ends = (missing.good, missing.bad)
            self._cluster.submit(line_workflow(bisection_id, missing.series, ends, pool, self._settings))
        elif workflows[0].phase.has_ended:
            self._control.give_up_line(missing, words.no_line(workflows[0]))

    def _keep_schedules(self) -> bool:
        with self._troubles.guard("schedules"):
            for action in decide_crons(self._control.schedules(), self._cluster.cron_workflows(), self._settings):
                if not self._holds_lease():
                    return True
                match action:
                    case ApplyCron(manifest):
                        _log.info("applying cron workflow %s", manifest["metadata"]["name"])
                        self._cluster.apply_cron(manifest)
                    case DeleteCron(name):
                        _log.info("deleting cron workflow %s", name)
                        self._cluster.delete_cron(name)
            return True
        return False

    def _holds_lease(self) -> bool:
        is_ours = self._cluster.hold_lease(LEASE, self._identity)
        self._health.note_lease(is_ours=is_ours)
        return is_ours

    def _see(self, view: RunView, ready: Mapping[str, tuple[str, ...]], pods: Sequence[PodView]) -> Seen:
        """Reads workflows first, and what is left out last: see Seen."""
        labels = names.labels_of(view.run_id, view.series)
        workflows = self._cluster.workflows(labels)
        ours = [pod for pod in pods if labels.items() <= pod.labels.items()]
        stored = self._control.stored_invocations(view.run_id)
        lacks_some = not view.waits and sum(stored.values()) < view.invocations
        has_ended = lacks_some and bool(workflows) and all(workflow.phase.has_ended for workflow in workflows)
        return Seen(
            kits=self._control.known_kits(view.run_id) if view.waits else {},
            workflows=workflows,
            pending=tuple(pod for pod in ours if pod.is_pending),
            disrupted=tuple(pod for pod in ours if pod.disruption),
            nodes=ready,
            busy=frozenset(pod.node for pod in pods if pod.node),
            stored=stored,
            left_out=self._control.left_out(view.run_id) if has_ended else {},
        )

    def _act(self, view: RunView, seen: Seen, action: Action) -> RunEvent | None:
        """Returns the event that the action added to the run, if any."""
        match action:
            case BuildKits(kits):
                pools = {pool: self._pools[pool] for pool in view.pools}
                self._cluster.submit(kits_workflow(view.run_id, view.series, kits, pools, self._settings))
            case StartRun():
                return self._control.start(view.run_id)
            case SubmitJobs(jobs):
                nodes = {pool: _usable(self._pools[pool], ready) for pool, ready in seen.nodes.items()}
                for manifest in run_workflows(view.run, view.series, jobs, self._pools, self._settings, nodes):
                    self._cluster.submit(manifest)
            case Stop(workflow):
                self._cluster.stop(workflow)
            case Record():
                event = RunEvent(run_id=view.run_id, at=self._clock(), **vars(action))
                self._control.record(event)
                return event
        return None


class _Nodes:
    """The ready nodes of pools, each pool's read once a round."""

    def __init__(self, cluster: Cluster, pools: Mapping[str, Pool]) -> None:
        self._cluster = cluster
        self._pools = pools
        self._ready: dict[str, tuple[str, ...]] = {}
        self._of_cluster: frozenset[str] | None = None
        """Of any pool or none; read where a task runs on a node that is in no pool."""

    def of(self, pool: str) -> tuple[str, ...]:
        if pool not in self._ready:
            self._ready[pool] = self._cluster.ready_nodes(self._pools[pool].node_selector)
        return self._ready[pool]

    def unlabelled(self, seen: Seen) -> frozenset[str]:
        """Those that run tasks and are ready, but are in none of the pools that were seen."""
        in_pools = {node for nodes in seen.nodes.values() for node in nodes}
        tasks = [task for workflow in seen.workflows for task in workflow.tasks]
        others = {task.node for task in tasks if task.phase is Phase.RUNNING and task.node} - in_pools
        if others and self._of_cluster is None:
            self._of_cluster = frozenset(self._cluster.ready_nodes({}))
        return frozenset(others & (self._of_cluster or frozenset()))

    def known(self) -> dict[str, int]:
        """How many may get a job of each pool that was read so far."""
        return {pool: _usable(self._pools[pool], ready) for pool, ready in self._ready.items()}


def _usable(pool: Pool, ready: Sequence[str]) -> int:
    """How many of its ready nodes are not set aside."""
    return len(set(ready).difference(pool.avoided_nodes))


def _parts(run_id: str) -> tuple[str, str, str]:
    """The parts of a run's processing that can fail: reading its state, acting on it, and reading which nodes it takes
    from the runs after it."""
    return f"reading run {run_id}", f"acting on run {run_id}", f"reading the jobs of run {run_id}"


def _place(queue: Sequence[QueuePosition], view: RunView) -> int:
    """A run that was queued after the request for the order comes last."""
    return next((place for place, position in enumerate(queue) if position.run_id == view.run_id), len(queue))


def _traced(action: Action) -> tuple[str, dict[str, str | int]]:
    """The name and the attributes of an action's span."""
    match action:
        case BuildKits(kits):
            return "build kits", {"kits": len(kits)}
        case StartRun():
            return "start run", {}
        case SubmitJobs(jobs):
            return "submit jobs", {"jobs": len(jobs), "pools": ",".join(sorted({job.pool for job in jobs}))}
        case Stop():
            return "stop workflow", {}
        case Record(state):
            return "record state", {"state": str(state)}


def _summary(action: Action) -> str:
    """An action as a line of the log."""
    match action:
        case BuildKits(kits):
            return f"building {counted(len(kits), 'kit')}"
        case StartRun():
            return "starting"
        case SubmitJobs(jobs):
            return f"submitting {counted(len(jobs), 'job')}"
        case Stop(workflow):
            return f"stopping workflow {workflow}"
        case Record(state, detail):
            return f"{state}: {detail}" if detail else str(state)
