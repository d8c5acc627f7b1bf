"""Planning and running at scale on a simulated cluster. Planner, dispatcher, Kubernetes and Argo are real, and KWOK
simulates the nodes."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from bench.machine import BenchError, Scale, all_cpus
from bench.scale_cluster import FAILURES, Simulation, ended_at, simulation, stored_bytes
from bench.scale_dispatcher import SETTINGS, Dispatching, Look
from bench.scale_plan import POOLS, Planned, nodes_of, plan_at_scale
from kexbench.dispatcher.loop import INTERVAL_S
from kexbench.domain.runs import Run, RunState
from kexbench.execution.argo.workflows import run_workflows
from kexbench.planning.spec import Catalogue
from kexbench.runner.cpus import Cpus

DEADLINE_S = 900


@dataclass(frozen=True)
class Simulated:
    """The execution of a plan on the simulated cluster. Times count from the start of the submission."""

    nodes: int
    workflows: int
    pods: int
    submitted_s: float
    bound_s: float
    ended_s: float
    scheduler_s: float
    """The time within which 99% of the pods were bound."""
    looks: tuple[Look, ...]
    submitted_bytes: int
    ended_bytes: int
    """Size of the largest workflow, including Argo's status of its jobs."""
    peak_bytes: Mapping[str, int]


@dataclass(frozen=True)
class Scaled:
    planned: Planned
    simulated: Simulated | str
    """A text is the reason why nothing was simulated."""


def measure_scale(catalogue: Catalogue, cpus: Cpus, scale: Scale) -> Scaled:
    planned = plan_at_scale(scale.cases, catalogue)
    try:
        with all_cpus(cpus), simulation() as running:
            return Scaled(planned, _simulate(running, planned, scale.nodes))
    except FAILURES as error:
        return Scaled(planned, str(error))


def _simulate(running: Simulation, planned: Planned, nodes: int) -> Simulated:
    """Raises BenchError if the run does not finish, or not in time."""
    running.fill(nodes_of(nodes))
    run = planned.run()
    dispatching = Dispatching(run, running.dispatchers, POOLS)
    began = datetime.now(UTC)
    first, *looks = dispatch(dispatching)
    workflows, bound = running.workflows(), running.bound_at()
    return Simulated(
        nodes=nodes,
        workflows=len(workflows),
        pods=len(bound),
        submitted_s=first.seconds,
        bound_s=(max(bound) - began).total_seconds(),
        ended_s=(ended_at(workflows) - began).total_seconds(),
        scheduler_s=running.scheduler_s(0.99),
        looks=tuple(looks),
        submitted_bytes=max(map(stored_bytes, _manifests(run))),
        ended_bytes=max(map(stored_bytes, workflows)),
        peak_bytes=running.peak_bytes(),
    )


def dispatch(dispatching: Dispatching) -> Iterator[Look]:
    """Rounds of the dispatcher until the run has ended. The first one submits it. Raises BenchError."""
    deadline = time.monotonic() + DEADLINE_S
    while dispatching.newest.state.is_open:
        if time.monotonic() > deadline:
            raise BenchError(f"the run was not finished within {DEADLINE_S} s: {dispatching.newest.detail}")
        yield dispatching.look()
        time.sleep(INTERVAL_S)
    if dispatching.newest.state is not RunState.FINISHED:
        raise BenchError(f"the run is {dispatching.newest.state}: {dispatching.newest.detail}")


def _manifests(run: Run) -> tuple[dict[str, object], ...]:
    return run_workflows(run, 1, run.plan.jobs, {pool.name: pool for pool in POOLS}, SETTINGS)
