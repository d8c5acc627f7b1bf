"""Asks for the run of a schedule whose time has come."""

from collections.abc import Callable

from kexbench.agent.environment import SchedulePod
from kexbench.domain.schedules import ScheduledRun
from kexbench.uplink import Uplink


def submit(pod: SchedulePod, api: Uplink, say: Callable[[str], None]) -> None:
    """Another pod for the same time asks for the same run. Raises Refused and Unreachable."""
    headers = {"Idempotency-Key": pod.scheduled_time}
    answer = api.send("POST", f"/schedules/{pod.schedule}/runs", headers=headers)
    run = ScheduledRun.model_validate_json(answer.content)
    say(f"run {run.run_id}" if run.begun else f"run {run.run_id} of the schedule is still open: no other is begun")
