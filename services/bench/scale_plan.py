"""The input of the benchmark at scale: a generated spec of any number of cases, twenty pools, and their nodes."""

import statistics
import time
from dataclasses import dataclass
from datetime import UTC, datetime

from lightkube.models.core_v1 import NodeSpec, NodeStatus, Taint
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import Node

from kexbench.domain.plans import Plan
from kexbench.domain.pools import Pool, Toleration
from kexbench.domain.runs import Run, Trigger
from kexbench.planning.plan import make_plan
from kexbench.planning.spec import Catalogue

POOL_LABEL = "kexbench.dev/pool"
POOLS = tuple(
    Pool(
        name=f"pool-{number:02d}",
        architecture="x86_64",
        node_selector={POOL_LABEL: f"pool-{number:02d}"},
        tolerations=(Toleration(key=POOL_LABEL, operator="Exists", effect="NoSchedule"),),
        cpus=4,
        memory="4Gi",
    )
    for number in range(1, 21)
)
NODE = {"cpu": "8", "memory": "32Gi", "pods": "110"}
CASES_STEP = 1000
"""The number of cases for each number of threads."""
REPETITIONS = 3
_SPEC = """\
apiVersion: kexbench.dev/v1
kind: Benchmark
metadata: {{ name: scale, description: As many cases as a fleet of machines can measure. }}
subjects:
  - openssl: system
  - gnutls: system
pools: [{pools}]
matrix:
  protocol: [TLSv1.3]
  keyExchange: [ECDHE-RSA, ECDHE-RSA-PSS]
  rsaBits: [2048, 2560, 3072, 3584, 4096]
  group: [P-256, P-384, P-521, X25519, X448]
  cipher: [AES-128-GCM, AES-256-GCM]
  chainLength: [1, 2, 3, 4, 5]
  clientAuthentication: [false, true]
  threads: [{threads}]
measure: {{ invocations: 3, batches: 10, maxDuration: 100000h }}
"""


@dataclass(frozen=True)
class Planned:
    text: str
    plan: Plan
    seconds: float
    """Time from the text to the plan, the median of REPETITIONS."""
    bytes: int
    """Size of the plan as JSON."""

    def run(self) -> Run:
        return made_run(self.text, self.plan)


def made_run(text: str, plan: Plan) -> Run:
    """The run, as it is submitted to a cluster."""
    now = datetime.now(UTC)
    return Run(
        run_id=f"{now:%Y%m%d-%H%M%S}-00000000",
        created_at=now,
        trigger=Trigger.API,
        spec_text=text,
        plan=plan,
        kits={},
        host=None,
        material={},
    )


def plan_at_scale(cases: int, catalogue: Catalogue) -> Planned:
    text = spec_text(cases)
    plans, seconds = zip(*(_timed_plan(text, catalogue) for _ in range(REPETITIONS)), strict=True)
    return Planned(text, plans[0], statistics.median(seconds), len(plans[0].model_dump_json().encode()))


def _timed_plan(text: str, catalogue: Catalogue) -> tuple[Plan, float]:
    began = time.perf_counter()
    plan = make_plan(text, "scale.yaml", catalogue, pools=[pool.name for pool in POOLS])
    return plan, time.perf_counter() - began


def spec_text(cases: int) -> str:
    """A spec with `cases` cases, a multiple of CASES_STEP, in every pool."""
    threads = range(1, cases // CASES_STEP + 1)
    return _SPEC.format(pools=", ".join(pool.name for pool in POOLS), threads=", ".join(map(str, threads)))


def nodes_of(count: int, pools: tuple[Pool, ...] = POOLS) -> list[Node]:
    """Nodes as kubelets would register them, distributed evenly over the pools. Each accepts only its pool's jobs."""
    return [_node(f"node-{number:04d}", pools[number % len(pools)]) for number in range(count)]


def _node(name: str, pool: Pool) -> Node:
    labels = {**pool.node_selector, "kubernetes.io/hostname": name, "kubernetes.io/os": "linux"}
    return Node(
        metadata=ObjectMeta(name=name, labels=labels),
        spec=NodeSpec(taints=[Taint(key=POOL_LABEL, value=pool.name, effect="NoSchedule")]),
        status=NodeStatus(capacity=NODE, allocatable=NODE),
    )
