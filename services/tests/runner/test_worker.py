"""The client of a worker process: bounded, and never in doubt about what it heard."""

import sys
from pathlib import Path

import pytest

from kexbench.domain.kits import Launch
from kexbench.runner.worker import Worker, WorkerCrashed, WorkerHung
from tests.conftest import FakeKit

HELLO = (
    '{"type":"hello","protocol_version":11,"library":"x","version":"1","version_text":"x 1","architecture":"a",'
    '"emulated":false,"cpus":null,"cpu_features":null,'
    '"tick_source":"virtual","thread_cpu_clock_cost_ns":0,"tick_cost_ns":0}'
)


def script(text: str, folder: Path) -> Launch:
    return Launch(arguments=(sys.executable, "-c", text), environment={}, folder=str(folder))


def test_a_worker_answers_stop_with_bye(fake_kit: FakeKit, tmp_path: Path) -> None:
    folder, kit = fake_kit("fake@1.0")
    with Worker(kit.launch(folder, tmp_path), tmp_path / "log") as worker:
        assert worker.hello.version == "1.0"
        assert worker.ask("stop", 5).type == "bye"


def test_a_malformed_request_is_answered_and_the_worker_lives_on(fake_kit: FakeKit, tmp_path: Path) -> None:
    folder, kit = fake_kit("fake@1.0")
    with Worker(kit.launch(folder, tmp_path), tmp_path / "log") as worker:
        assert worker.ask("nonsense here=there", 5).type == "error"
        assert worker.ask("stop", 5).type == "bye"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("print('not json', flush=True)", "not a record"),
        ("raise SystemExit(4)", "ended with status 4"),
        ("import os; os.kill(os.getpid(), 9)", "ended by signal 9"),
        ('print(\'{"type":"bye"}\', flush=True)', "expected hello"),
        ("print('x' * 5_000_000, flush=True)", "too long"),
    ],
)
def test_a_program_that_is_no_worker_has_crashed_and_says_how(text: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(WorkerCrashed, match=reason):
        Worker(script(text, tmp_path), tmp_path / "log")


def test_a_program_that_cannot_be_started_has_crashed(tmp_path: Path) -> None:
    launch = Launch(arguments=(str(tmp_path / "missing"),), environment={}, folder=str(tmp_path))
    with pytest.raises(WorkerCrashed, match="does not start"):
        Worker(launch, tmp_path / "log")


def test_a_silent_worker_hangs_and_is_ended(tmp_path: Path) -> None:
    text = f"print('{HELLO}', flush=True); import signal; signal.pause()"
    with Worker(script(text, tmp_path), tmp_path / "log") as worker, pytest.raises(WorkerHung):
        worker.ask("run", 0.2)
    assert worker._process.poll() is not None


def test_standard_error_goes_to_the_log(tmp_path: Path) -> None:
    text = "import sys; sys.exit('out of cheese')"
    with pytest.raises(WorkerCrashed):
        Worker(script(text, tmp_path), tmp_path / "log")
    assert "out of cheese" in (tmp_path / "log").read_text()
