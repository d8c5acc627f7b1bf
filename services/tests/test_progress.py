"""The time left of a run: as earlier runs took until the run has a pace of its own, then by that."""

from datetime import timedelta
from pathlib import Path

import pytest

from kexbench.answers.queued import RunProgressView
from kexbench.cli.cluster import _Progress
from kexbench.cli.console import ProgressReporter
from kexbench.domain.runs import RunState
from kexbench.execution.folder import RunFolder
from kexbench.queue.progress import Done, begun_at, expected_end_at, expected_s, jobs_progress, left_s
from kexbench.store.port import RunDurationRow
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
    before = 0 if since is None else done - since
    progress = Done(done, BEGAN.at, before, each_counts=since is not None)
    assert left_s(12, 50, progress, now) == left
    assert expected_end_at(12, 50, progress, now) == now + timedelta(seconds=left)


def test_news_of_a_run_that_goes_on_leave_its_pace_alone_and_a_resumed_one_has_its_own() -> None:
    run = a_run()
    events = [
        an_event(run, RunState.QUEUED, seconds=0),
        an_event(run, RunState.RUNNING, seconds=10),
        an_event(run, RunState.CANCELLED, seconds=20),
        an_event(run, RunState.QUEUED, seconds=30),
        an_event(run, RunState.RUNNING, seconds=40),
        an_event(run, RunState.RUNNING, seconds=50),
    ]
    assert begun_at(events) == events[4].at
    whole_s, two_hours = 3600.0, events[4].at + timedelta(hours=2)
    assert left_s(whole_s, 100, Done(95, events[4].at, before=90), two_hours) == 2 * 3600


THREE_MINUTES_MORE = [RunDurationRow(name, 10, 190) for name in ("other", "another", "a third")]


@pytest.mark.parametrize(
    ("ended", "whole_s"),
    [
        ([], 20),  # as planned
        (THREE_MINUTES_MORE, 200),  # what others took beyond their measuring: pods, kits, delivery
        ([RunDurationRow("other", 600, 310)], 20),  # of two pools that measured at once; this one may have only one
        (
            [RunDurationRow("spec", 20, 50), RunDurationRow("spec", 30, 45), *THREE_MINUTES_MORE],
            40,
        ),  # its own count alone
        ([RunDurationRow("spec", 3600, 3700), *THREE_MINUTES_MORE], 200),  # but not those of another length
        ([RunDurationRow("spec", 40, 22)], 11),  # its two pools measure at once
    ],
)
def test_how_long_runs_took_tells_how_long_others_will_take(ended: list[RunDurationRow], whole_s: float) -> None:
    assert expected_s("spec", 20, ended) == pytest.approx(whole_s)


def test_lines_without_a_terminal_have_the_time_left_by_the_pace_so_far(capfd: pytest.CaptureFixture[str]) -> None:
    now_s = 0.0
    reporter = ProgressReporter(lambda: now_s)
    for done in range(11):
        now_s += 60
        reporter.measuring("case", done, 10)
    lines = capfd.readouterr().err.splitlines()
    assert lines[:2] == ["measured 1 of 10 invocations", "measured 2 of 10 invocations, about 8 min left"]
    assert lines[-2:] == ["measured 9 of 10 invocations, about 60 s left", "measured 10 of 10 invocations"]


def test_a_folder_counts_what_is_measured_and_not_delivered(tmp_path: Path) -> None:
    run, folder = a_run(), RunFolder(tmp_path / "run")
    assert folder.measured() == {}
    job = run.plan.jobs[0]
    folder.results(job).parent.mkdir(parents=True)
    folder.results(job).write_bytes(b"{}\n{}\n{")
    assert folder.measured() == {job.job_id: 2}, "the last one is being written"


@pytest.mark.parametrize(("state", "shown"), [(RunState.FINISHED, "done"), (RunState.FAILED, "incomplete")])
def test_jobs_of_a_finished_run_are_done_whatever_they_left_out(state: RunState, shown: str) -> None:
    plan = a_run().plan
    assert jobs_progress(plan, state, {}, [], "jobs").job_states == {shown: len(plan.jobs)}


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
