"""The pods of jobs and kit builds: their containers, nodes, resources and restrictions."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from hera.workflows import models as argo
from hera.workflows.models.io.k8s.api.core import v1

from kexbench.domain.pools import Pool
from kexbench.execution.argo import names
from kexbench.planning.job_pods import JobPods

HOME = "/var/lib/kexbench"
USER = 65_532
"""An unprivileged user."""
TOKEN_FOLDER = "/var/run/secrets/kexbench"  # noqa: S105 (a folder, no secret)
TOKEN_LIFETIME_S = 3600
"""Kubernetes renews the file long before it expires."""
JOB_DISK, BUILD_DISK, SCRATCH_DISK = "4Gi", "20Gi", "1Gi"
BUILT_FOLDER = "/var/lib/kexbench-built"
ARGO_FOLDER = "/var/run/argo"
"""The folder with Argo's start program, which Argo mounts in each container."""
_ARGO_TOKEN_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount"  # noqa: S105
_HOSTNAME = "kubernetes.io/hostname"
_WORKING = (
    v1.VolumeMount(name="work", mount_path=HOME),
    v1.VolumeMount(name="scratch", mount_path="/tmp"),  # noqa: S108 (a volume of the pod)
)
_TOKEN = v1.VolumeMount(name="token", mount_path=TOKEN_FOLDER, read_only=True)


@dataclass(frozen=True)
class JobSettings:
    """Settings of a cluster's pods that do not depend on the job."""

    namespace: str
    runner_image: str
    builder_image: str
    api_url: str
    image_pull_policy: str = "IfNotPresent"
    job_service_account: str = "kexbench-job"
    builder_service_account: str = "kexbench-builder"
    audience: str = "kexbench"
    site: JobPods = field(default_factory=JobPods)
    executor_cpu: str = "100m"
    executor_memory: str = "128Mi"
    """For each of Argo's own two containers."""


def whole_cpus(pool: Pool) -> v1.ResourceRequirements:
    """Requests equal to limits, so that CPUs can be exclusive."""
    return _exactly({"cpu": str(pool.cpus), "memory": pool.memory})


def little() -> v1.ResourceRequirements:
    """For a pod that only sends requests and measures nothing."""
    return v1.ResourceRequirements.model_validate(
        {"requests": {"cpu": "50m", "memory": "256Mi"}, "limits": {"cpu": "1", "memory": "256Mi"}}
    )


def measuring_container(environment: Mapping[str, str], pool: Pool, settings: JobSettings) -> dict[str, object]:
    """It emulates paths where the site lets it: without a capability, in a user namespace of its own."""
    site = settings.site
    container = own_container(
        ["measure"], settings.runner_image, environment, whole_cpus(pool), settings, site_env=site.job_env
    )
    if site.paths:
        profile = v1.SeccompProfile(type="Localhost", localhost_profile=site.paths.seccomp_profile)
        container["resources"] = _exactly({"cpu": str(pool.cpus), "memory": pool.memory, site.paths.device: "1"})
        container["security_context"] = _confined(read_only=True, seccomp=profile)
    return container


def building_container(environment: Mapping[str, str], pool: Pool, settings: JobSettings) -> dict[str, object]:
    """It runs scripts of the sources, so it has no token, and shares no program with another container."""
    mounts = [*_WORKING, v1.VolumeMount(name="built", mount_path=BUILT_FOLDER)]
    variables = {**environment, "HOME": HOME}
    return own_container(["build"], settings.builder_image, variables, whole_cpus(pool), settings, mounts)


def sending_container(pool: Pool, settings: JobSettings) -> dict[str, object]:
    """It has the token, and can only read the kit that the other container wrote."""
    built = v1.VolumeMount(name="built", mount_path=BUILT_FOLDER, read_only=True)
    environment = environment_of(settings, {})
    return own_container(["send"], settings.builder_image, environment, whole_cpus(pool), settings, [built, _TOKEN])


