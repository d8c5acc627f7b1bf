"""Schedules as CronWorkflows: a pure function from wanted and existing objects to actions. Valid for Argo 3.7 and 4.0.

Argo is only the clock: its pod requests a run from the API, which then plans the spec.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hera.workflows import models as argo
from hera.workflows.models.io.k8s.api.core import v1

from kexbench.domain.canonical import content_hash
from kexbench.execution.argo import names, pods
from kexbench.execution.argo.pods import JobSettings
from kexbench.execution.argo.workflows import POD_KEPT, retry_strategy

CAUGHT_UP_S = 24 * 3600
"""A missed time is caught up within this time; of several only the last one."""
DEADLINE_S = 3600
"""Enough to pull the image and to wait for an API that is away."""
SUCCEEDED_KEPT, FAILED_KEPT = 1, 3
_TEMPLATE = "submit"


@dataclass(frozen=True)
class ApplyCron:
    manifest: Mapping[str, Any]


@dataclass(frozen=True)
class DeleteCron:
    name: str


def decide_crons(
    schedules: Mapping[str, str], existing: Mapping[str, str], settings: JobSettings
) -> tuple[ApplyCron | DeleteCron, ...]:
    """`schedules`: the times of schedules by their names. `existing`: the content hash of each CronWorkflow by its own
    name."""
    manifests = {
        names.cron_workflow_name(name): cron_workflow(name, cron, settings) for name, cron in sorted(schedules.items())
    }
    surplus = tuple(DeleteCron(name) for name in sorted(existing.keys() - manifests.keys()))
    return surplus + tuple(
        ApplyCron(manifest)
        for name, manifest in manifests.items()
        if existing.get(name) != manifest["metadata"]["annotations"][names.CONTENT]
    )


def cron_workflow(name: str, cron: str, settings: JobSettings) -> dict[str, Any]:
    """The CronWorkflow of a schedule, with a hash of its content to detect changes."""
    labels = names.schedule_labels(name)
    workflow = argo.CronWorkflow(
        api_version="argoproj.io/v1alpha1",
        kind="CronWorkflow",
        metadata=argo.ObjectMeta(name=names.cron_workflow_name(name), namespace=settings.namespace, labels=labels),
        spec=argo.CronWorkflowSpec(
            schedules=[cron],
            timezone="UTC",
            concurrency_policy="Forbid",
            starting_deadline_seconds=CAUGHT_UP_S,
            successful_jobs_history_limit=SUCCEEDED_KEPT,
            failed_jobs_history_limit=FAILED_KEPT,
            suspend=False,
            workflow_metadata=argo.ObjectMeta(labels=labels),
            workflow_spec=argo.WorkflowSpec(
                entrypoint=_TEMPLATE,
                templates=[_template(name, labels, settings)],
                service_account_name=settings.job_service_account,
                security_context=pods.pod_security(settings),
                pod_priority_class_name=settings.site.priority_class_name or None,
                pod_gc=argo.PodGC(strategy="OnPodCompletion", delete_delay_duration=POD_KEPT),
            ),
        ),
    )
    manifest: dict[str, Any] = workflow.model_dump(mode="json", by_alias=True, exclude_none=True)
    manifest["metadata"]["annotations"] = {names.CONTENT: content_hash(manifest)}
    return manifest


def _template(name: str, labels: dict[str, str], settings: JobSettings) -> argo.Template:
    """One small pod on any node; measuring pods keep it off theirs."""
    environment = pods.environment_of(
        settings, {"KEXBENCH_SCHEDULE": name, "KEXBENCH_SCHEDULED_TIME": "{{workflow.scheduledTime}}"}
    )
    main = pods.own_container([_TEMPLATE], settings.runner_image, environment, pods.little(), settings)
    return argo.Template.model_validate(
        {
            "name": _TEMPLATE,
            "metadata": argo.Metadata(labels=labels),
            "active_deadline_seconds": DEADLINE_S,
            "retry_strategy": retry_strategy(),
            "container": v1.Container.model_validate(main),
            "volumes": pods.volumes(pods.SCRATCH_DISK, settings),
            "pod_spec_patch": pods.executor_patch(settings),
        }
    )
