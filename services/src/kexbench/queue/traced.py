"""The states of a run that ended, as spans of its trace."""

from collections.abc import Sequence
from itertools import groupby, pairwise

from kexbench import traces
from kexbench.domain.moments import in_milliseconds
from kexbench.domain.runs import Run, RunEvent, RunState


def is_stored(event: RunEvent, stored: Sequence[RunEvent]) -> bool:
    """Whether an event was delivered before. The store keeps milliseconds."""
    at = in_milliseconds(event.at)
    return (at, event.state) in {(each.at, each.state) for each in stored}


def trace_states(run: Run, events: Sequence[RunEvent]) -> None:
    """Add a span of the whole run, and below it one of each state. `events`: all of the run in order, the last of which
    ended it. A resumed run adds a span for its new part, since the first one is sent already."""
    ended, before = events[-1], events[:-1]
    ends = [place for place, event in enumerate(before) if not event.state.is_open]
    part = before[ends[-1] + 1 :] if ends else before
    if not part:
        return  # a note about a run that had ended
    commit = run.commit
    facts: dict[str, traces.Attribute] = {
        "spec": run.plan.spec_name,
        "trigger": str(run.trigger),
        "pools": list(run.plan.pools),
        "repository": commit.repository if commit else None,
        "commit": commit.commit if commit else None,
        "state": str(ended.state),
        "reason": str(ended.reason) if ended.reason else None,
    }
    name, add = ("resumed run", traces.add) if ends else ("run", traces.add_first)
    add(name, run.run_id, (part[0].at, ended.at), facts, has_failed=ended.state is RunState.FAILED)
    firsts = [next(same) for _, same in groupby(part, key=lambda event: event.state)]
    for event, following in pairwise([*firsts, ended]):
        traces.add(str(event.state), run.run_id, (event.at, following.at))
