"""The port of the dispatcher's requests to the API, and its implementation."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, get_args

from kexbench.answers.queued import QueueView
from kexbench.api.models import StoredInvocation
from kexbench.api.run_models import KnownKits, OpenRun, ScheduleView
from kexbench.bisection.models import LineTrouble
from kexbench.client import ApiClient
from kexbench.domain.bisections import WantedLine
from kexbench.domain.fleet import SetAside
from kexbench.domain.plans import left_out_by_job
from kexbench.domain.pools import Architecture
from kexbench.domain.runs import Run, RunEvent
from kexbench.execution.argo.decide import RunView
from kexbench.execution.argo.workflows import WantedKit


@dataclass(frozen=True)
class QueuePosition:
    run_id: str
    superseded_by: str | None = None
    """The newer run that supersedes this one."""


class Control(Protocol):
    """The requests of the dispatcher to the API. Every method raises ApiError and can be repeated."""

    def open_runs(self) -> tuple[RunView, ...]:
        """Runs that were queued here and have not ended, without their plans."""
        ...

    def run(self, run_id: str) -> Run:
        """A run with its plan."""
        ...

    def positions(self) -> tuple[QueuePosition, ...]:
        """The open runs, in the order of the queue."""
        ...

    def known_kits(self, run_id: str) -> Mapping[WantedKit, str | None]:
        """Every kit that a run needs, for every architecture of its pools, with its id, or None if it is missing."""
        ...

    def start(self, run_id: str) -> RunEvent:
        """Give the run its kits and material; its state becomes `running`. Returns its newest event, which is another
        one if somebody cancelled it meanwhile."""
        ...

    def record(self, event: RunEvent) -> None: ...
    def stored_invocations(self, run_id: str) -> Mapping[str, int]:
        """The number of stored invocations of each job over all attempts, by the job's id."""
        ...

    def left_out(self, run_id: str) -> Mapping[str, int]:
        """The number of each job's invocations that nobody measures, since all their subjects are hopeless."""
        ...

    def set_asides(self) -> Mapping[str, tuple[str, ...]]:
        """The nodes of each pool that are set aside; pools without any are missing."""
        ...

    def schedules(self) -> Mapping[str, str]:
        """The times of each schedule, by its name."""
        ...

    def advance_bisections(self) -> tuple[WantedLine, ...]:
        """Queue the next run of every bisection. Returns the bisections whose commits must be found first."""
        ...

    def give_up_line(self, missing: WantedLine, reason: str) -> None: ...
    def advance_alerts(self) -> None:
        """Screen the ended runs, and queue confirmation runs or raise alerts."""
        ...


class ApiControl:
    """Implements Control. The client's timeout is short, because the dispatcher polls anyway."""

    def __init__(self, api: ApiClient) -> None:
        self._api = api
        self._started: dict[str, Run] = {}
        self.record = api.add_event

    def open_runs(self) -> tuple[RunView, ...]:
        views = [
            RunView.unread(run.run_id, run.pools, run.invocations_planned, run.events)
            for run in self._api.get(list[OpenRun], "/open-runs")
        ]
        self._started = {view.run_id: self._started[view.run_id] for view in views if view.run_id in self._started}
        return tuple(views)

    def run(self, run_id: str) -> Run:
        """A started run is requested once while it is open."""
        run = self._started.get(run_id) or self._api.queued_run(run_id)
        if run.is_started:
            self._started[run_id] = run
        return run

    def positions(self) -> tuple[QueuePosition, ...]:
        return tuple(QueuePosition(run.run_id, run.superseded_by) for run in self._api.get(QueueView, "/queue").runs)

    def known_kits(self, run_id: str) -> Mapping[WantedKit, str | None]:
        answer = self._api.get(KnownKits, f"/runs/{run_id}/kits")
        architecture = next(name for name in get_args(Architecture) if name == answer.architecture)
        return {WantedKit(reference, architecture): kit_id for reference, kit_id in answer.kits.items()}

    def start(self, run_id: str) -> RunEvent:
        return self._api.post(RunEvent, f"/runs/{run_id}/start")

    def stored_invocations(self, run_id: str) -> Mapping[str, int]:
        return self._api.get(dict[str, int], f"/runs/{run_id}/stored-by-job")

    def left_out(self, run_id: str) -> Mapping[str, int]:
        stored = self._api.get(list[StoredInvocation], f"/runs/{run_id}/invocations")
        return left_out_by_job(
            self.run(run_id).plan.jobs,
            [(each.job_id, each.case_id, each.invocation) for each in stored],
            [(each.job_id, each.case_id, subject) for each in stored for subject in each.hopeless],
        )

    def set_asides(self) -> Mapping[str, tuple[str, ...]]:
        asides = self._api.get(list[SetAside], "/fleet/set-asides")
        return {
            pool: tuple(each.node for each in asides if each.pool == pool) for pool in {each.pool for each in asides}
        }

    def schedules(self) -> Mapping[str, str]:
        return {schedule.name: schedule.cron for schedule in self._api.get(list[ScheduleView], "/schedules")}

    def advance_bisections(self) -> tuple[WantedLine, ...]:
        return tuple(self._api.post(list[WantedLine], "/bisections/advance"))

    def give_up_line(self, missing: WantedLine, reason: str) -> None:
        trouble = LineTrouble(series=missing.series, reason=reason)
        self._api.send("POST", f"/bisections/{missing.bisection_id}/line-trouble", trouble)

    def advance_alerts(self) -> None:
        self._api.send("POST", "/alerts/advance")
