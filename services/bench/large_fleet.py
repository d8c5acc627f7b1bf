"""A store with the machines of a large cluster, to measure the fleet's answer and its page.

`python -m bench.large_fleet FOLDER [--nodes NODES] [--pools POOLS] [--nights NIGHTS]` makes one. Every node measures
the sentinel and two versions every night, in one job. The first night is stored like any other, and the following ones
are copies of it.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from bench.large_store import FIRST_RUN, Extent, copy_results, open_large_store, run_of_spec, values_of
from kexbench.domain.fleet import SetAside
from kexbench.domain.hosts import HostFacts, HostLoad
from kexbench.domain.plans import Isolation, Job
from kexbench.domain.runs import JobAttempt, Run, RunEvent, RunState
from kexbench.domain.samples import Invocation, Metric, Sample
from kexbench.store.clickhouse import ClickHouseStore

INVOCATIONS = 6
"""Of a job."""
BATCHES = 4
COST_NS = 500_000.0
_SLOWER = 1.03
_SLOW_NIGHTS = 20
_SILENT_NIGHTS = 21
_SPEC = """\
apiVersion: kexbench.dev/v1
kind: Benchmark
metadata: {{ name: nightly, description: The sentinel on every node. }}
subjects:
  - openssl: [{sources}]
pools: [{pools}]
matrix:
  protocol: [TLSv1.3]
  keyExchange: [ECDHE-ECDSA]
  curve: [P-256]
  group: [X25519]
  cipher: [AES-128-GCM]
measure: {{ invocations: {invocations}, batches: {batches}, maxDuration: 100000h }}
"""


@dataclass(frozen=True)
class FleetExtent:
    pools: int = 20
    nodes: int = 50
    """Of each pool."""
    nights: int = 365


@dataclass(frozen=True)
class Troubled:
    """The nodes with something wrong, by their places among all."""

    slow: int
    silent: int
    evicted: int
    set_aside: int
    powersave: int


def troubled_of(extent: FleetExtent) -> Troubled:
    """Each in a pool of its own, if there are enough pools."""
    places = [(number % extent.pools) * extent.nodes + number % extent.nodes for number in range(1, 6)]
    return Troubled(*places)


def make_large_fleet(folder: Path, extent: FleetExtent) -> ClickHouseStore:
    store = open_large_store(folder)
    fill_fleet(store, extent)
    return store


def fill_fleet(store: ClickHouseStore, extent: FleetExtent) -> None:
    troubled = troubled_of(extent)
    first = night_of(extent, 0)
    jobs = first.plan.jobs
    for night in range(extent.nights):
        run = night_of(extent, night)
        store.add_run(run)
        for state, minutes in ((RunState.RUNNING, 0), (RunState.FINISHED, 60)):
            store.add_event(RunEvent(run_id=run.run_id, at=run.created_at + timedelta(minutes=minutes), state=state))
        if night == 0:
            for place, job in enumerate(jobs):
                store.add_attempt(attempt_at(extent, run, job, place), job.pool)
                store.add_invocations(run, list(_invocations(extent, run, job, place)), _host(extent, place))
            continue
        is_late = night >= extent.nights - _SLOW_NIGHTS
        is_silent = night >= extent.nights - _SILENT_NIGHTS
        copy_results(
            store,
            first,
            run,
            slower={jobs[troubled.slow].job_id: _SLOWER} if is_late else {},
            without=[jobs[troubled.silent].job_id] if is_silent else [],
        )
    store.summarise()
    newest = night_of(extent, extent.nights - 1)
    job, place = jobs[troubled.evicted], troubled.evicted
    neighbour = place + 1 if place + 1 < len(jobs) and jobs[place + 1].pool == job.pool else place - 1
    store.add_attempt(attempt_at(extent, newest, job, neighbour, attempt=2), job.pool)
    pool = jobs[troubled.set_aside].pool
    store.add_set_aside(
        SetAside(
            pool=pool,
            node=node_name(troubled.set_aside),
            number=1,
            at=newest.created_at,
            by="alice",
            reason="its fan failed",
            since=newest.created_at - timedelta(days=3),
        )
    )


def night_of(extent: FleetExtent, night: int) -> Run:
    """A run whose jobs are one for each node, in the order of the nodes."""
    names = [f"pool-{number:02d}" for number in range(1, extent.pools + 1)]
    spec = _SPEC.format(
        sources="debian/v0, debian/v1", pools=", ".join(names), invocations=INVOCATIONS, batches=BATCHES
    )
    run = run_of_spec(spec, Extent(runs=1, versions=2), 0, FIRST_RUN + timedelta(days=night), names)
    of_pool = {job.pool: job for job in run.plan.jobs}
    jobs = tuple(
        of_pool[pool].model_copy(
            update={
                "job_id": f"{pool}-{place:04d}",
                "first_invocation": INVOCATIONS * place,
                "invocations": INVOCATIONS,
            }
        )
        for number, pool in enumerate(names)
        for place in range(number * extent.nodes, (number + 1) * extent.nodes)
    )
    return run.model_copy(update={"host": None, "plan": run.plan.model_copy(update={"jobs": jobs})})


def node_name(place: int) -> str:
    return f"node-{place:04d}"


def attempt_at(extent: FleetExtent, run: Run, job: Job, place: int, attempt: int = 1) -> JobAttempt:
    """An attempt at a job on the node at a place."""
    return JobAttempt(
        run_id=run.run_id,
        job_id=job.job_id,
        attempt=attempt,
        host=_host(extent, place),
        isolation=Isolation.EXCLUSIVE,
        node=node_name(place),
        pod=f"{job.job_id}-{attempt}",
        pod_uid=f"{run.run_id}-{job.job_id}-{attempt}",
        started_at=run.created_at,
    )


def _host(extent: FleetExtent, place: int) -> HostFacts:
    """The nodes of a pool are comparable, but for their memory each is a host of its own."""
    pool = place // extent.nodes
    return HostFacts(
        cpu_model=f"AMD EPYC {9000 + pool}",
        architecture="x86_64",
        cpus=16,
        governor="powersave" if place == troubled_of(extent).powersave else "performance",
        turbo=False,
        virtualisation="none",
        kernel="6.1.0",
        memory_bytes=64_000_000_000 + place * 4096,
    )


def _invocations(extent: FleetExtent, run: Run, job: Job, place: int) -> Iterator[Invocation]:
    host_id = _host(extent, place).host_id
    (case_id,), (block,) = job.case_ids, job.blocks
    for number in job.numbers:
        started = run.created_at + timedelta(minutes=1, seconds=5 * (number % INVOCATIONS))
        yield Invocation(
            run_id=run.run_id,
            job_id=job.job_id,
            attempt=1,
            case_id=case_id,
            invocation=number,
            host_id=host_id,
            host_load=HostLoad(load_average_1m=0.1, steal_share=0.0, busy_share=0.5),
            started_at=started.isoformat(timespec="milliseconds"),
            negotiated={},
            samples=tuple(
                Sample(subject=reference, metric=Metric.CPU_NS, values=(COST_NS,) * BATCHES, level=COST_NS)
                for reference in block
            ),
            outcomes=(),
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--nodes", type=int, default=FleetExtent.nodes, help="of each pool")
    parser.add_argument("--pools", type=int, default=FleetExtent.pools)
    parser.add_argument("--nights", type=int, default=FleetExtent.nights)
    options = parser.parse_args()
    store = make_large_fleet(options.folder, FleetExtent(options.pools, options.nodes, options.nights))
    print(f"{values_of(store):,} values")
    store.close()


if __name__ == "__main__":
    main()
