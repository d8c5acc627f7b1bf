"""Whether a pod has CPUs for itself."""

import os

import pytest

from kexbench.agent.isolation import isolation_of, read_cores, read_isolation
from kexbench.domain.plans import Isolation


@pytest.mark.parametrize(
    ("allowed", "asked", "cpus", "isolation", "reason"),
    [
        ({3}, 1, 4, Isolation.EXCLUSIVE, "the pod has CPUs 3 for itself"),
        ({5, 2}, 2, 8, Isolation.EXCLUSIVE, "the pod has CPUs 2, 5 for itself"),
        (set(range(8)), 2, 8, Isolation.BEST_EFFORT, "the pod asked for 2 of 8 CPUs and may run on 8: they are shared"),
        (set(range(6)), 2, 8, Isolation.BEST_EFFORT, "the pod asked for 2 of 8 CPUs and may run on 6: they are shared"),
        ({0}, 2, 8, Isolation.BEST_EFFORT, "the pod asked for 2 CPUs and may run on 1 only"),
        ({0, 1}, 4, 2, Isolation.BEST_EFFORT, "the pod asked for 4 CPUs and may run on 2 only"),
        (
            {0},
            1,
            1,
            Isolation.BEST_EFFORT,
            "the pod has all 1 CPUs of its node, which the node's own processes use too",
        ),
        ({0, 1}, 2, 2, Isolation.BEST_EFFORT, "the pod has all 2 CPUs of its node, which the node's own processes use"),
    ],
    ids=["one", "two", "no CPU manager", "what others left", "confined", "more than there are", "a node", "all of two"],
)
def test_a_pod_has_cpus_for_itself_where_it_may_use_as_many_as_it_asked_for_and_not_all_there_are(
    allowed: set[int], asked: int, cpus: int, isolation: Isolation, reason: str
) -> None:
    found = isolation_of(allowed, asked, cpus)
    assert found.isolation is isolation
    assert found.reason.startswith(reason)


@pytest.mark.parametrize(
    ("allowed", "cores", "isolation", "reason"),
    [
        ({3, 7}, [{3, 7}], Isolation.EXCLUSIVE, "the pod has CPUs 3, 7 for itself"),
        ({3}, [{3}], Isolation.EXCLUSIVE, "the pod has CPUs 3 for itself"),
        (
            {3},
            [{3, 7}],
            Isolation.BEST_EFFORT,
            "the pod has CPUs 3, and others may use CPUs 7, which are second threads of the same cores",
        ),
        (
            {2, 3},
            [{2, 6}, {3, 7}],
            Isolation.BEST_EFFORT,
            "the pod has CPUs 2, 3, and others may use CPUs 6, 7, which are second threads of the same cores",
        ),
    ],
    ids=["both threads", "one thread a core", "half a core", "two halves"],
)
def test_half_a_core_is_shared(allowed: set[int], cores: list[set[int]], isolation: Isolation, reason: str) -> None:
    found = isolation_of(allowed, len(allowed), 8, cores)
    assert (found.isolation, found.reason) == (isolation, reason)


def test_what_this_process_may_run_on_decides() -> None:
    before = os.sched_getaffinity(0)
    one = {min(before)}
    os.sched_setaffinity(0, one)
    try:
        assert read_isolation(1) == isolation_of(one, 1, os.cpu_count() or 1, read_cores(one))
        assert read_isolation(2).isolation is Isolation.BEST_EFFORT
    finally:
        os.sched_setaffinity(0, before)
