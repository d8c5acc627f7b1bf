"""Requests the run of a schedule that is due."""

from collections.abc import Callable

from kexbench.agent.environment import SchedulePod
from kexbench.client import ApiClient
from kexbench.domain.schedules import ScheduledRun


def submit(pod: SchedulePod, api: ApiClient, say: Callable[[str], None]) -> None:
    """Pods for the same scheduled time request the same run. Raises Refused and Unreachable."""
    headers = {"Idempotency-Key": pod.scheduled_time}
    run = api.post(ScheduledRun, f"/schedules/{pod.schedule}/runs", headers=headers)
    say(f"run {run.run_id}" if run.begun else f"run {run.run_id} of the schedule has not finished: starting no other")
