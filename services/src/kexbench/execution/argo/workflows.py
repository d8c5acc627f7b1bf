"""A run as Argo Workflows: a pure function from a run and its pools to workflows. Valid for Argo 3.7 and 4.0.

Each job has one pod. The place in the plan decides a job's workflow, so a job is always in the same one. A workflow
holds jobs of a single pool, so a waiting pool does not hold up another.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from types import MappingProxyType
from typing import Any

from hera.workflows import models as argo
from hera.workflows.models.io.argoproj.workflow.v1alpha1 import UserContainer
from hera.workflows.models.io.k8s.api.core import v1

from kexbench.domain.plans import Job, Plan
from kexbench.domain.pools import Architecture, Pool
from kexbench.domain.runs import Run
from kexbench.execution.argo import names, pods
from kexbench.execution.argo.cluster import ClusterError
from kexbench.execution.argo.pods import JobSettings
from kexbench.planning.estimate import job_seconds

JOBS_PER_WORKFLOW = 200
"""With Argo's notes on each job, half a megabyte; etcd accepts one and a half."""
PODS_AT_ONCE = 8
"""Concurrent pods of one workflow, or the number of its pool's nodes if that is larger. The nodes decide how many run,
one on each."""
RETRIES = 2
SLACK = 4
"""Factor on the estimate, which is rough and for a fast machine."""
AROUND_MEASURING_S = 900
"""Time for the image, the kits and the upload."""
BUILD_DEADLINE_S = 2 * 3600
KEPT_S = 24 * 3600
"""An ended workflow is kept for this time."""
POD_KEPT = "120s"
LOST = "low on resource|[Ee]vict|[Ss]hutdown|shutting down|[Pp]reempt|unresponsive|NodeLost"
"""Messages of Kubernetes about pods that their node or an administrator ended."""
OURS = "(main|fetch|build): .*exit code [2456][)]"
"""2 unusable, 4 not isolated, 5 refused by the API, 6 unbuildable: a retry would end the same way. Only for our
containers: Argo's own end with such a status if Kubernetes does not answer them."""
ENDED = "main: .*exit code (3|143)[)]"
"""The pod was asked to stop, for example because its node was drained: while it measured, or at any other time (128 and
the number of SIGTERM). Argo retries nothing in a stopped workflow, so this is not a cancelled run."""
UNBUILDABLE = r"^build: .*exit code 6\)"
"""The sources of a kit do not build on any node."""

_AGAIN = (
    f"not (lastRetry.message matches '{OURS}') and "
    f"(lastRetry.status == 'Error' or lastRetry.message matches '{LOST}|{ENDED}')"
)
"""Error means a fault of the cluster, such as a pod that is lost with its node; Failed is a container's fault or
LOST."""


@dataclass(frozen=True, order=True)
class WantedKit:
    """A subject's kit for the nodes of an architecture."""

    reference: str
    architecture: Architecture

    def __str__(self) -> str:
        return f"{self.reference} for {self.architecture}"


def chunks_of(plan: Plan) -> tuple[tuple[str, tuple[Job, ...]], ...]:
    """All jobs of a plan by pool, in chunks for one workflow each; a workflow's number is the place of its chunk."""
    by_pool = sorted(plan.jobs, key=lambda job: plan.pools.index(job.pool))
    pieces = []
    for pool, jobs in groupby(by_pool, key=lambda job: job.pool):
        whole = tuple(jobs)
        pieces += [
            (pool, whole[start : start + JOBS_PER_WORKFLOW]) for start in range(0, len(whole), JOBS_PER_WORKFLOW)
        ]
    return tuple(pieces)


def run_workflows(
    run: Run,
    series: int,
    jobs: Sequence[Job],
    pools: Mapping[str, Pool],
    settings: JobSettings,
    nodes: Mapping[str, int] = MappingProxyType({}),
) -> tuple[dict[str, Any], ...]:
    """The workflows that run these jobs of a run. `nodes`: the known number of nodes of each pool."""
    job_ids = {job.job_id for job in jobs}
    deadlines = job_deadlines_s(run.plan)
    workflows = []
    for number, (pool, piece) in enumerate(chunks_of(run.plan)):
        if here := [job for job in piece if job.job_id in job_ids]:
            name = names.job_workflow_name(run.run_id, series, number)
            at_once = max(PODS_AT_ONCE, nodes.get(pool, 0))
            deadline_s = max(deadlines[job.job_id] for job in here)
            workflows.append(_workflow_of_jobs(name, run, series, here, pools[pool], settings, at_once, deadline_s))
    return tuple(workflows)


