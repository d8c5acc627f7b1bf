"""Somebody outside ends a worker, for example by deleting its pod: that is no crash of the library, and the invocation
that was cut short is not kept."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from kexbench.domain.samples import OutcomeKind, Sample
from kexbench.runner import invocation
from kexbench.runner.__main__ import CANCELLED
from kexbench.runner.invocation import CutShort
from kexbench.runner.job import MOST_TRIES, measure_job
from kexbench.runner.job_input import JobInput
from kexbench.runner.participant import Participant
from kexbench.runner.records import Batch
from kexbench.runner.results import append_result, read_results
from tests.builders import a_run, an_invocation, an_outcome
from tests.runner.conftest import QUIET, RSA, UNPINNED, MakeJobInput

FIRST, SECOND = "fake@1.0+noise=0", "fake@1.1+noise=0"
OUTSIDE = [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL]


@pytest.fixture(autouse=True)
def interruptible() -> Iterator[None]:
    """Workers die of these signals wherever tests are started: a shell has what it starts in the background ignore
    SIGINT, and nohup SIGHUP. Handlers are not inherited, ignoring is."""
    before = {number: signal.signal(number, signal.default_int_handler) for number in (signal.SIGINT, signal.SIGHUP)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def measure(job_input: JobInput, cancelled: Callable[[], bool] = lambda: False) -> None:
    log = job_input.results.parent.parent / "worker.log"
    list(measure_job(job_input, UNPINNED, log, lambda: QUIET, cancelled))


def values(job_input: JobInput) -> dict[int, tuple[Sample, ...]]:
    return {found.invocation: found.samples for found in read_results(job_input.results)}


class Killer:
    """Sends a signal to a worker of the second subject before so many of its batches; afterwards it does nothing."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, number: signal.Signals, times: int = 1) -> None:
        self.left = times
        batch = Participant.batch

        def killing(participant: Participant, min_ns: int, *, split: bool = True) -> Batch:
            if self.left and participant._reference == SECOND:
                self.left -= 1
                process = participant._workers["both"]._process
                os.kill(process.pid, number)
                process.wait()
            return batch(participant, min_ns, split=split)

        monkeypatch.setattr(Participant, "batch", killing)


@pytest.mark.parametrize("number", OUTSIDE)
def test_what_was_cut_short_is_measured_again_with_the_same_values(
    number: signal.Signals, make_job_input: MakeJobInput, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_input = make_job_input(FIRST, SECOND, cases=(RSA,))
    measure(job_input)
    whole = values(job_input)
    job_input.results.unlink()
    killer = Killer(monkeypatch, number)
    measure(job_input)
    assert killer.left == 0
    assert values(job_input) == whole
    assert [found.outcomes for found in read_results(job_input.results)] == [(), ()]


@pytest.mark.parametrize("number", OUTSIDE)
def test_of_a_job_that_is_being_ended_nothing_of_the_last_invocation_is_kept(
    number: signal.Signals, make_job_input: MakeJobInput, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_input = make_job_input(FIRST, SECOND, cases=(RSA,))
    killer = Killer(monkeypatch, number)
    measure(job_input, lambda: killer.left == 0)
    assert not job_input.results.exists()


def test_workers_that_are_ended_again_and_again_end_the_job(
    make_job_input: MakeJobInput, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_input = make_job_input(FIRST, SECOND, cases=(RSA,))
    killer = Killer(monkeypatch, signal.SIGTERM, times=MOST_TRIES)
    with pytest.raises(CutShort, match=f"{SECOND.replace('+', '[+]')}: the worker was ended by signal 15"):
        measure(job_input)
    assert killer.left == 0
    assert not job_input.results.exists()


def test_a_signal_that_libraries_die_of_is_a_crash_of_the_library(
    make_job_input: MakeJobInput, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_input = make_job_input(FIRST, SECOND, cases=(RSA,), invocations=1)
    Killer(monkeypatch, signal.SIGSEGV)
    measure(job_input)
    (found,) = read_results(job_input.results)
    assert [(one.subject, one.kind) for one in found.outcomes] == [(SECOND, OutcomeKind.CRASHED)]
    assert {sample.subject for sample in found.samples} == {FIRST}


def test_a_worker_that_the_kernel_killed_for_want_of_memory_is_an_error_that_names_memory(
    make_job_input: MakeJobInput, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_input = make_job_input(FIRST, SECOND, cases=(RSA,), invocations=1)
    killer = Killer(monkeypatch, signal.SIGKILL)
    monkeypatch.setattr(invocation, "memory_kills", lambda: 7 if killer.left else 8)
    measure(job_input)
    (found,) = read_results(job_input.results)
    assert [(one.subject, one.kind) for one in found.outcomes] == [(SECOND, OutcomeKind.ERROR)]
    assert "memory ran out" in found.outcomes[0].reason


def test_a_runner_whose_workers_are_ended_with_it_keeps_whole_invocations_only(make_job_input: MakeJobInput) -> None:
    """The real processes: everything below the runner is sent SIGTERM, and then the runner itself."""
    job_input = make_job_input(FIRST, SECOND, cases=(RSA,), invocations=50, batches=50)
    file, log = job_input.results.parent.parent / "job-input.json", job_input.results.parent.parent / "worker.log"
    file.write_bytes(job_input.model_dump_json().encode())
    command = [sys.executable, "-m", "kexbench.runner", str(file), str(log)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as runner:
        assert runner.stdout is not None
        runner.stdout.readline()
        workers: list[psutil.Process] = []
        while not workers:
            workers = psutil.Process(runner.pid).children(recursive=True)
        for pid in (*(worker.pid for worker in workers), runner.pid):
            os.kill(pid, signal.SIGTERM)
        runner.stdout.read()
    assert runner.returncode == CANCELLED
    kept = read_results(job_input.results)
    assert 1 <= len(kept) < 50
    assert all({sample.subject for sample in found.samples} == {FIRST, SECOND} for found in kept)
    assert not [outcome for found in kept for outcome in found.outcomes]


def test_what_earlier_runners_kept_as_a_crash_does_not_count(tmp_path: Path) -> None:
    run = a_run()
    cut = [an_outcome("fake@1.1", OutcomeKind.CRASHED, "the worker was ended by signal 15")]
    crashed = [an_outcome("fake@1.1", OutcomeKind.CRASHED, "the worker was ended by signal 11")]
    append_result(tmp_path / "results", an_invocation(run, 0, cpu_ns={"fake@1.0": [1]}, outcomes=cut))
    append_result(tmp_path / "results", an_invocation(run, 1, cpu_ns={"fake@1.0": [1]}, outcomes=crashed))
    assert [found.invocation for found in read_results(tmp_path / "results")] == [1]
