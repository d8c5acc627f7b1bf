"""Determines whether a pod has exclusive CPUs, from the CPUs that it may run on.

A kubelet with the static CPU manager gives a Guaranteed pod that requests whole CPUs exactly that many exclusive CPUs.
Without it, the pod may run on all shared CPUs, and its request is only a limit. With two threads a core, a pod has
exclusive CPUs only if it has both threads, since a load on the other one slows it down.
"""

import os
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from kexbench.domain.plans import Isolation
from kexbench.runner.tree import Tree, siblings_of


@dataclass(frozen=True)
class Found:
    isolation: Isolation
    reason: str


def isolation_of(allowed: set[int], requested: int, cpus: int, cores: Iterable[Collection[int]] = ()) -> Found:
    """`allowed`: the CPUs that this process may run on. `requested`: the number of CPUs that the pod requests.
    `cpus`: the number of CPUs of the node. `cores`: the CPUs of each core that the process may run on."""
    siblings = {cpu for core in cores for cpu in core} - allowed
    if len(allowed) == requested < cpus and not siblings:
        return Found(Isolation.EXCLUSIVE, f"the pod has exclusive CPUs {_listed(allowed)}")
    if len(allowed) == requested < cpus:
        second = f"other processes may use CPUs {_listed(siblings)}, the second threads of the same cores"
        reason = f"the pod has CPUs {_listed(allowed)}, but {second}"
    elif len(allowed) > requested:
        reason = f"the pod requested {requested} of {cpus} CPUs and may run on {len(allowed)}: they are shared"
    elif len(allowed) < requested:
        reason = f"the pod requested {requested} CPUs and may run on only {len(allowed)}"
    else:
        reason = f"the pod has all {cpus} CPUs of its node, which the node's own processes use too"
    return Found(Isolation.BEST_EFFORT, reason)


def read_isolation(requested: int, tree: Tree | None = None) -> Found:
    allowed = os.sched_getaffinity(0)
    return isolation_of(allowed, requested, os.cpu_count() or 1, read_cores(allowed, tree or Tree()))


def read_cores(cpus: Iterable[int], tree: Tree) -> list[frozenset[int]]:
    return [core for cpu in cpus if (core := siblings_of(tree, cpu))]


def _listed(cpus: set[int]) -> str:
    return ", ".join(map(str, sorted(cpus)))
