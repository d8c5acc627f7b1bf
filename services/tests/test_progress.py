"""The time left of a run: as planned until the run has a pace of its own, then by that."""

from datetime import timedelta
from pathlib import Path

import pytest

from kexbench.api.run_models import RunProgressView
from kexbench.cli.cluster import _Progress
from kexbench.domain.runs import RunState
from kexbench.execution.folder import RunFolder
from kexbench.queue.progress import expected_end_at, left_s
from tests.builders import a_run, an_event

BEGAN = an_event(a_run())


@pytest.mark.parametrize(
    ("elapsed_s", "done", "since", "left"),
    [
        (0, 0, 0, 12),  # as planned
        (6, 0, 0, 6),
        (20, 0, 0, 20),  # overdue, and nothing is measured yet
        (90, 25, 25, 90),  # a busy machine: half took seven times as long as planned
        (3, 25, 25, 3),
        (10, 30, 5, 40),  # resumed at 25: five took ten seconds
        (6, 25, None, 6),  # whole jobs, in parallel
        (30, 25, None, 30),
    ],
)
def test_the_pace_of_a_run_revises_its_estimate(elapsed_s: int, done: int, since: int | None, left: float) -> None:
    now = BEGAN.at + timedelta(seconds=elapsed_s)
    assert left_s(BEGAN, 12, 50, done, now, since) == left
    assert expected_end_at(BEGAN, 12, 50, done, now, since) == now + timedelta(seconds=left)


def test_a_folder_counts_what_is_measured_and_not_delivered(tmp_path: Path) -> None:
    run, folder = a_run(), RunFolder(tmp_path / "run")
    assert folder.measured() == {}
    job = run.plan.jobs[0]
    folder.results(job).parent.mkdir(parents=True)
    folder.results(job).write_bytes(b"{}\n{}\n{")
    assert folder.measured() == {job.job_id: 2}, "the last one is being written"


def test_who_follows_a_run_reads_what_is_measured_with_the_time_left_once_each_tenth() -> None:
    lines = _Progress()
    said: list[str] = []
    for measured in range(51):
        view = RunProgressView(
            run_id="run",
            jobs=[],
            job_states={},
            log=[],
            state_at=BEGAN.at,
            state=RunState.RUNNING,
            detail="",
            invocations_planned=50,
            invocations_stored=0,
            invocations_measured=measured,
            expected_end_at=None,
        )
        said += lines(view)
    assert list(dict.fromkeys(said)) == [f"running: {number} of 50 invocations" for number in range(0, 51, 5)]
