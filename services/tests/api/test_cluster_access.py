"""Who a token of a cluster is: what Kubernetes says of it, and what its pod's labels and annotations say."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from kexbench.api.access import Caller
from kexbench.api.calling import TokenError
from kexbench.api.cluster_access import (
    ARCHITECTURE,
    JOB_LABEL,
    REFERENCE,
    RUN_LABEL,
    SCHEDULE_LABEL,
    Accounts,
    ClusterGatekeeper,
    Reviewed,
)

ACCOUNTS = Accounts(
    "jobs:job",
    "jobs:builder",
    "kexbench:dispatcher",
    {"ci:pipeline": "submitter", "ops:triage": "triager", "ops:boss": "admin"},
)
OF_A_JOB = {RUN_LABEL: "run-1", JOB_LABEL: "job-1"}


@dataclass
class Kubernetes:
    """Knows one token and one pod."""

    reviewed: Reviewed | None
    pod_labels: Mapping[str, str] | None = None
    asked: list[tuple[str, str, str]] = field(default_factory=list)

    def review(self, token: str) -> Reviewed | None:
        return self.reviewed if token == "known" else None

    def marks(self, namespace: str, pod: str, uid: str) -> Mapping[str, str] | None:
        self.asked.append((namespace, pod, uid))
        return self.pod_labels


def identified(account: str, labels: Mapping[str, str] | None = None, pod: str = "pod-1") -> Caller:
    reviewed = Reviewed(account, pod, f"uid of {pod}" if pod else "", "node-1")
    return ClusterGatekeeper(Kubernetes(reviewed, labels), ACCOUNTS).identify("known")


def test_a_jobs_pod_may_act_for_the_run_and_job_of_its_labels() -> None:
    kubernetes = Kubernetes(Reviewed("jobs:job", "pod-1", "uid-1", "node-1"), OF_A_JOB)
    assert ClusterGatekeeper(kubernetes, ACCOUNTS).identify("known") == Caller(
        "job", "pod pod-1", "run-1", "job-1", "pod-1", "uid-1", "node-1"
    )
    assert kubernetes.asked == [("jobs", "pod-1", "uid-1")]


def test_a_builders_pod_is_bound_to_its_run_and_no_job() -> None:
    found = identified("jobs:builder", {RUN_LABEL: "run-1"})
    assert (found.role, found.run_id, found.job_id, found.reference) == ("builder", "run-1", None, None)


def test_a_builders_pod_is_bound_to_the_kit_that_its_annotations_name() -> None:
    marks = {RUN_LABEL: "run-1", REFERENCE: "fake@1.0", ARCHITECTURE: "aarch64"}
    found = identified("jobs:builder", marks)
    assert (found.reference, found.architecture) == ("fake@1.0", "aarch64")
    assert identified("jobs:job", {**OF_A_JOB, **marks}).reference is None


def test_a_schedules_pod_may_act_for_the_schedule_of_its_label_and_no_run() -> None:
    found = identified("jobs:job", {SCHEDULE_LABEL: "nightly"})
    assert (found.role, found.schedule, found.run_id, found.job_id) == ("schedule", "nightly", None, None)


def test_a_builders_pod_with_a_schedules_label_is_nobody() -> None:
    with pytest.raises(TokenError, match="to no pod of a run"):
        identified("jobs:builder", {SCHEDULE_LABEL: "nightly"})


@pytest.mark.parametrize(
    ("account", "role"),
    [
        ("kexbench:dispatcher", "dispatcher"),
        ("ci:pipeline", "submitter"),
        ("ops:triage", "triager"),
        ("ops:boss", "admin"),
    ],
)
def test_dispatcher_and_people_are_known_by_their_accounts(account: str, role: str) -> None:
    found = identified(account)
    assert (found.role, found.name, found.run_id) == (role, account, None)


@pytest.mark.parametrize("token", ["", "unknown"])
def test_a_token_that_kubernetes_does_not_know_is_nobodys(token: str) -> None:
    gatekeeper = ClusterGatekeeper(Kubernetes(Reviewed("kexbench:dispatcher")), ACCOUNTS)
    with pytest.raises(TokenError):
        gatekeeper.identify(token)


@pytest.mark.parametrize("account", ["jobs:default", "other:job", "other:dispatcher", "ci:pipeline2"])
def test_any_other_account_may_not_write(account: str) -> None:
    with pytest.raises(TokenError, match="may not write") as refused:
        identified(account, OF_A_JOB)
    assert "access.submitters" in refused.value.remedy


@pytest.mark.parametrize(
    ("labels", "pod"),
    [(None, "pod-1"), ({}, "pod-1"), ({RUN_LABEL: "run-1"}, "pod-1"), ({JOB_LABEL: "job-1"}, "pod-1"), (OF_A_JOB, "")],
    ids=["gone", "no labels", "no job", "no run", "no pod"],
)
def test_a_jobs_account_without_a_jobs_pod_is_nobody(labels: Mapping[str, str] | None, pod: str) -> None:
    with pytest.raises(TokenError, match=r"to no pod of a run|belongs to no job"):
        identified("jobs:job", labels, pod)
