"""Fresh processes of a subject: what a record says, and that workers start them."""

import shutil
from pathlib import Path

import pytest

from kexbench.domain.instruments import Instrument
from kexbench.domain.metrics import STARTED, Metric
from kexbench.domain.samples import Invocation, OutcomeKind
from kexbench.runner.counting import count_invocation
from kexbench.runner.invocation import measure_invocation
from kexbench.runner.order import Turn
from kexbench.runner.records import StartedProcesses, parse_record
from kexbench.runner.start import start_request, start_samples
from kexbench.runner.transcript import transcript
from tests.runner.conftest import ECDHE, QUIET, UNPINNED, MakeJobInput

FAKE = "fake@1.0"
ARRAYS = (
    *("total_cpu_ns", "total_wall_ns", "load_cpu_ns", "load_wall_ns", "library_cpu_ns", "library_wall_ns"),
    *("context_cpu_ns", "context_wall_ns", "keys_cpu_ns", "keys_wall_ns", "trust_cpu_ns", "trust_wall_ns"),
    *("handshake_cpu_ns", "handshake_wall_ns", "read_bytes", "resident_bytes", "heap_bytes"),
)


def a_record(**changes: list[int] | None) -> StartedProcesses:
    """Two processes; each array has its place in the list, and one more."""
    arrays = {name: [place, place + 1] for place, name in enumerate(ARRAYS)}
    return StartedProcesses.model_validate({"type": "start", "id": "x", "processes": 2, **arrays, **changes})


def test_each_metric_has_a_value_for_each_process_and_the_heap_those_that_counted_it() -> None:
    counted = a_record(heap_bytes=[70, 71])
    samples = {sample.metric: sample.values for sample in start_samples(FAKE, a_record(heap_bytes=None), counted)}
    assert samples.keys() == STARTED.keys()
    assert samples[Metric.START_CPU_NS] == (0.0, 1.0)
    assert samples[Metric.START_TRUST_CPU_NS] == (10.0, 11.0)
    assert samples[Metric.START_HEAP_BYTES] == (70.0, 71.0)


def test_what_a_library_does_not_divide_has_no_sample() -> None:
    bare = a_record(context_cpu_ns=None, keys_cpu_ns=None, trust_cpu_ns=None, read_bytes=None, heap_bytes=None)
    absent = STARTED.keys() - {sample.metric for sample in start_samples(FAKE, bare, bare)}
    assert absent == {
        *(Metric.START_CONTEXT_CPU_NS, Metric.START_KEYS_CPU_NS, Metric.START_TRUST_CPU_NS),
        *(Metric.START_READ_BYTES, Metric.START_HEAP_BYTES),
    }


def test_a_record_of_too_few_processes_is_no_record() -> None:
    with pytest.raises(ValueError, match="keys_cpu_ns have not a number for each of 2 processes"):
        a_record(keys_cpu_ns=[1])
    with pytest.raises(ValueError, match="not a record"):
        parse_record(b'{"type":"start","id":"x","processes":0}')


def test_an_invocation_starts_processes_of_each_subject(make_job_input: MakeJobInput, tmp_path: Path) -> None:
    job_input = make_job_input(FAKE, "fake@1.1", cases=(ECDHE,))
    job_input = job_input.model_copy(update={"measure": job_input.measure.model_copy(update={"starts": 2})})
    turn = Turn(ECDHE.case_id, (FAKE, "fake@1.1"), 0)
    invocation = measure_invocation(job_input, turn, UNPINNED, tmp_path / "log", lambda: QUIET)
    assert invocation.outcomes == ()
    for reference in turn.block:
        values = {sample.metric: sample.values for sample in invocation.samples if sample.subject == reference}
        assert values.keys() >= STARTED.keys() | {Metric.CPU_NS}
        assert values[Metric.START_LIBRARY_CPU_NS] == (500_000.0, 500_000.0)
        assert values[Metric.START_TRUST_CPU_NS] == (0.0, 0.0)
        assert values[Metric.START_CPU_NS][0] > values[Metric.START_LOAD_CPU_NS][0] + 500_000
    assert Invocation.model_validate_json(invocation.model_dump_json()) == invocation
    assert start_request(ECDHE, 2) in transcript(job_input, turn, FAKE, UNPINNED)


def test_cases_without_a_start_and_runs_without_any_start_nothing(make_job_input: MakeJobInput, tmp_path: Path) -> None:
    threads = ECDHE.model_copy(update={"threads": 2})
    job_input = make_job_input(FAKE, cases=(ECDHE, threads))
    starting = job_input.model_copy(update={"measure": job_input.measure.model_copy(update={"starts": 2})})
    for given, case in ((job_input, ECDHE), (starting, threads)):
        turn = Turn(case.case_id, (FAKE,), 0)
        invocation = measure_invocation(given, turn, UNPINNED, tmp_path / "log", lambda: QUIET)
        assert not {sample.metric for sample in invocation.samples} & STARTED.keys()


def test_a_process_that_does_not_start_drops_its_subject(make_job_input: MakeJobInput, tmp_path: Path) -> None:
    """Its worker has made two handshakes at set-up and in the first batch when it is asked."""
    subject = "fake@1.2"
    job_input = make_job_input(subject, cases=(ECDHE,))
    measure = job_input.measure.model_copy(update={"starts": 1})
    files = job_input.material[ECDHE.case_id].model_copy(update={"key": "x" * 256})
    job_input = job_input.model_copy(update={"measure": measure, "material": {ECDHE.case_id: files}})
    turn = Turn(ECDHE.case_id, (subject,), 0)
    invocation = measure_invocation(job_input, turn, UNPINNED, tmp_path / "log", lambda: QUIET)
    assert [outcome.kind for outcome in invocation.outcomes] == [OutcomeKind.ERROR]


@pytest.mark.skipif(not shutil.which("valgrind"), reason="valgrind is not installed")
def test_the_instructions_of_a_start_are_counted_if_a_run_starts_processes(
    make_job_input: MakeJobInput, tmp_path: Path
) -> None:
    job_input = make_job_input(FAKE, cases=(ECDHE,), instrument=Instrument.INSTRUCTIONS)
    job_input = job_input.model_copy(update={"measure": job_input.measure.model_copy(update={"starts": 1})})
    turn = Turn(ECDHE.case_id, (FAKE,), 0, examines=True)
    invocation = count_invocation(job_input, turn, UNPINNED, tmp_path / "log", lambda: QUIET)
    assert invocation.outcomes == ()
    values = {sample.metric: sample.values[0] for sample in invocation.samples}
    assert values.keys() >= {Metric.START_COUNTED_INSTRUCTIONS, Metric.COUNTED_INSTRUCTIONS}
    profile = next(profile for profile in invocation.profiles[FAKE] if profile.side == "start")
    assert profile.amount == values[Metric.START_COUNTED_INSTRUCTIONS]
    assert {"start_library", "first_context", "first_handshake"} <= {cost.name for cost in profile.functions}
    assert profile.handshakes == 1
