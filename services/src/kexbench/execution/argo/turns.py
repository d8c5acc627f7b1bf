"""Which runs of a cluster wait for nodes that other runs use. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from kexbench.execution.argo.decide import RunView


def waiting_for(
    views: Sequence[RunView], stored: Mapping[str, Mapping[str, int]], nodes: Mapping[str, int]
) -> dict[str, str]:
    """The runs that cannot be submitted yet, each with the run it waits for. `views` are in the order of the queue.

    A run can be submitted once each of its pools has more ready nodes than the earlier runs have outstanding jobs. A
    waiting run still counts as earlier than the next ones, so small runs cannot pass a large one forever. If nothing is
    outstanding, a run can always be submitted: its pods then report a pool without nodes. `stored` has the number of
    stored invocations by run and job; all jobs of a run that it lacks are outstanding.
    """
    taken: dict[str, int] = defaultdict(int)
    holders: dict[str, str] = {}
    waiting = {}
    begun_first = sorted(views, key=lambda view: view.waits)
    for view in begun_first:
        run = view.run
        full = [pool for pool in run.plan.pools if 0 < taken[pool] >= nodes.get(pool, 0)]
        if view.waits and full:
            waiting[run.run_id] = holders[full[0]]
        for pool in _outstanding(view, stored.get(run.run_id, {})):
            taken[pool] += 1
            holders.setdefault(pool, run.run_id)
    return waiting


def _outstanding(view: RunView, stored: Mapping[str, int]) -> Iterable[str]:
    """The pool of each job that lacks invocations."""
    return (job.pool for job in view.run.plan.jobs if stored.get(job.job_id, 0) < job.count)
