"""Which queued run has its turn, and which ones nobody needs any more. Pure, for a machine and for a cluster."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from heapq import heapify, heappop, heappush

from kexbench.domain.runs import RunState, Trigger

_PRIORITIES = (
    {Trigger.PULL_REQUEST},
    {Trigger.COMMIT, Trigger.LIBRARY},
    {Trigger.API, Trigger.COMMAND_LINE, Trigger.BISECTION, Trigger.CONFIRMATION},
    {Trigger.SCHEDULE},
    {Trigger.BACKFILL},
)
"""Who waits for an answer comes first: a review, then a push, then a person or an alert, then a clock; what is past can
wait."""


@dataclass(frozen=True)
class QueuedRun:
    """A run that something is still to happen to, as far as its turn depends on it."""

    run_id: str
    trigger: Trigger
    spec_name: str
    queued_at: datetime
    state: RunState
    line: str = ""
    """What a newer run makes this one needless for, such as a branch's history of one spec; empty for nothing."""

    @property
    def priority(self) -> int:
        return priority_of(self.trigger)


def priority_of(trigger: Trigger) -> int:
    """1 comes first."""
    return next(place for place, triggers in enumerate(_PRIORITIES, start=1) if trigger in triggers)


def in_order(queue: Collection[QueuedRun], last_begun: Mapping[str, datetime]) -> Iterator[QueuedRun]:
    """The runs that wait, in the order they would begin if no other came. By priority; then specs take turns, the one
    whose last run began longest ago first; of a spec the oldest. `last_begun` says by a spec's name when that was."""
    waiting = [run for run in queue if run.state is RunState.QUEUED]
    turns = {name: (0, at.timestamp()) for name, at in last_begun.items()}
    begun = 0
    for priority in range(1, len(_PRIORITIES) + 1):
        of_spec: dict[str, list[QueuedRun]] = defaultdict(list)
        for run in sorted(waiting, key=_age, reverse=True):
            if run.priority == priority:
                of_spec[run.spec_name].append(run)
        heap = [(turns.get(name, (-1, 0.0)), _age(runs[-1]), name) for name, runs in of_spec.items()]
        heapify(heap)
        while heap:
            _, _, name = heappop(heap)
            yield of_spec[name].pop()
            begun += 1
            turns[name] = (begun, 0.0)
            if of_spec[name]:
                heappush(heap, (turns[name], _age(of_spec[name][-1]), name))


def next_run(queue: Collection[QueuedRun], last_begun: Mapping[str, datetime]) -> QueuedRun | None:
    """The run whose turn it is; None where none waits."""
    return next(in_order(queue, last_begun), None)


def superseded(queue: Collection[QueuedRun]) -> dict[str, str]:
    """Runs that wait although a newer one of their line is there, each with that one's id."""
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
