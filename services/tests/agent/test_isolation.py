"""Whether a pod has CPUs for itself."""

import os
from pathlib import Path

import pytest

from kexbench.agent.isolation import isolation_of, read_cores, read_isolation
from kexbench.domain.plans import Isolation
from kexbench.runner.tree import CPU, Tree


@pytest.mark.parametrize(
    ("allowed", "asked", "cpus", "isolation", "reason"),
    [
        ({3}, 1, 4, Isolation.EXCLUSIVE, "the pod has exclusive CPUs 3"),
        ({5, 2}, 2, 8, Isolation.EXCLUSIVE, "the pod has exclusive CPUs 2, 5"),
        (set(range(8)), 2, 8, Isolation.BEST_EFFORT, "the pod requested 2 of 8 CPUs and may run on 8: they are shared"),
        (set(range(6)), 2, 8, Isolation.BEST_EFFORT, "the pod requested 2 of 8 CPUs and may run on 6: they are shared"),
        ({0}, 2, 8, Isolation.BEST_EFFORT, "the pod requested 2 CPUs and may run on only 1"),
        ({0, 1}, 4, 2, Isolation.BEST_EFFORT, "the pod requested 4 CPUs and may run on only 2"),
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
        ({3, 7}, [{3, 7}], Isolation.EXCLUSIVE, "the pod has exclusive CPUs 3, 7"),
        ({3}, [{3}], Isolation.EXCLUSIVE, "the pod has exclusive CPUs 3"),
        (
            {3},
            [{3, 7}],
            Isolation.BEST_EFFORT,
            "the pod has CPUs 3, but other processes may use CPUs 7, the second threads of the same cores",
        ),
        (
            {2, 3},
            [{2, 6}, {3, 7}],
            Isolation.BEST_EFFORT,
            "the pod has CPUs 2, 3, but other processes may use CPUs 6, 7, the second threads of the same cores",
        ),
    ],
    ids=["both threads", "one thread a core", "half a core", "two halves"],
)
def test_half_a_core_is_shared(allowed: set[int], cores: list[set[int]], isolation: Isolation, reason: str) -> None:
    found = isolation_of(allowed, len(allowed), 8, cores)
    assert (found.isolation, found.reason) == (isolation, reason)


def test_what_this_process_may_run_on_decides(of_two: set[int], tmp_path: Path) -> None:
    found = read_isolation(1, Tree(tmp_path))
    assert (found.isolation, found.reason) == (Isolation.EXCLUSIVE, "the pod has exclusive CPUs 0")
    assert read_isolation(2, Tree(tmp_path)).isolation is Isolation.BEST_EFFORT
    assert read_isolation(1) == isolation_of(of_two, 1, 2, read_cores(of_two, Tree()))


@pytest.mark.usefixtures("of_two")
def test_what_the_machine_says_of_its_cores_decides(tmp_path: Path) -> None:
    core = tmp_path / CPU / "cpu0" / "topology" / "thread_siblings_list"
    core.parent.mkdir(parents=True)
    core.write_text("0-1\n")
    found = read_isolation(1, Tree(tmp_path))
    assert found.isolation is Isolation.BEST_EFFORT
    assert found.reason.endswith("other processes may use CPUs 1, the second threads of the same cores")


@pytest.fixture
def of_two(monkeypatch: pytest.MonkeyPatch) -> set[int]:
    """One CPU of a machine's two, which this process may run on."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    return {0}
