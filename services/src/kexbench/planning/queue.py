"""Which queued run is next, and which runs a newer one supersedes. Pure, for a machine and for a cluster."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from heapq import heapify, heappop, heappush

from kexbench.domain.runs import RunState, Trigger

_PRIORITIES = (
    {Trigger.PULL_REQUEST},
    {Trigger.COMMIT, Trigger.LIBRARY},
    {Trigger.API, Trigger.BISECTION, Trigger.CONFIRMATION, Trigger.EXPLANATION},
    {Trigger.SCHEDULE},
    {Trigger.BACKFILL},
)
"""The first to run are those that somebody waits for: reviews, then pushes, then people and alerts, then schedules.
Backfills of the past come last."""


@dataclass(frozen=True)
class QueuedRun:
    """An open run, with all that its position depends on."""

    run_id: str
    trigger: Trigger
    spec_name: str
    queued_at: datetime
    state: RunState
    line: str = ""
    """A newer run of the same line, such as one spec on one branch, supersedes this one; empty for none."""

    @property
    def priority(self) -> int:
        return priority_of(self.trigger)


def priority_of(trigger: Trigger) -> int:
    """1 comes first."""
    return next(place for place, triggers in enumerate(_PRIORITIES, start=1) if trigger in triggers)


def in_order(queue: Collection[QueuedRun], last_begun: Mapping[str, datetime]) -> Iterator[QueuedRun]:
    """The waiting runs, in the order in which they would begin if no other came. By priority, then by spec: the one
    whose last run began longest ago goes first. `last_begun` has these times by spec name. The oldest run of a spec
    goes first."""
    waiting = [run for run in queue if run.state is RunState.QUEUED]
    last_starts = {name: (0, moment.timestamp()) for name, moment in last_begun.items()}
    started = 0
    for priority in range(1, len(_PRIORITIES) + 1):
        runs_of: dict[str, list[QueuedRun]] = defaultdict(list)
        for run in sorted(waiting, key=_age, reverse=True):
            if run.priority == priority:
                runs_of[run.spec_name].append(run)
        heap = [(last_starts.get(name, (-1, 0.0)), _age(runs[-1]), name) for name, runs in runs_of.items()]
        heapify(heap)
        while heap:
            _, _, name = heappop(heap)
            yield runs_of[name].pop()
            started += 1
            last_starts[name] = (started, 0.0)
            if runs_of[name]:
                heappush(heap, (last_starts[name], _age(runs_of[name][-1]), name))


def next_run(queue: Collection[QueuedRun], last_begun: Mapping[str, datetime]) -> QueuedRun | None:
    """The next run; None where none waits."""
    return next(in_order(queue, last_begun), None)


def superseded(queue: Collection[QueuedRun]) -> dict[str, str]:
    """Waiting runs that a newer run of the same line supersedes, each with the id of the newer one."""
    newest: dict[str, QueuedRun] = {}
    for run in sorted(queue, key=_age):
        if run.line and run.state.is_open and run.state is not RunState.CANCELLING:
            newest[run.line] = run
    return {
        run.run_id: newest[run.line].run_id
        for run in queue
        if run.state is RunState.QUEUED and run.line and newest[run.line] is not run
    }


def _age(run: QueuedRun) -> tuple[datetime, str]:
    return run.queued_at, run.run_id
