"""Whether a pod has CPUs for itself, from the CPUs that it may run on.

A kubelet with the static CPU manager gives a Guaranteed pod that asks for whole CPUs just as many, which no other pod
may use. Without it, the pod may run on all CPUs that pods share, and its share of them is only a limit.
"""

import os
from dataclasses import dataclass

from kexbench.domain.plans import Isolation


@dataclass(frozen=True)
class Found:
    isolation: Isolation
    reason: str


def isolation_of(allowed: set[int], asked: int, cpus: int) -> Found:
    """`allowed`: CPUs that this process may run on; `asked`: how many the pod asked for; `cpus`: those of the node."""
    if len(allowed) == asked < cpus:
        return Found(Isolation.EXCLUSIVE, f"the pod has CPUs {_listed(allowed)} for itself")
    if len(allowed) > asked:
        reason = f"the pod asked for {asked} of {cpus} CPUs and may run on {len(allowed)}: they are shared"
    elif len(allowed) < asked:
        reason = f"the pod asked for {asked} CPUs and may run on {len(allowed)} only"
    else:
        reason = f"the pod has all {cpus} CPUs of its node, which the node's own processes use too"
    return Found(Isolation.BEST_EFFORT, reason)


def read_isolation(asked: int) -> Found:
    return isolation_of(os.sched_getaffinity(0), asked, os.cpu_count() or 1)


def _listed(cpus: set[int]) -> str:
    return ", ".join(map(str, sorted(cpus)))
