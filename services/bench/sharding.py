"""The jobs of one plan on more and more simulated nodes. Planner, dispatcher, Kubernetes and Argo are real. Each job
lasts as long as this module says, so what they add is what is measured."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from bench.machine import BenchError, Scale, all_cpus
from bench.scale import dispatch
from bench.scale_cluster import FAILURES, ended_at, simulation
from bench.scale_dispatcher import Dispatching
from bench.scale_plan import POOLS, made_run, nodes_of
from kexbench.domain.pools import Pool
from kexbench.planning.plan import make_plan
from kexbench.planning.spec import Catalogue
from kexbench.runner.cpus import Cpus

_SPEC = """\
apiVersion: kexbench.dev/v1
kind: Benchmark
metadata: {{ name: sharded }}
subjects:
  - openssl: system
  - gnutls: system
pools: [{pools}]
matrix:
  protocol: [TLSv1.3]
  keyExchange: [ECDHE-RSA, ECDHE-ECDSA]
measure: {{ invocations: {jobs}, jobs: {jobs}, batches: 10, maxDuration: 1000h }}
"""


@dataclass(frozen=True)
class Sharded:
    """A plan that ran. Every pool has the same number of nodes and of jobs."""

    pools: int
    nodes: int
    jobs: int
    job_s: int
    ended_s: float
    """From the submission to the end of the last job."""

    @property
    def share_used(self) -> float:
        """The part of all nodes' time in which a job ran."""
        return self.jobs * self.job_s / (self.nodes * self.ended_s)


def measure_sharding(catalogue: Catalogue, cpus: Cpus, scale: Scale) -> Iterator[Sharded]:
    """One pool with one node, and with more; then every pool with its part of the scale's nodes. Raises BenchError."""
    one = POOLS[:1]
    for nodes in scale.shard_nodes:
        yield _sharded(catalogue, cpus, one, nodes, jobs=2 * scale.shard_nodes[-1], job_s=10)
    yield _sharded(catalogue, cpus, POOLS, scale.nodes, jobs=2 * scale.nodes // len(POOLS), job_s=60)


def _sharded(catalogue: Catalogue, cpus: Cpus, pools: tuple[Pool, ...], nodes: int, jobs: int, job_s: int) -> Sharded:
    """`jobs`: of each pool. Raises BenchError."""
    text = _SPEC.format(pools=", ".join(pool.name for pool in pools), jobs=jobs)
    plan = make_plan(text, "sharded.yaml", catalogue, pools=[pool.name for pool in pools])
    try:
        with all_cpus(cpus), simulation(job_s * 1000) as running:
            running.fill(nodes_of(nodes, pools))
            began = datetime.now(UTC)
            for _ in dispatch(Dispatching(made_run(text, plan), running.dispatchers, pools)):
                pass
            ended_s = (ended_at(running.workflows()) - began).total_seconds()
    except FAILURES as error:
        raise BenchError(str(error)) from error
    return Sharded(pools=len(pools), nodes=nodes, jobs=len(plan.jobs), job_s=job_s, ended_s=ended_s)
