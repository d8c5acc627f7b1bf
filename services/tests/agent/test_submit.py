"""A schedule's pod asks for the run of a time, and other pods for the same time for no other run."""

import pytest

from kexbench.agent.environment import SchedulePod
from kexbench.agent.submit import submit
from kexbench.client import ApiClient, Refused, token_in
from tests.agent.conftest import EXCLUSIVE, Service
from tests.builders import newest_runs

NIGHTLY = EXCLUSIVE.replace("name: example", "name: nightly") + 'schedule: "0 3 * * *"\n'


def submitted(service: Service, name: str, *, day: int = 1, schedule: str = "nightly") -> list[str]:
    """What the pod said."""
    pod = SchedulePod(
        api_url=service.url,
        token_file=service.admit(name, "schedule", schedule=schedule),
        work=service.folder / name,
        schedule="nightly",
        scheduled_time=f"2026-01-{day:02}T03:00:00Z",
    )
    link, said = ApiClient(pod.api_url, token_in(pod.token_file), print, patience_s=60, longest_wait_s=0.1), list[str]()
    service.clients.append(link)
    submit(pod, link, said.append)
    return said


def test_pods_for_the_same_time_ask_for_one_run_and_the_next_time_waits_for_its_end(service: Service) -> None:
    service.post("submitter", "/schedules", {"spec_text": NIGHTLY})
    first, again = submitted(service, "pod-1"), submitted(service, "pod-2")
    (run,) = newest_runs(service.store, 10)
    assert first == again == [f"run {run.run_id}"]
    assert submitted(service, "pod-3", day=2) == [
        f"run {run.run_id} of the schedule has not finished: starting no other"
    ]
    assert newest_runs(service.store, 10) == [run]


def test_a_schedule_that_is_not_there_is_refused(service: Service) -> None:
    with pytest.raises(Refused, match="there is no schedule nightly"):
        submitted(service, "pod-1")


def test_a_pod_of_another_schedule_is_refused(service: Service) -> None:
    service.post("submitter", "/schedules", {"spec_text": NIGHTLY})
    with pytest.raises(Refused, match="the token is for schedule hourly, not nightly"):
        submitted(service, "pod-1", schedule="hourly")
    assert newest_runs(service.store, 10) == []
