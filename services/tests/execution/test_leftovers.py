"""What a killed `kexbench run` leaves in the folder of its run, as the next command stores it."""

from pathlib import Path
from typing import Any

import pytest

from kexbench.client import ApiClient
from kexbench.domain.runs import RunReason, RunState
from kexbench.execution.folder import RunFolder
from kexbench.pipeline import deliver_leftovers
from kexbench.runner.results import append_result
from kexbench.service import reach_service
from kexbench.settings import Settings
from kexbench.wiring import Installation
from tests.builders import a_run, all_invocations, an_event


def test_a_run_that_was_killed_after_its_last_result_is_finished(tmp_path: Path) -> None:
    installation = Installation(Settings(home=tmp_path, cache=tmp_path / "cache"))
    for run_id, lacking in (("complete", 0), ("incomplete", 1)):
        run, folder = a_run(run_id), RunFolder(tmp_path / "runs" / run_id)
        folder.create(run)
        folder.add_event(an_event(run, reason=RunReason.BY_COMMAND))
        jobs = {job.job_id: job for job in run.plan.jobs}
        for measured in all_invocations(run)[lacking:]:
            append_result(folder.results(jobs[measured.job_id]), measured)
    with reach_service(installation) as address:
        deliver_leftovers(installation, pytest.fail)
        client = ApiClient.here(address)
        runs = client.get(dict[str, Any], "/runs")["runs"]
        client.close()
    ends = {run["run_id"]: (run["state"], run["invocations_stored"]) for run in runs}
    planned = a_run().plan.invocations
    assert ends == {"complete": (RunState.FINISHED, planned), "incomplete": (RunState.FAILED, planned - 1)}
