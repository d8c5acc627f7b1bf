"""Errors of the client of Kubernetes, in our words."""

from collections.abc import Iterator
from contextlib import contextmanager

import httpx2
from lightkube.core.exceptions import ApiError, ConfigError

from kexbench.execution.argo.cluster import ClusterError

GONE, CONFLICT = 404, 409
_REMEDIES = {
    401: "Kubernetes rejects the token of this process: mount one for its ServiceAccount, or renew the kubeconfig",
    403: "grant the permission to the ServiceAccount of this process, as the roles of the Helm chart do",
    404: "install Argo Workflows with its CustomResourceDefinitions, and create the namespace of jobs",
    422: "Kubernetes rejects the object: install Argo Workflows 3.7 or newer",
}


@contextmanager
def unless(*codes: int) -> Iterator[None]:
    """Continues after the context if Kubernetes answers with one of these codes."""
    try:
        yield
    except ApiError as error:
        if error.status.code not in codes:
            raise


@contextmanager
def explaining(doing: str) -> Iterator[None]:
    """Turns every error of the client into a ClusterError."""
    try:
        yield
    except ApiError as error:
        code = error.status.code or 0
        raise ClusterError(_text(doing, error.status.message or str(error), _REMEDIES.get(code))) from error
    except httpx2.HTTPError as error:
        remedy = "check that the API server runs and that this process can reach it"
        raise ClusterError(_text(doing, str(error) or type(error).__name__, remedy)) from error
    except ConfigError as error:
        remedy = "run this in a pod with a ServiceAccount, or set KUBECONFIG to a kubeconfig"
        raise ClusterError(_text(doing, str(error), remedy)) from error


def _text(doing: str, reason: str, remedy: str | None) -> str:
    return f"{doing}: {reason}" + (f"\n  remedy: {remedy}" if remedy else "")
