"""What a site wants of the pods of jobs, as the chart writes it or a person does."""

import pytest

from kexbench.planning.documents import DocumentError
from kexbench.planning.job_pods import JobPods, read_job_pods

HEAD = "apiVersion: kexbench.dev/v1\nkind: JobPods\n"


def test_nothing_is_wanted_by_default() -> None:
    assert read_job_pods(HEAD, "job-pods.yaml") == JobPods()


@pytest.mark.parametrize(
    ("wrong", "place", "said"),
    [
        ("pendingSeconds: 5\n", "job-pods.yaml:3:", "pendingSeconds"),
        ("environment: []\n", "job-pods.yaml:3:", "environment"),
        ("env: {TZ: UTC}\n", "job-pods.yaml:3:", "env"),
        ("paths: {seccompProfile: a.json, device: tun}\n", "job-pods.yaml:3:", "paths.device"),
    ],
)
def test_a_fault_is_reported_at_its_place(wrong: str, place: str, said: str) -> None:
    with pytest.raises(DocumentError) as caught:
        read_job_pods(HEAD + wrong, "job-pods.yaml")
    assert place in str(caught.value)
    assert said in str(caught.value)