def own_container(
    arguments: Sequence[str],
    image: str,
    environment: Mapping[str, str],
    resources: v1.ResourceRequirements,
    settings: JobSettings,
    mounts: Sequence[v1.VolumeMount] = (*_WORKING, _TOKEN),
    site_env: Sequence[Mapping[str, Any]] = (),
) -> dict[str, object]:
    """The fields of a container with our agent, for main and init containers; by default with its token. `site_env`:
    variables of the site for this container alone."""
    return {
        "image": image,
        "image_pull_policy": settings.image_pull_policy,
        "command": ["python3", "-m", "kexbench.agent", *arguments],
        # The site's variables come first, so that ours override them.
        "env": [v1.EnvVar.model_validate(variable) for variable in (*settings.site.env, *site_env)]
        + [v1.EnvVar(name=name, value=value) for name, value in environment.items()]
        + _pod_variables(),
        "resources": resources,
        "security_context": _confined(read_only=True),
        "termination_message_policy": "FallbackToLogsOnError",
        "volume_mounts": [*mounts, *(v1.VolumeMount.model_validate(mount) for mount in settings.site.volume_mounts)],
    }


def environment_of(settings: JobSettings, more: Mapping[str, str]) -> dict[str, str]:
    """The variables of every agent, and `more`. An agent may write only below HOME and in the scratch folder."""
    return {
        "KEXBENCH_API_URL": settings.api_url,
        "KEXBENCH_TOKEN_FILE": str(PurePosixPath(TOKEN_FOLDER) / "token"),
        **more,
        "HOME": HOME,
    }


def volumes(disk: str, settings: JobSettings) -> list[v1.Volume]:
    token = v1.ServiceAccountTokenProjection(
        audience=settings.audience, expiration_seconds=TOKEN_LIFETIME_S, path="token"
    )
    return [
        _empty("work", disk),
        _empty("scratch", SCRATCH_DISK),
        v1.Volume(name="token", projected=_projected([v1.VolumeProjection(service_account_token=token)])),
        v1.Volume(name="argo-token", projected=_projected(_kubernetes_access())),
        *(v1.Volume.model_validate(volume) for volume in settings.site.volumes),
    ]


def built_volume() -> v1.Volume:
    return _empty("built", JOB_DISK)


def placement(pool: Pool) -> dict[str, object]:
    """The template's fields that select nodes. A node never has two pods of kexbench at a time: concurrent jobs of a
    case run on different nodes, and no build disturbs a measurement."""
    ours = argo.LabelSelector(match_labels={names.PART_OF: names.KEXBENCH})
    apart = v1.PodAffinityTerm(label_selector=ours, topology_key=_HOSTNAME)
    affinity = v1.Affinity(
        pod_anti_affinity=v1.PodAntiAffinity(required_during_scheduling_ignored_during_execution=[apart])
    )
    if pool.avoided_nodes:
        affinity.node_affinity = v1.NodeAffinity(
            required_during_scheduling_ignored_during_execution=_none_of(pool.avoided_nodes)
        )
    return {
        "node_selector": dict(pool.node_selector),
        "tolerations": [v1.Toleration(**toleration.model_dump(exclude_none=True)) for toleration in pool.tolerations],
        "affinity": affinity,
    }


def _none_of(nodes: Sequence[str]) -> v1.NodeSelector:
    """By name, not by the label `hostname`, which may differ. A requirement on a field takes one value."""
    others = [v1.NodeSelectorRequirement(key="metadata.name", operator="NotIn", values=[node]) for node in nodes]
    return v1.NodeSelector(node_selector_terms=[v1.NodeSelectorTerm(match_fields=others)])


