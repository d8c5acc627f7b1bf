"""The dispatcher: turns runs that the API holds into workflows on a cluster, and tells the API what became of them.

It keeps nothing: all it does follows from what the API and Kubernetes say, so it may end at any time and begin again.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from threading import Event

from kexbench.api.troubles import Troubles
from kexbench.client import ApiError
from kexbench.dispatcher.control import Control, Turn
from kexbench.dispatcher.health import Health
from kexbench.domain.bisections import WantedLine
from kexbench.domain.pools import Pool
from kexbench.domain.runs import RunEvent, RunState
from kexbench.execution.argo import names, words
from kexbench.execution.argo.cluster import Cluster, ClusterError, PodView
from kexbench.execution.argo.decide import Action, BuildKits, Record, RunView, Seen, StartRun, Stop, SubmitJobs, decide
from kexbench.execution.argo.pods import JobSettings
from kexbench.execution.argo.schedules import ApplyCron, DeleteCron, decide_crons
from kexbench.execution.argo.turns import waiting_for
from kexbench.execution.argo.workflows import kits_workflow, line_workflow, run_workflows

LEASE = "kexbench-dispatcher"
INTERVAL_S = 5.0
LONGEST_WAIT_S = 60.0
"""Between two tries while the API or Kubernetes is away."""
EXPECTED = (ClusterError, ApiError)
"""What the API and Kubernetes say when they do not do what they are asked."""
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
        """`identity` is this process's, unlike that of every other."""
        self._troubles = troubles or Troubles(clock, EXPECTED)
        self._health = health or Health(self._troubles)
        self._known: set[str] = set()
        """The runs that were open the last time."""
        self._control = control
        self._cluster = cluster
        self._pools = {pool.name: pool for pool in pools}
        self._settings = settings
        self._identity = identity
        self._clock = clock

    def run(self, ending: Event) -> None:
        """Look and act until the event is set, which signals do. Waits longer each time while others are away. In the
        end the lease is released, so that one that takes this one's place need not wait until it is over."""
        wait_s = INTERVAL_S
        while not ending.is_set():
            answered = self.once()
            self._health.looked(answered=answered)
            wait_s = INTERVAL_S if answered else min(2 * wait_s, LONGEST_WAIT_S)
            ending.wait(wait_s)
        try:
            self._cluster.release_lease(LEASE, self._identity)
        except ClusterError as error:
            _log.warning("%s", error)

    def once(self) -> bool:
        """Look at every open run and at the schedules once and act, if the lease is ours. Whether everybody that was
        asked answered. What is wrong is logged when it begins, and when it is over."""
        with self._troubles.guard("looking"):
            return not self._holds_lease() or self._look()
        return False

    def _look(self) -> bool:
        turns = self._control.turns()
        runs = sorted(self._control.open_runs(), key=lambda view: _place(turns, view))
        pods = self._cluster.pods() if runs else ()
        open_runs = {view.run.run_id for view in runs}
        for run_id in self._known - open_runs:
            for part in _parts(run_id):
                self._troubles.forget(part)
        self._known = open_runs
        # A run that can't be looked after now holds up no other.
        seen = self._seen(runs, turns, pods)
        answered = [self._look_after(view, seen[run_id]) for view in runs if (run_id := view.run.run_id) in seen]
        kept = [self._keep_schedules(), self._keep_bisections(), self._keep_alerts()]
        return all([len(seen) == len(runs), *answered, *kept])

    def _seen(self, runs: Sequence[RunView], turns: Sequence[Turn], pods: Sequence[PodView]) -> dict[str, Seen]:
        """What is seen of each run that can be looked at, with whom it gives way to. `runs` are in their order."""
        looked = {view.run.run_id: self._looked_at(view, pods) for view in runs}
        found = {run_id: seen for run_id, seen in looked.items() if seen is not None}
        nodes = {pool: len(ready) for seen in found.values() for pool, ready in seen.nodes.items()}
        waits = waiting_for(runs, {run_id: seen.stored for run_id, seen in found.items()}, nodes)
        newer = {turn.run_id: turn.superseded_by for turn in turns}
        return {
            run_id: replace(seen, waits_for=waits.get(run_id), superseded_by=newer.get(run_id))
            for run_id, seen in found.items()
        }

    def _looked_at(self, view: RunView, pods: Sequence[PodView]) -> Seen | None:
        with self._troubles.guard(_parts(view.run.run_id)[0]):
            return self._see(view, pods)
        return None

    def _look_after(self, view: RunView, seen: Seen) -> bool:
        run_id = view.run.run_id
        with self._troubles.guard(_parts(run_id)[1]):
            for action in decide(view, seen, self._clock(), self._settings.site.pending_seconds):
                # What takes long may outlast the lease: another that holds it now acts instead.
                if not self._holds_lease():
                    return True
                _log.info("run %s: %s", run_id, _told(action))
                self._act(view, seen, action)
            return True
        return False

    def _keep_bisections(self) -> bool:
        with self._troubles.guard("bisections"):
            if self._holds_lease():
                for wanted in self._control.advance_bisections():
                    self._look_for(wanted)
            return True
        return False

    def _keep_alerts(self) -> bool:
        with self._troubles.guard("alerts"):
            if self._holds_lease():
                self._control.advance_alerts()
            return True
        return False

    def _look_for(self, wanted: WantedLine) -> None:
        """Have the commits of a bisection found. They may have been told since they were asked for: then giving up
        changes nothing."""
        bisection_id, pool = wanted.bisection_id, self._pools.get(wanted.pool)
        if pool is None:
            self._control.give_up_line(wanted, words.unknown_pools([wanted.pool]))
            return
        known = self._cluster.workflows(names.labels_of(bisection_id, wanted.series))
        if not known:
            _log.info("bisection %s: looking for its commits", bisection_id)
            ends = (wanted.good, wanted.bad)
            self._cluster.submit(line_workflow(bisection_id, wanted.series, ends, pool, self._settings))
        elif known[0].phase.has_ended:
            self._control.give_up_line(wanted, words.no_line(known[0]))

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
        """Workflows first: see Seen."""
        run = view.run
        labels = names.labels_of(run.run_id, view.series)
        workflows = self._cluster.workflows(labels)
        waits = view.state in (RunState.QUEUED, RunState.BUILDING)
        ours = [pod for pod in pods if labels.items() <= pod.labels.items()]
        return Seen(
            kits=self._control.known_kits(run.run_id) if waits else {},
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

    def _act(self, view: RunView, seen: Seen, action: Action) -> None:
        run = view.run
        match action:
            case BuildKits(wanted):
                mine = {pool: self._pools[pool] for pool in run.plan.pools}
                self._cluster.submit(kits_workflow(run.run_id, view.series, wanted, mine, self._settings))
            case StartRun():
                self._control.start(run.run_id)
            case SubmitJobs(jobs):
                nodes = {pool: len(ready) for pool, ready in seen.nodes.items()}
                for manifest in run_workflows(run, view.series, jobs, self._pools, self._settings, nodes):
                    self._cluster.submit(manifest)
            case Stop(workflow):
                self._cluster.stop(workflow)
            case Record():
                event = RunEvent(run_id=run.run_id, at=self._clock(), **vars(action))
                self._control.record(event)


def _parts(run_id: str) -> tuple[str, str]:
    """What may be wrong with a run: looking at it, and acting on it."""
    return f"looking at run {run_id}", f"acting on run {run_id}"


def _place(turns: Sequence[Turn], view: RunView) -> int:
    """A run that was queued since the turns were asked for comes last."""
    return next((place for place, turn in enumerate(turns) if turn.run_id == view.run.run_id), len(turns))


def _told(action: Action) -> str:
    """An action on one line of the log."""
    match action:
        case BuildKits(wanted):
            return f"building {len(wanted)} kits"
        case StartRun():
            return "starting"
        case SubmitJobs(jobs):
            return f"submitting {len(jobs)} jobs"
        case Stop(workflow):
            return f"stopping workflow {workflow}"
        case Record(state, detail):
            return f"{state}: {detail}" if detail else str(state)
