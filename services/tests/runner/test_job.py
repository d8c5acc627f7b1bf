"""A job is measured invocation by invocation; what is on the disk is never measured again and never torn."""

from pathlib import Path

import pytest

from kexbench.domain.plans import left_out_by_job
from kexbench.domain.samples import OutcomeKind
from kexbench.runner.job import OutOfTime, allowed_s, measure_job
from kexbench.runner.job_input import JobInput
from kexbench.runner.results import append_line, read_lines, read_results
from tests.runner.conftest import QUIET, UNPINNED, MakeJobInput

SUBJECT = "fake@1.0+noise=0"


def measure(job_input: JobInput, stop_after: int | None = None) -> int:
    """How many turns were reported before the job ended."""
    log = job_input.results.parent.parent / "worker.log"
    job = measure_job(
        job_input, UNPINNED, log, lambda: QUIET, lambda: len(read_results(job_input.results)) == stop_after
    )
    return max((progress.done for progress in job), default=0)


def test_every_case_has_every_invocation_in_the_results(make_job_input: MakeJobInput) -> None:
    job_input = make_job_input(SUBJECT, invocations=3)
    assert measure(job_input) == 6
    found = {(invocation.case_id, invocation.invocation) for invocation in read_results(job_input.results)}
    assert found == {(case.case_id, number) for case in job_input.cases for number in range(3)}


def test_a_cancelled_job_keeps_what_is_complete_and_goes_on_where_it_stopped(make_job_input: MakeJobInput) -> None:
    job_input = make_job_input(SUBJECT, invocations=3)
    assert measure(job_input, stop_after=2) == 2
    before = job_input.results.read_bytes()
    assert len(read_results(job_input.results)) == 2
    assert measure(job_input) == 6
    assert job_input.results.read_bytes().startswith(before)
    assert len(read_results(job_input.results)) == 6


def test_an_unsupported_subject_is_tried_once_a_case_and_the_job_still_ends(make_job_input: MakeJobInput) -> None:
    broken = "fake@2.0+unsupported=1"
    job_input = make_job_input(SUBJECT, broken, invocations=3)
    measure(job_input)
    outcomes = [outcome for invocation in read_results(job_input.results) for outcome in invocation.outcomes]
    assert [(outcome.subject, outcome.kind) for outcome in outcomes] == [(broken, OutcomeKind.UNSUPPORTED)] * 2


def test_a_crashing_subject_is_tried_in_every_invocation(make_job_input: MakeJobInput) -> None:
    job_input = make_job_input(SUBJECT, "fake@2.0+crash_after=0", invocations=2)
    measure(job_input)
    assert sum(len(invocation.outcomes) for invocation in read_results(job_input.results)) == 4


def test_when_no_subject_of_a_case_is_left_its_invocations_are_left_out(make_job_input: MakeJobInput) -> None:
    job_input = make_job_input("fake@2.0+unsupported=1", invocations=3)
    assert measure(job_input) == 6
    results = read_results(job_input.results)
    stored = [(result.job_id, result.case_id, result.invocation) for result in results]
    hopeless = [(result.job_id, result.case_id, subject) for result in results for subject in result.hopeless]
    assert len(stored) == 2
    assert left_out_by_job([job_input.job], stored, hopeless) == {job_input.job.job_id: 4}
    assert left_out_by_job([job_input.job], stored[1:], hopeless) == {job_input.job.job_id: 5}
    assert left_out_by_job([job_input.job], stored[1:], hopeless[1:]) == {job_input.job.job_id: 2}


def test_a_job_out_of_time_measures_nothing_more(make_job_input: MakeJobInput) -> None:
    with pytest.raises(OutOfTime):
        measure(make_job_input(SUBJECT, max_duration_s=0))


@pytest.mark.parametrize("torn", [1, 10, 500])
def test_a_line_torn_by_a_kill_is_cut_off_and_measured_again(torn: int, make_job_input: MakeJobInput) -> None:
    job_input = make_job_input(SUBJECT, invocations=2)
    measure(job_input)
    whole = read_results(job_input.results)
    content = job_input.results.read_bytes()
    job_input.results.write_bytes(content[:-torn])
    assert read_results(job_input.results) == whole[:-1]
    measure(job_input)
    again = read_results(job_input.results)
    assert [(i.case_id, i.invocation) for i in again] == [(i.case_id, i.invocation) for i in whole]


def test_results_that_do_not_exist_are_empty(tmp_path: Path) -> None:
    assert read_results(tmp_path / "none.ndjson") == []


@pytest.mark.parametrize("torn", [b"", b"torn", b"whole\n", b"whole\ntorn", b"whole\n\xff"])
def test_a_line_is_never_joined_to_what_a_kill_left_before_it(torn: bytes, tmp_path: Path) -> None:
    path = tmp_path / "new" / "lines"
    path.parent.mkdir()
    path.write_bytes(torn)
    append_line(path, b"next")
    append_line(path, b"last")
    whole = [b"whole"] if torn.startswith(b"whole") else []
    assert read_lines(path) == [*whole, b"next", b"last"]


def test_a_job_may_take_its_share_of_the_time_of_the_plan(make_job_input: MakeJobInput) -> None:
    job_input = make_job_input(SUBJECT, invocations=4, max_duration_s=600)
    half = job_input.job.model_copy(update={"invocations": 1})
    assert allowed_s(job_input) == 600
    assert allowed_s(job_input.model_copy(update={"job": half})) == 150
