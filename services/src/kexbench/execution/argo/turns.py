"""Which runs of a cluster wait for nodes that other runs use. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from kexbench.domain.runs import Run


class Turns:
    """A run can be submitted once each of its pools has more ready nodes than the earlier runs have outstanding jobs. A
    waiting run still counts as earlier than the next ones, so small runs cannot pass a large one forever. If nothing is
    outstanding, a run can always be submitted: its pods then report a pool without nodes.

    Runs are added in the order in which they get nodes: those that have begun, then those that wait, by the queue."""

    def __init__(self) -> None:
        self._taken: dict[str, int] = defaultdict(int)

    def has_none_for(self, pools: Sequence[str], nodes: Mapping[str, int]) -> bool:
        """Whether a next run of these pools waits for the runs before it. `nodes`: how many are ready in each pool."""
        return bool(self._full(pools, nodes))

    def is_decided(self, pools: Sequence[str], nodes: Mapping[str, int]) -> bool:
        """Whether the jobs of a run of these pools need not be known: they change nothing for the runs after it."""
        return len(self._full(pools, nodes)) == len(pools)

    def add(self, pools: Iterable[str]) -> None:
        """The next run. `pools`: the pool of each of its outstanding jobs."""
        for pool in pools:
            self._taken[pool] += 1

    def _full(self, pools: Sequence[str], nodes: Mapping[str, int]) -> list[str]:
        return [pool for pool in pools if 0 < self._taken[pool] >= nodes.get(pool, 0)]


def outstanding(run: Run, stored: Mapping[str, int]) -> list[str]:
    """The pool of each job that lacks invocations. `stored` has the number of stored ones by job."""
    return [job.pool for job in run.plan.jobs if stored.get(job.job_id, 0) < job.count]
