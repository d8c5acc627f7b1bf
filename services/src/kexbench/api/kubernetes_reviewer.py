"""Asks the Kubernetes API server whose a token is, and which labels and annotations a pod has."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import httpx2
from lightkube import ApiError, Client
from lightkube.models.authentication_v1 import TokenReviewSpec
from lightkube.resources.authentication_v1 import TokenReview
from lightkube.resources.core_v1 import Pod

from kexbench.api.access import AccessUnknown
from kexbench.api.cluster_access import Reviewed
from kexbench.api.tokens import AUDIENCE

_POD, _UID, _NODE = (f"authentication.kubernetes.io/{name}" for name in ("pod-name", "pod-uid", "node-name"))
_ACCOUNT = "system:serviceaccount:"
_GONE = 404


class KubernetesReviewer:
    """Implements Reviewer with the rights of this process's own ServiceAccount."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def review(self, token: str) -> Reviewed | None:
        with _telling():
            status = self._client.create(TokenReview(spec=TokenReviewSpec(token=token, audiences=[AUDIENCE]))).status
        if status is None or not status.authenticated or AUDIENCE not in (status.audiences or []):
            return None
        user = status.user
        name = (user.username or "") if user else ""
        if user is None or not name.startswith(_ACCOUNT):
            return None
        extra = {key: values[0] for key, values in (user.extra or {}).items() if values}
        return Reviewed(
            account=name.removeprefix(_ACCOUNT),
            pod=extra.get(_POD, ""),
            pod_uid=extra.get(_UID, ""),
            node=extra.get(_NODE, ""),
        )

    def marks(self, namespace: str, pod: str, uid: str) -> Mapping[str, str] | None:
        with _telling():
            try:
                metadata = self._client.get(Pod, name=pod, namespace=namespace).metadata
            except ApiError as error:
                if error.status.code != _GONE:
                    raise
                return None
        if metadata is None or metadata.uid != uid:
            return None
        return {**(metadata.annotations or {}), **(metadata.labels or {})}


def in_cluster() -> KubernetesReviewer:
    """Of the cluster that this process runs on, or that KUBECONFIG names."""
    return KubernetesReviewer(Client())


@contextmanager
def _telling() -> Iterator[None]:
    try:
        yield
    except (ApiError, httpx2.HTTPError) as error:
        raise AccessUnknown(f"Kubernetes was asked whose the token is: {error}") from error