def kits_workflow(
    run_id: str, series: int, kits: Sequence[WantedKit], pools: Mapping[str, Pool], settings: JobSettings
) -> dict[str, Any]:
    """The workflow that builds kits, one pod each, on the first pool of the kit's architecture. Raises ClusterError if
    there is no such pool."""
    builders = {pool.architecture: pool for pool in reversed(tuple(pools.values()))}
    for kit in kits:
        if kit.architecture not in builders:
            raise ClusterError(
                f"building {kit}: no pool of the run is {kit.architecture}\n"
                "  remedy: give the dispatcher and the API the same pools"
            )
    labels = names.labels_of(run_id, series)
    templates = [
        _builder(labels, builders[architecture], settings)
        for architecture in sorted({kit.architecture for kit in kits})
    ]
    tasks = [
        _task(f"kit-{number}", f"build-{_dashed(kit.architecture)}", "reference", kit.reference)
        for number, kit in enumerate(sorted(kits))
    ]
    name = names.kits_workflow_name(run_id, series)
    return _workflow(name, labels, {}, templates, tasks, settings.builder_service_account, settings, PODS_AT_ONCE)


def line_workflow(
    bisection_id: str, series: int, ends: tuple[str, str], pool: Pool, settings: JobSettings
) -> dict[str, Any]:
    """The workflow that finds the commits between two references, in one pod. Building pods have git and reach the
    sources."""
    labels = names.labels_of(bisection_id, series)
    good, bad = ends
    environment = pods.environment_of(
        settings, {"KEXBENCH_BISECTION_ID": bisection_id, "KEXBENCH_GOOD": good, "KEXBENCH_BAD": bad}
    )
    template = _pod_template(
        name="line",
        parameter="reference",
        labels={**labels, names.POOL: pool.name},
        deadline_s=BUILD_DEADLINE_S,
        main=pods.own_container(["line"], settings.builder_image, environment, pods.whole_cpus(pool), settings),
        disk=pods.BUILD_DISK,
        pool=pool,
        settings=settings,
    )
    name = names.line_workflow_name(bisection_id, series)
    tasks = [_task("line", "line", "reference", bad)]
    return _workflow(name, labels, {}, [template], tasks, settings.builder_service_account, settings, PODS_AT_ONCE)


def job_deadlines_s(plan: Plan) -> dict[str, int]:
    """The time limit in seconds of each job's pod, by the job's id: the estimate with slack, at most the spec's
    limit."""
    return {
        job_id: AROUND_MEASURING_S + min(round(SLACK * seconds), plan.measure.max_duration_s)
        for job_id, seconds in job_seconds(plan).items()
    }


def retry_strategy() -> argo.RetryStrategy:
    """Retries only if the end of a pod was not its own failure."""
    return argo.RetryStrategy.model_validate({"limit": str(RETRIES), "retryPolicy": "Always", "expression": _AGAIN})


def _workflow_of_jobs(
    name: str,
    run: Run,
    series: int,
    jobs: Sequence[Job],
    pool: Pool,
    settings: JobSettings,
    at_once: int,
    deadline_s: int,
) -> dict[str, Any]:
    labels = {**names.labels_of(run.run_id, series), names.SPEC: run.plan.spec_name}
    # Attempts of a job are numbered across submissions, so no two have the same number.
    before = (series - 1) * (RETRIES + 1)
    environment = {
        **pods.environment_of(settings, {"KEXBENCH_RUN_ID": run.run_id, "KEXBENCH_CPUS": str(pool.cpus)}),
        "KEXBENCH_JOB_ID": "{{inputs.parameters.job}}",
        "KEXBENCH_ATTEMPT": f"{{{{=sprig.int(retries) + {before + 1}}}}}",
    }
    main = pods.measuring_container(environment, pool, settings)
    fetch = pods.own_container(
        ["fetch"],
        settings.runner_image,
        environment,
        pods.whole_cpus(pool),
        settings,
        site_env=settings.site.job_env,
    )
    template = _pod_template(
        name="job",
        parameter="job",
        labels={**labels, names.POOL: pool.name, names.JOB: "{{inputs.parameters.job}}"},
        deadline_s=deadline_s,
        main=main,
        disk=pods.JOB_DISK,
        pool=pool,
        settings=settings,
    )
    template.init_containers = [UserContainer(name="fetch", **fetch)]
    tasks = [_task(f"job-{job.job_id}", "job", "job", job.job_id) for job in jobs]
    annotations = {names.PLAN: run.plan.plan_id}
    return _workflow(name, labels, annotations, [template], tasks, settings.job_service_account, settings, at_once)


