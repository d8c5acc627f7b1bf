"""Whose turn it is on a cluster: which runs wait for nodes that others have. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from kexbench.domain.runs import RunState
from kexbench.execution.argo.decide import RunView

_WAITS = (RunState.QUEUED, RunState.BUILDING)


def waiting_for(
    views: Sequence[RunView], stored: Mapping[str, Mapping[str, int]], nodes: Mapping[str, int]
) -> dict[str, str]:
    """Of runs in the order of the queue those that are not to be submitted yet, each with the run it waits for.

    A run is, once each of its pools has more ready nodes than outstanding jobs of those before it. One that waits is
    before those behind it all the same, else small runs would pass a large one for ever. Where nothing is outstanding a
    run always is: what a pool without nodes means is told of its pods. `stored` has by run how many invocations of each
    job are stored; of a run that it lacks nothing is known, so all its jobs are outstanding.
    """
    taken: dict[str, int] = defaultdict(int)
    holders: dict[str, str] = {}
    found = {}
    begun_first = sorted(views, key=lambda view: view.state in _WAITS)
    for view in begun_first:
        run = view.run
        full = [pool for pool in run.plan.pools if 0 < taken[pool] >= nodes.get(pool, 0)]
        if view.state in _WAITS and full:
            found[run.run_id] = holders[full[0]]
        for pool in _outstanding(view, stored.get(run.run_id, {})):
            taken[pool] += 1
            holders.setdefault(pool, run.run_id)
    return found


def _outstanding(view: RunView, stored: Mapping[str, int]) -> Iterable[str]:
    """The pool of each job that lacks invocations."""
    return (job.pool for job in view.run.plan.jobs if stored.get(job.job_id, 0) < job.count)
