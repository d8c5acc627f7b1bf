"""Whether a pod has CPUs for itself, from the CPUs that it may run on.

A kubelet with the static CPU manager gives a Guaranteed pod that asks for whole CPUs just as many, which no other pod
may use. Without it, the pod may run on all CPUs that pods share, and its share of them is only a limit. With two
threads a core, a pod has CPUs for itself only if it has both: what runs on the other slows it.
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


def isolation_of(allowed: set[int], asked: int, cpus: int, cores: Iterable[Collection[int]] = ()) -> Found:
    """`allowed`: CPUs that this process may run on; `asked`: how many the pod asked for; `cpus`: those of the node;
    `cores`: the CPUs of each core that it may run on."""
    beside = {cpu for core in cores for cpu in core} - allowed
    if len(allowed) == asked < cpus and not beside:
        return Found(Isolation.EXCLUSIVE, f"the pod has CPUs {_listed(allowed)} for itself")
    if len(allowed) == asked < cpus:
        second = f"others may use CPUs {_listed(beside)}, which are second threads of the same cores"
        reason = f"the pod has CPUs {_listed(allowed)}, and {second}"
    elif len(allowed) > asked:
        reason = f"the pod asked for {asked} of {cpus} CPUs and may run on {len(allowed)}: they are shared"
    elif len(allowed) < asked:
        reason = f"the pod asked for {asked} CPUs and may run on {len(allowed)} only"
    else:
        reason = f"the pod has all {cpus} CPUs of its node, which the node's own processes use too"
    return Found(Isolation.BEST_EFFORT, reason)


def read_isolation(asked: int) -> Found:
    allowed = os.sched_getaffinity(0)
    return isolation_of(allowed, asked, os.cpu_count() or 1, read_cores(allowed))


def read_cores(cpus: Iterable[int]) -> list[frozenset[int]]:
    return [core for cpu in cpus if (core := siblings_of(Tree(), cpu))]


def _listed(cpus: set[int]) -> str:
    return ", ".join(map(str, sorted(cpus)))
