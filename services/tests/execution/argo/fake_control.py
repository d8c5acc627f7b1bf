"""The API as the dispatcher knows it, in memory."""

import sys
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime

from kexbench.client import ApiError, Refused
from kexbench.dispatcher import QueuePosition
from kexbench.domain.bisections import WantedLine
from kexbench.domain.runs import Run, RunEvent, RunState
from kexbench.execution.argo.decide import RunView
from kexbench.execution.argo.workflows import WantedKit


class FakeControl:
    """Implements Control."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self.runs: dict[str, Run] = {}
        self.events: dict[str, list[RunEvent]] = {}
        self.kits: dict[WantedKit, str | None] = {}
        self.stored: dict[str, dict[str, int]] = {}
        self.hopeless: dict[str, int] = {}
        """How many invocations of each job are left out."""
        self.times: dict[str, str] = {}
        """Of schedules, by their names."""
        self.nodes_aside: Mapping[str, tuple[str, ...]] = {}
        """By pool."""
        self.wanted_line: WantedLine | None = None
        self.troubles: list[str] = []
        """Why lines of commits were given up."""
        self.alerts_advanced = 0
        self.answers_left: int | None = None
        """So often it answers before it is away; None is always."""
        self.asked: Counter[str] = Counter()
        """How often each request was answered."""

    def queue(self, run: Run) -> None:
        self.runs[run.run_id] = run
        self.events[run.run_id] = []
        self.stored[run.run_id] = {}
        self.become(run.run_id, RunState.QUEUED)

    def become(self, run_id: str, state: RunState, detail: str = "") -> None:
        self.events[run_id].append(RunEvent(run_id=run_id, at=self._clock(), state=state, detail=detail))

    def view(self, run_id: str) -> RunView:
        return RunView.of(self.runs[run_id], self.events[run_id])

    def open_runs(self) -> tuple[RunView, ...]:
        self._ask()
        views = [replace(self.view(run_id), read=None) for run_id in self.runs]
        return tuple(view for view in views if view.state.is_open)

    def run(self, run_id: str) -> Run:
        self._ask(run_id)
        return self.runs[run_id]

    def positions(self) -> tuple[QueuePosition, ...]:
        self._ask()
        return tuple(map(QueuePosition, self.runs))

    def known_kits(self, run_id: str) -> Mapping[WantedKit, str | None]:
        self._ask(run_id)
        return dict(self.kits)

    def start(self, run_id: str) -> RunEvent:
        self._ask(run_id)
        if self.view(run_id).state in (RunState.QUEUED, RunState.BUILDING):
            if None in self.kits.values():
                raise ApiError(f"run {run_id} can't start: a kit is not built yet")
            self.become(run_id, RunState.RUNNING)
        return self.events[run_id][-1]

    def record(self, event: RunEvent) -> None:
        self._ask(event.run_id)
        self.events[event.run_id].append(event)

    def stored_invocations(self, run_id: str) -> Mapping[str, int]:
        self._ask(run_id)
        return dict(self.stored[run_id])

    def left_out(self, run_id: str) -> Mapping[str, int]:
        self._ask(run_id)
        return dict(self.hopeless)

    def set_asides(self) -> Mapping[str, tuple[str, ...]]:
        return self.nodes_aside

    def schedules(self) -> Mapping[str, str]:
        self._ask()
        return dict(self.times)

    def advance_bisections(self) -> tuple[WantedLine, ...]:
        self._ask()
        return () if self.wanted_line is None else (self.wanted_line,)

    def give_up_line(self, wanted: WantedLine, reason: str) -> None:
        self._ask()
        self.troubles.append(reason)
        self.wanted_line = None

    def advance_alerts(self) -> None:
        self._ask()
        self.alerts_advanced += 1

    def _ask(self, run_id: str | None = None) -> None:
        if self.answers_left is not None:
            if self.answers_left == 0:
                raise ApiError("asking the API: connection refused\n  remedy: is it up?")
            self.answers_left -= 1
        self.asked[sys._getframe(1).f_code.co_name] += 1
        if run_id is not None and run_id not in self.runs:
            raise Refused(404, f"there is no run {run_id}")