def pod_security(settings: JobSettings) -> v1.PodSecurityContext:
    """The restricted Pod Security standard; without a user id if the platform assigns one."""
    user = None if settings.site.user_from_platform else USER
    return v1.PodSecurityContext(
        run_as_non_root=True,
        run_as_user=user,
        run_as_group=user,
        fs_group=user,
        seccomp_profile=v1.SeccompProfile(type="RuntimeDefault"),
    )


def executor_patch(settings: JobSettings, *reading: str) -> str:
    """Settings of Argo's own containers, which a workflow can only set by a patch. Their requests equal their limits:
    otherwise the pod is not Guaranteed and gets no exclusive CPUs. Only they get a token for Kubernetes, to report
    with; Argo's own field for it needs a secret that never expires. Init containers named in `reading` may only read
    Argo's start program, so that they cannot replace it."""
    own = {
        "resources": _plain(_exactly({"cpu": settings.executor_cpu, "memory": settings.executor_memory})),
        # Argo's executor writes to its root file system (argo-workflows issue 10787).
        "securityContext": _plain(_confined(read_only=False)),
        "volumeMounts": [{"name": "argo-token", "mountPath": _ARGO_TOKEN_FOLDER, "readOnly": True}],
    }
    patch = {
        "automountServiceAccountToken": False,
        "initContainers": [
            {"name": "init", **own},
            *({"name": name, "volumeMounts": [_ARGO_READ_ONLY]} for name in reading),
        ],
        "containers": [{"name": "wait", **own}],
    }
    return json.dumps(patch, sort_keys=True)


_ARGO_READ_ONLY = {"name": "var-run-argo", "mountPath": ARGO_FOLDER, "readOnly": True}


def _pod_variables() -> list[v1.EnvVar]:
    fields = {
        "KEXBENCH_POD_NAME": "metadata.name",
        "KEXBENCH_POD_UID": "metadata.uid",
        "KEXBENCH_NODE_NAME": "spec.nodeName",
    }
    return [
        v1.EnvVar(name=name, value_from=v1.EnvVarSource(field_ref=v1.ObjectFieldSelector(field_path=path)))
        for name, path in fields.items()
    ]


def _kubernetes_access() -> list[v1.VolumeProjection]:
    """The files that Kubernetes would otherwise mount into every container."""
    root = v1.ConfigMapProjection(name="kube-root-ca.crt", items=[v1.KeyToPath(key="ca.crt", path="ca.crt")])
    namespace = v1.DownwardAPIVolumeFile(
        path="namespace", field_ref=v1.ObjectFieldSelector(field_path="metadata.namespace")
    )
    token = v1.ServiceAccountTokenProjection(expiration_seconds=TOKEN_LIFETIME_S, path="token")
    return [
        v1.VolumeProjection(service_account_token=token),
        v1.VolumeProjection(config_map=root),
        v1.VolumeProjection(downward_api=v1.DownwardAPIProjection(items=[namespace])),
    ]


_RUNTIME_DEFAULT = v1.SeccompProfile(type="RuntimeDefault")


def _confined(*, read_only: bool, seccomp: v1.SeccompProfile = _RUNTIME_DEFAULT) -> v1.SecurityContext:
    return v1.SecurityContext(
        allow_privilege_escalation=False,
        capabilities=v1.Capabilities(drop=["ALL"]),
        read_only_root_filesystem=True if read_only else None,
        run_as_non_root=True,
        seccomp_profile=seccomp,
    )


def _exactly(amounts: Mapping[str, str]) -> v1.ResourceRequirements:
    return v1.ResourceRequirements.model_validate({"requests": dict(amounts), "limits": dict(amounts)})


def _projected(sources: list[v1.VolumeProjection]) -> v1.ProjectedVolumeSource:
    return v1.ProjectedVolumeSource(default_mode=0o440, sources=sources)


def _empty(name: str, size: str) -> v1.Volume:
    return v1.Volume.model_validate({"name": name, "emptyDir": {"sizeLimit": size}})


def _plain(model: v1.ResourceRequirements | v1.SecurityContext) -> object:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)
