"""What the dispatcher asks of the API: the port, and the API itself behind it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, get_args

from kexbench.api.run_models import KnownKits, OpenRun, QueueView, ScheduleView
from kexbench.bisection.models import LineTrouble
from kexbench.client import ApiClient
from kexbench.domain.bisections import WantedLine
from kexbench.domain.pools import Architecture
from kexbench.domain.runs import Run, RunEvent
from kexbench.execution.argo.decide import RunView
from kexbench.execution.argo.workflows import WantedKit


@dataclass(frozen=True)
class Turn:
    run_id: str
    superseded_by: str | None = None
    """A newer run that makes this one needless."""


class Control(Protocol):
    """What the dispatcher asks of the API. All of it raises ApiError, and all of it can be repeated."""

    def open_runs(self) -> tuple[RunView, ...]:
        """Runs that were queued here and have not ended."""
        ...

    def turns(self) -> tuple[Turn, ...]:
        """Of the open runs, those that wait in the order of the queue."""
        ...

    def known_kits(self, run_id: str) -> Mapping[WantedKit, str | None]:
        """Every kit that a run takes, for every architecture of its pools, with its id or None where it is missing."""
        ...

    def start(self, run_id: str) -> None:
        """Give the run its kits and material; it is `running` then."""
        ...

    def record(self, event: RunEvent) -> None: ...
    def stored_invocations(self, run_id: str) -> Mapping[str, int]:
        """How many of each job's invocations are stored, whatever their attempt, by the job's id."""
        ...

    def schedules(self) -> Mapping[str, str]:
        """The times of each schedule, by its name."""
        ...

    def advance_bisections(self) -> tuple[WantedLine, ...]:
        """Have the next run of every bisection queued; tells of which ones the commits are to be found first."""
        ...

    def give_up_line(self, wanted: WantedLine, reason: str) -> None: ...
    def advance_alerts(self) -> None:
        """Have the runs that ended judged, and done about it what is to be done."""
        ...


class ApiControl:
    """Implements Control. The client's patience is short: the dispatcher looks again anyway."""

    def __init__(self, api: ApiClient) -> None:
        self._api = api
        self._started: dict[str, Run] = {}
        self.record = api.add_event

    def open_runs(self) -> tuple[RunView, ...]:
        found = self._api.get(list[OpenRun], "/open-runs")
        self._started = {one.run_id: self._run(one) for one in found if one.is_started}
        return tuple(RunView.of(self._run(one), one.events) for one in found)

    def turns(self) -> tuple[Turn, ...]:
        return tuple(Turn(one.run_id, one.superseded_by) for one in self._api.get(QueueView, "/queue").runs)

    def _run(self, found: OpenRun) -> Run:
        """A started run is asked for once, for as long as it is open."""
        return self._started.get(found.run_id) or self._api.queued_run(found.run_id)

    def known_kits(self, run_id: str) -> Mapping[WantedKit, str | None]:
        found = self._api.get(KnownKits, f"/runs/{run_id}/kits")
        architecture = next(known for known in get_args(Architecture) if known == found.architecture)
        return {WantedKit(reference, architecture): kit_id for reference, kit_id in found.kits.items()}

    def start(self, run_id: str) -> None:
        self._api.send("POST", f"/runs/{run_id}/start")

    def stored_invocations(self, run_id: str) -> Mapping[str, int]:
        return self._api.get(dict[str, int], f"/runs/{run_id}/stored-by-job")

    def schedules(self) -> Mapping[str, str]:
        return {schedule.name: schedule.cron for schedule in self._api.get(list[ScheduleView], "/schedules")}

    def advance_bisections(self) -> tuple[WantedLine, ...]:
        return tuple(self._api.post(list[WantedLine], "/bisections/advance"))

    def give_up_line(self, wanted: WantedLine, reason: str) -> None:
        trouble = LineTrouble(series=wanted.series, reason=reason)
        self._api.send("POST", f"/bisections/{wanted.bisection_id}/line-trouble", trouble)

    def advance_alerts(self) -> None:
        self._api.send("POST", "/alerts/advance")
