"""Wherever a results file was cut, the resumed job has every invocation once, with the same values."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kexbench.domain.samples import Invocation, Outcome, OutcomeKind, Sample
from kexbench.runner import job
from kexbench.runner.job_input import JobInput, StoredResult
from kexbench.runner.order import Turn
from kexbench.runner.results import read_results
from tests.builders import a_job_input, a_run, an_invocation, an_outcome
from tests.runner.conftest import QUIET, UNPINNED, MakeJobInput

SUBJECT, BARE = "fake@1.0+noise=0", "fake@2.0+unsupported=1"
Values = dict[tuple[str, int], tuple[Sample, ...]]


def measure(job_input: JobInput) -> list[Invocation]:
    log = job_input.results.parent / "worker.log"
    list(job.measure_job(job_input, UNPINNED, log, lambda: QUIET, lambda: False))
    return read_results(job_input.results)


def values(invocations: list[Invocation]) -> Values:
    """Fails where one is there twice."""
    found = {(one.case_id, one.invocation): one.samples for one in invocations}
    assert len(found) == len(invocations)
    return found


def outcomes(invocations: list[Invocation]) -> Counter[str]:
    return Counter(one.case_id for one in invocations for _ in one.outcomes)


def test_a_job_cut_at_or_beside_any_line_is_measured_to_the_same_end(make_job_input: MakeJobInput) -> None:
    job_input = make_job_input(SUBJECT, BARE, invocations=2, batches=2)
    job_input.results.parent.mkdir()
    whole = measure(job_input)
    content = job_input.results.read_bytes()
    ends = [0, *(position + 1 for position, byte in enumerate(content) if byte == 0x0A)]
    assert len(ends) == 1 + 4
    for cut in sorted({max(0, min(end + beside, len(content))) for end in ends for beside in (-1, 0, 1, 300)}):
        job_input.results.write_bytes(content[:cut])
        resumed = measure(job_input)
        assert values(resumed) == values(whole), f"cut at {cut}"
        assert outcomes(resumed) == {case.case_id: 1 for case in job_input.cases}, "what is unsupported is tried once"


def test_what_earlier_attempts_stored_is_not_measured_again_and_the_rest_has_the_same_values(
    make_job_input: MakeJobInput,
) -> None:
    """As a pod resumes a job, without the file of the pod before it."""
    job_input = make_job_input(SUBJECT, BARE, invocations=3, batches=2)
    job_input.results.parent.mkdir()
    whole = measure(job_input)
    assert len(whole) == 6
    for number in range(len(whole) + 1):
        job_input.results.unlink(missing_ok=True)
        stored = tuple(
            StoredResult(case_id=one.case_id, invocation=one.invocation, hopeless=one.hopeless)
            for one in whole[:number]
        )
        rest = measure(job_input.model_copy(update={"stored": stored}))
        assert [(one.case_id, one.invocation) for one in rest] == [
            (one.case_id, one.invocation) for one in whole[number:]
        ]
        assert values(rest) == values(whole[number:])
        assert outcomes([*whole[:number], *rest]) == {case.case_id: 1 for case in job_input.cases}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("resuming")


RUN = a_run()
TICKET = a_job_input(RUN)


def a_measurement(_: JobInput, turn: Turn, *more: object) -> Invocation:
    """Without workers, so that every cut can be tried."""
    dead: list[Outcome] = [an_outcome("fake@1.1", OutcomeKind.CRASHED, "«é»\n")]
    return an_invocation(RUN, turn.invocation, case_id=turn.case_id, cpu_ns={"fake@1.0": [1, 2]}, outcomes=dead)


@given(cut=st.floats(0, 1), again=st.floats(0, 1))
def test_a_job_cut_at_any_byte_twice_has_every_invocation_once(folder: Path, cut: float, again: float) -> None:
    job_input = TICKET.model_copy(update={"results": folder / "results.ndjson"})
    job_input.results.unlink(missing_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(job, "measure_invocation", a_measurement)
        whole = values(measure(job_input))
        assert whole.keys() == {(case.case_id, number) for case in RUN.plan.cases for number in TICKET.job.numbers}
        for share in (cut, again):
            content = job_input.results.read_bytes()
            job_input.results.write_bytes(content[: round(share * len(content))])
            assert values(measure(job_input)) == whole
