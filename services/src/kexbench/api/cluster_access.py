"""Callers on a cluster. Each sends the token of its ServiceAccount, made for this audience; Kubernetes identifies it.

A pod's token names its pod and node. The labels and annotations of the pod name its job, kit or schedule. Only accounts
that may create pods in that namespace can set them.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

import httpx2
from lightkube import ApiError, Client
from lightkube.models.authentication_v1 import TokenReviewSpec
from lightkube.resources.authentication_v1 import TokenReview
from lightkube.resources.core_v1 import Pod

from kexbench.api.access import AccessUnknown, Caller
from kexbench.api.calling import AUDIENCE, TokenError
from kexbench.domain.people import PersonRole

RUN_LABEL, JOB_LABEL, SCHEDULE_LABEL = (f"kexbench.dev/{name}" for name in ("run", "job", "schedule"))
REFERENCE, ARCHITECTURE = (f"kexbench.dev/{name}" for name in ("reference", "architecture"))
"""Annotations: a reference can be longer than a label allows."""


@dataclass(frozen=True)
class Reviewed:
    """The review of a token. `account` is `namespace:name`; the other fields are empty if no pod has the token."""

    account: str
    pod: str = ""
    pod_uid: str = ""
    node: str = ""


class Reviewer(Protocol):
    """The part of Kubernetes that is used here. Raises AccessUnknown if it does not answer."""

    def review(self, token: str) -> Reviewed | None:
        """None if the token belongs to nobody on the cluster, or to another audience."""
        ...

    def marks(self, namespace: str, pod: str, uid: str) -> Mapping[str, str] | None:
        """Labels and annotations of a pod; None if it is gone, or has another uid."""
        ...


@dataclass(frozen=True)
class Accounts:
    """ServiceAccounts as `namespace:name`, by what they may do."""

    job: str
    builder: str
    dispatcher: str
    people: Mapping[str, PersonRole]
    """The accounts of people and of programs that act for them."""


@dataclass(frozen=True)
class ClusterGatekeeper:
    reviewer: Reviewer
    accounts: Accounts

    def identify(self, token: str) -> Caller:
        if not token:
            raise TokenError("no token was sent")
        reviewed = self.reviewer.review(token)
        if reviewed is None:
            detail = f"the cluster does not accept this token for the audience {AUDIENCE}"
            raise TokenError(detail, f"make a new one: kubectl create token ACCOUNT --audience {AUDIENCE}")
        if reviewed.account == self.accounts.dispatcher:
            return Caller("dispatcher", reviewed.account)
        if reviewed.account in (self.accounts.job, self.accounts.builder):
            return self._pod(reviewed)
        if role := self.accounts.people.get(reviewed.account):
            return Caller(role, reviewed.account, proof="account")
        raise TokenError(f"{reviewed.account} may not write here", "add it to the chart's value access.submitters")

    def _pod(self, reviewed: Reviewed) -> Caller:
        namespace = reviewed.account.partition(":")[0]
        marks = self.reviewer.marks(namespace, reviewed.pod, reviewed.pod_uid) if reviewed.pod else None
        is_job = reviewed.account == self.accounts.job
        if is_job and marks and SCHEDULE_LABEL in marks:
            return Caller("schedule", f"pod {reviewed.pod}", schedule=marks[SCHEDULE_LABEL])
        if marks is None or RUN_LABEL not in marks:
            raise TokenError(f"the token of {reviewed.account} belongs to no pod of a run or schedule")
        if is_job and JOB_LABEL not in marks:
            raise TokenError(f"pod {reviewed.pod} belongs to no job")
        return Caller(
            role="job" if is_job else "builder",
            name=f"pod {reviewed.pod}",
            run_id=marks[RUN_LABEL],
            job_id=marks[JOB_LABEL] if is_job else None,
            pod=reviewed.pod,
            pod_uid=reviewed.pod_uid,
            node=reviewed.node,
            reference=None if is_job else marks.get(REFERENCE),
            architecture=None if is_job else marks.get(ARCHITECTURE),
        )


_POD, _UID, _NODE = (f"authentication.kubernetes.io/{name}" for name in ("pod-name", "pod-uid", "node-name"))
_ACCOUNT = "system:serviceaccount:"
_NOT_FOUND = 404


class KubernetesReviewer:
    """Implements Reviewer with the rights of this process's ServiceAccount."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def review(self, token: str) -> Reviewed | None:
        with _access_errors():
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
        with _access_errors():
            try:
                metadata = self._client.get(Pod, name=pod, namespace=namespace).metadata
            except ApiError as error:
                if error.status.code != _NOT_FOUND:
                    raise
                return None
        if metadata is None or metadata.uid != uid:
            return None
        return {**(metadata.annotations or {}), **(metadata.labels or {})}


def in_cluster() -> KubernetesReviewer:
    """A reviewer for the cluster of this process, or of KUBECONFIG."""
    return KubernetesReviewer(Client())


@contextmanager
def _access_errors() -> Iterator[None]:
    try:
        yield
    except (ApiError, httpx2.HTTPError) as error:
        raise AccessUnknown(f"Kubernetes could not check the token: {error}") from error
