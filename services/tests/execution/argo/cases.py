"""Pools, settings and runs that the tests of this room share."""

from kexbench.domain.plans import Job
from kexbench.domain.pools import Pool, Toleration
from kexbench.domain.runs import Run
from kexbench.execution.argo.pods import JobSettings
from kexbench.planning.plan import make_plan
from tests.builders import SPEC, a_catalogue, a_run

AMD = Pool(
    name="amd-epyc",
    architecture="x86_64",
    node_selector={"kexbench.dev/pool": "amd-epyc"},
    tolerations=(Toleration(key="kexbench.dev/pool", operator="Exists", effect="NoSchedule"),),
    cpus=2,
    memory="1Gi",
)
ARM = Pool(name="arm.n1", architecture="aarch64", node_selector={"kexbench.dev/pool": "arm.n1"}, cpus=1, memory="512Mi")
POOLS = {pool.name: pool for pool in (AMD, ARM)}
SETTINGS = JobSettings(
    namespace="kexbench-jobs",
    runner_image="registry.example/kexbench/runner:1",
    builder_image="registry.example/kexbench/builder:1",
    api_url="http://kexbench-api.kexbench.svc:8350",
)


def a_cluster_run(run_id: str = "20260101-120000-0a0b0c0d", *, jobs: int | None = None) -> Run:
    """A run over both pools: two jobs on each, or as many in all as are asked for."""
    plan = make_plan(SPEC + "pools: [amd-epyc, arm.n1]\n", "spec.yaml", a_catalogue(), pools=POOLS)
    if jobs is not None:
        plan = plan.model_copy(update={"jobs": tuple(_a_job(plan.jobs[0], number) for number in range(jobs))})
    return a_run(run_id).model_copy(update={"plan": plan, "kits": {}})


def _a_job(like: Job, number: int) -> Job:
    pool = AMD.name if number % 3 else ARM.name
    return like.model_copy(update={"job_id": f"{number:016x}", "pool": pool, "first_invocation": number})
