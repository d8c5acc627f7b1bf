"""A schedule begins runs by Argo's clock for as long as it is there."""

from pathlib import Path
from typing import Any

import pytest
from tenacity import Retrying, retry_if_exception_type, stop_after_delay, wait_fixed

from tests.cluster.kexbench import JOBS, Kexbench, a_spec
from tests.cluster.kubectl import Kubectl

pytestmark = pytest.mark.cluster
CRON_WORKFLOW = ("cronworkflow/kexbench-schedule-minutely", "--namespace", JOBS)


class NoneYet(Exception):
    """The schedule has begun no run so far."""


def scheduled_run(kexbench: Kexbench) -> dict[str, Any]:
    """The summary of the first run that a schedule began."""
    for attempt in Retrying(
        retry=retry_if_exception_type(NoneYet), wait=wait_fixed(2), stop=stop_after_delay(240), reraise=True
    ):
        with attempt:
            found: list[dict[str, Any]] = [run for run in kexbench.get("/runs")["runs"] if run["trigger"] == "schedule"]
            if not found:
                raise NoneYet
            return found[-1]
    raise AssertionError("the last attempt raised")


def done(kexbench: Kexbench, *words: str) -> str:
    """What a command printed."""
    started = kexbench.command(*words)
    printed, said = started.communicate(timeout=120)
    assert started.returncode == 0, said
    return printed


def test_a_schedule_begins_a_run_that_names_it_may_be_changed_and_is_gone_once_it_is_removed(
    kexbench: Kexbench, kubectl: Kubectl, tmp_path: Path
) -> None:
    spec = tmp_path / "minutely.yaml"
    text = a_spec("minutely", pools="pool-a")
    spec.write_text(f'{text}schedule: "* * * * *"\n')
    done(kexbench, "schedules", "add", str(spec))
    assert "minutely  * * * * *" in done(kexbench, "schedules", "list")
    run = scheduled_run(kexbench)
    assert run["spec_name"] == "minutely"
    spec.write_text(f'{text}schedule: "0 3 * * *"\n')
    done(kexbench, "schedules", "add", str(spec))
    kubectl("wait", *CRON_WORKFLOW, "--for=jsonpath={.spec.schedules[0]}=0 3 * * *", "--timeout=90s")
    assert kubectl("get", *CRON_WORKFLOW, "--output=jsonpath={.status.lastScheduledTime}"), "Argo's own notes stay"
    done(kexbench, "schedules", "remove", "minutely")
    kubectl("wait", *CRON_WORKFLOW, "--for=delete", "--timeout=90s")
    assert "no schedules" in done(kexbench, "schedules", "list")
    kexbench.done(kexbench.command("runs", "cancel", run["run_id"], "--wait", "--json"))
