"""Reads a site's settings for the pods of jobs (`kind: JobPods`), with every fault at its place."""

from typing import Annotated, Any, Literal

from pydantic import Field

from kexbench.planning.documents import parse_document, valid
from kexbench.planning.written import Written

_Kubernetes = Annotated[list[dict[str, Any]], Field(max_length=100)]
PENDING_SECONDS = 900


class PathPods(Written):
    """What lets a pod emulate paths. Both are on the nodes."""

    seccomp_profile: Annotated[
        str, Field(min_length=1, max_length=253, description="its file, below the kubelet's folder `seccomp`")
    ]
    device: Annotated[
        str,
        Field(
            pattern=r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?/[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$",
            description="the resource of a device plugin that gives /dev/net/tun",
        ),
    ]


class JobPods(Written):
    """Additions to the pods of jobs and kit builds."""

    api_version: Literal["kexbench.dev/v1"] = "kexbench.dev/v1"
    kind: Literal["JobPods"] = "JobPods"
    env: Annotated[_Kubernetes, Field(description="as in a container; also set for scripts that build sources")] = (
        Field(default_factory=list)
    )
    job_env: Annotated[_Kubernetes, Field(description="as in a container; only in the pods of jobs")] = Field(
        default_factory=list
    )
    volumes: Annotated[_Kubernetes, Field(description="as in a pod")] = Field(default_factory=list)
    volume_mounts: Annotated[_Kubernetes, Field(description="as in a container")] = Field(default_factory=list)
    priority_class_name: Annotated[str, Field(max_length=253)] = ""
    user_from_platform: Annotated[bool, Field(description="set no user id; the platform assigns one")] = False
    pending_seconds: Annotated[
        int,
        Field(
            ge=10, le=7 * 24 * 3600, description="how long a pod may wait for a node or an image before its run fails"
        ),
    ] = PENDING_SECONDS
    paths: Annotated[PathPods | None, Field(description="null: jobs cannot emulate paths")] = None


def read_job_pods(text: str, file: str) -> JobPods:
    """Raises DocumentError with every fault."""
    return valid(parse_document(text, file), JobPods)
