"""The dispatcher: turns runs of the API into workflows on a cluster, and reports their results to the API.

It has no state: every action follows from the API and Kubernetes, so it may restart at any time.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from threading import Event

from kexbench.client import ApiError
from kexbench.dispatcher.control import Control, QueuePosition
from kexbench.dispatcher.health import Health
from kexbench.domain.bisections import WantedLine
from kexbench.domain.numbers import counted
from kexbench.domain.pools import Pool
from kexbench.domain.runs import RunEvent
from kexbench.execution.argo import names, words
from kexbench.execution.argo.cluster import Cluster, ClusterError, PodView
from kexbench.execution.argo.decide import Action, BuildKits, Record, RunView, Seen, StartRun, Stop, SubmitJobs, decide
from kexbench.execution.argo.pods import JobSettings
from kexbench.execution.argo.schedules import ApplyCron, DeleteCron, decide_crons
from kexbench.execution.argo.turns import waiting_for
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
        self._control = control
        self._cluster = cluster
        self._pools = {pool.name: pool for pool in pools}
        self._settings = settings
        self._identity = identity
        self._clock = clock

    def run(self, ending: Event) -> None:
        """Poll and act until a signal sets the event. Waits longer each time while the API or Kubernetes is away. Then
        it releases the lease, so that its successor need not wait for the expiry."""
        wait_s = INTERVAL_S
        while not ending.is_set():
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
        pods = self._cluster.pods() if runs else ()
        open_runs = {view.run.run_id for view in runs}
        for run_id in self._open_runs - open_runs:
            for part in _parts(run_id):
                self._troubles.forget(part)
        self._open_runs = open_runs
        # A run that cannot be processed now does not hold up the others. Those that have begun come first: where one
        # ends, its nodes are free for the next run in the same round.
        seen = {view.run.run_id: state for view in runs if (state := self._try_to_see(view, pods))}
        begun = {
            view.run.run_id: self._process(view, seen[view.run.run_id])
            for view in runs
            if not view.waits and view.run.run_id in seen
        }
        waits = self._waits([begun.get(view.run.run_id) or view for view in runs], seen)
        newer = {position.run_id: position.superseded_by for position in queue}
        waiting = [
            self._process(view, replace(seen[run_id], waits_for=waits.get(run_id), superseded_by=newer.get(run_id)))
            for view in runs
            if view.waits and (run_id := view.run.run_id) in seen
        ]
        kept = [self._keep_schedules(), self._keep_bisections(), self._keep_alerts()]
        return all([len(seen) == len(runs), *begun.values(), *waiting, *kept])

    def _waits(self, runs: Sequence[RunView], seen: Mapping[str, Seen]) -> dict[str, str]:
        """The run that each waiting run waits for. `runs` are in the order of the queue."""
        nodes = {pool: len(ready) for state in seen.values() for pool, ready in state.nodes.items()}
        stored = {run_id: state.stored for run_id, state in seen.items()}
        return waiting_for([view for view in runs if view.state.is_open], stored, nodes)

    def _try_to_see(self, view: RunView, pods: Sequence[PodView]) -> Seen | None:
        with self._troubles.guard(_parts(view.run.run_id)[0]):
            return self._see(view, pods)
        return None

    def _process(self, view: RunView, seen: Seen) -> RunView | None:
        """The run after what was done; None if that failed."""
        run_id = view.run.run_id
        with self._troubles.guard(_parts(run_id)[1]):
            while actions := decide(view, seen, self._clock(), self._settings.site.pending_seconds):
                for action in actions:
                    # A slow action may outlast the lease: its new holder then acts instead.
                    if not self._holds_lease():
                        return view
                    _log.info("run %s: %s", run_id, _summary(action))
                    if event := self._act(view, seen, action):
                        view = view.after(event)
                if StartRun() not in actions:  # what was started has its jobs submitted in the same round
                    break
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
        return self._cluster.hold_lease(LEASE, self._identity)

    def _see(self, view: RunView, pods: Sequence[PodView]) -> Seen:
        """Reads workflows first: see Seen."""
        run = view.run
        labels = names.labels_of(run.run_id, view.series)
        workflows = self._cluster.workflows(labels)
        ours = [pod for pod in pods if labels.items() <= pod.labels.items()]
        return Seen(
            kits=self._control.known_kits(run.run_id) if view.waits else {},
            workflows=workflows,
            pending=tuple(pod for pod in ours if pod.is_pending),
            disrupted=tuple(pod for pod in ours if pod.disruption),
            nodes={
                pool: self._cluster.ready_nodes(self._pools[pool].node_selector)
                for pool in run.plan.pools
                if pool in self._pools
            },
            busy=frozenset(pod.node for pod in pods if pod.node),
            stored=self._control.stored_invocations(run.run_id),
        )

    def _act(self, view: RunView, seen: Seen, action: Action) -> RunEvent | None:
        """Returns the event that the action added to the run, if any."""
        run = view.run
        match action:
            case BuildKits(kits):
                pools = {pool: self._pools[pool] for pool in run.plan.pools}
                self._cluster.submit(kits_workflow(run.run_id, view.series, kits, pools, self._settings))
            case StartRun():
                return self._control.start(run.run_id)
            case SubmitJobs(jobs):
                nodes = {pool: len(ready) for pool, ready in seen.nodes.items()}
                for manifest in run_workflows(run, view.series, jobs, self._pools, self._settings, nodes):
                    self._cluster.submit(manifest)
            case Stop(workflow):
                self._cluster.stop(workflow)
            case Record():
                event = RunEvent(run_id=run.run_id, at=self._clock(), **vars(action))
                self._control.record(event)
                return event
        return None


def _parts(run_id: str) -> tuple[str, str]:
    """The parts of a run's processing that can fail: reading its state, and acting on it."""
    return f"reading run {run_id}", f"acting on run {run_id}"


def _place(queue: Sequence[QueuePosition], view: RunView) -> int:
    """A run that was queued after the request for the order comes last."""
    return next((place for place, position in enumerate(queue) if position.run_id == view.run.run_id), len(queue))


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