def _builder(labels: dict[str, str], pool: Pool, settings: JobSettings) -> argo.Template:
    reference = "{{inputs.parameters.reference}}"
    kit = {"KEXBENCH_REFERENCE": reference, "KEXBENCH_ARCHITECTURE": pool.architecture}
    template = _pod_template(
        name=f"build-{_dashed(pool.architecture)}",
        parameter="reference",
        labels={**labels, names.POOL: pool.name},
        deadline_s=BUILD_DEADLINE_S,
        main=pods.sending_container(pool, settings),
        disk=pods.BUILD_DISK,
        pool=pool,
        settings=settings,
    )
    template.init_containers = [UserContainer(name="build", **pods.building_container(kit, pool, settings))]
    template.volumes = [*(template.volumes or []), pods.built_volume()]
    template.pod_spec_patch = pods.executor_patch(settings, "build")
    assert template.metadata is not None
    # The kit that the pod's token may send.
    template.metadata.annotations = {names.REFERENCE: reference, names.ARCHITECTURE: pool.architecture}
    return template


def _pod_template(
    *,
    name: str,
    parameter: str,
    labels: dict[str, str],
    deadline_s: int,
    main: dict[str, object],
    disk: str,
    pool: Pool,
    settings: JobSettings,
) -> argo.Template:
    """A pod of a run, on a node of the pool."""
    return argo.Template.model_validate(
        {
            "name": name,
            "inputs": argo.Inputs(parameters=[argo.Parameter(name=parameter)]),
            "metadata": argo.Metadata(labels=labels),
            "active_deadline_seconds": deadline_s,
            "retry_strategy": retry_strategy(),
            "container": v1.Container.model_validate(main),
            "volumes": pods.volumes(disk, settings),
            "pod_spec_patch": pods.executor_patch(settings),
            **pods.placement(pool),
        }
    )


def _task(name: str, template: str, parameter: str, value: str) -> argo.DAGTask:
    return argo.DAGTask(
        name=name,
        template=template,
        arguments=argo.Arguments(parameters=[argo.Parameter(name=parameter, value=value)]),
    )


def _workflow(
    name: str,
    labels: dict[str, str],
    annotations: dict[str, str],
    templates: Sequence[argo.Template],
    tasks: list[argo.DAGTask],
    service_account: str,
    settings: JobSettings,
    at_once: int,
) -> dict[str, Any]:
    workflow = argo.Workflow(
        api_version="argoproj.io/v1alpha1",
        kind="Workflow",
        metadata=argo.ObjectMeta(
            name=name, namespace=settings.namespace, labels=labels, annotations=annotations or None
        ),
        spec=argo.WorkflowSpec(
            entrypoint="all",
            # A failed job does not end the others.
            templates=[argo.Template(name="all", dag=argo.DAGTemplate(tasks=tasks, fail_fast=False)), *templates],
            parallelism=at_once,
            service_account_name=service_account,
            security_context=pods.pod_security(settings),
            pod_priority_class_name=settings.site.priority_class_name or None,
            pod_gc=argo.PodGC(strategy="OnPodCompletion", delete_delay_duration=POD_KEPT),
            ttl_strategy=argo.TTLStrategy(seconds_after_completion=KEPT_S),
        ),
    )
    manifest: dict[str, Any] = workflow.model_dump(mode="json", by_alias=True, exclude_none=True)
    return manifest


def _dashed(architecture: str) -> str:
    return architecture.replace("_", "-")
