"""What a pod ends with: Argo reads the exit status, people the last line."""

from pathlib import Path
from unittest.mock import Mock

import pytest

from kexbench.agent import __main__ as agent
from kexbench.agent.environment import BuildContainer, BuilderPod, JobPod, LinePod, SchedulePod
from kexbench.agent.measure import NotIsolated, RunnerFailed
from kexbench.client import Refused, Unreachable
from kexbench.kits import KitError
from kexbench.kits.transport import DamagedKit

ENVIRONMENT = {
    "API_URL": "http://127.0.0.1:9",
    "TOKEN_FILE": "/nowhere/token",
    "RUN_ID": "run",
    "SCHEDULE": "nightly",
    "SCHEDULED_TIME": "2026-01-01T03:00:00Z",
    "JOB_ID": "job",
    "ATTEMPT": "4",
    "CPUS": "2",
    "POD_NAME": "pod",
    "POD_UID": "uid",
    "NODE_NAME": "node",
    "REFERENCE": "fake@1.0",
    "ARCHITECTURE": "x86_64",
    "BISECTION_ID": "bisection",
    "GOOD": "fake@git:https://example.org/fake.git#v1",
    "BAD": "fake@git:https://example.org/fake.git#main",
}
UNFOUND = KitError("fake@git:https://example.org/fake.git#main", "resolve", "there is no branch main")
UNMADE = KitError("fake@1.0", "compile", "the compiler says no", "install another", Path("/var/lib/kexbench/log"))


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(f"KEXBENCH_{name}", value)


@pytest.mark.parametrize(
    ("action", "end", "status", "last_line"),
    [
        ("fetch", None, 0, ""),
        ("measure", True, 0, ""),
        ("build", None, 0, ""),
        ("submit", None, 0, ""),
        ("measure", False, 3, ""),
        ("fetch", Unreachable("nobody answers"), 1, "nobody answers"),
        ("measure", Unreachable("nobody answers"), 1, "nobody answers"),
        ("measure", RunnerFailed("the runner failed with exit status 2"), 1, "the runner failed with exit status 2"),
        ("fetch", DamagedKit("kit 0 is damaged"), 2, "kit 0 is damaged"),
        ("find_line", None, 0, ""),
        ("find_line", UNFOUND, 2, f"{UNFOUND}"),
        ("build", KitError("fake@1.0", "fetch", "no network"), 2, "fake@1.0: fetch failed: no network"),
        (
            "build",
            KitError("fake@1.0", "compile", "the disk is full", lack="disk"),
            2,
            "fake@1.0: compile failed: the disk is full",
        ),
        (
            "build",
            UNMADE,
            6,
            "fake@1.0: compile failed: the compiler says no; remedy: install another; log: /var/lib/kexbench/log",
        ),
        ("measure", NotIsolated("shared; say best-effort"), 4, "shared; say best-effort"),
        ("fetch", Refused(409, "not started"), 5, "not started"),
        ("measure", Refused(403, "another pod's"), 5, "another pod's"),
        ("send", Refused(422, "damaged"), 5, "damaged"),
        ("send", DamagedKit("no regular file"), 2, "no regular file"),
        ("send", None, 0, ""),
        ("submit", Refused(404, "there is no schedule nightly"), 5, "there is no schedule nightly"),
    ],
)
def test_every_end_has_its_status_and_says_why(
    action: str,
    end: Exception | bool | None,
    status: int,
    last_line: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    def do(*_: object) -> bool | None:
        if isinstance(end, Exception):
            raise end
        return end

    monkeypatch.setattr(agent, "TERMINATION_LOG", tmp_path / "termination-log")
    (tmp_path / "termination-log").touch()  # as Kubernetes does
    monkeypatch.setattr(agent, action, do)
    assert agent.main([action.removeprefix("find_")]) == status
    said = capsys.readouterr().err.splitlines()
    assert said == ([last_line] if last_line else [])
    assert (tmp_path / "termination-log").read_text() == last_line


def test_outside_a_container_no_file_is_made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(agent, "TERMINATION_LOG", tmp_path / "termination-log")
    monkeypatch.setattr(agent, "send", Mock(side_effect=Refused(422, "damaged")))
    assert agent.main(["send"]) == 5
    assert not (tmp_path / "termination-log").exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [([], "got nothing"), (["dance"], "got dance"), (["fetch", "measure"], "got fetch measure")],
)
def test_what_it_cannot_do_is_reported_with_what_it_can(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert agent.main(arguments) == 2
    assert capsys.readouterr().err.strip() == f"expected one of fetch, measure, build, send, line, submit, {says}"


def test_a_bug_is_no_end_that_is_planned_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def do(pod: object, api: object, say: object) -> None:
        raise AssertionError

    monkeypatch.setattr(agent, "fetch", do)
    with pytest.raises(AssertionError):
        agent.main(["fetch"])


def test_what_to_do_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[object] = []

    def do(pod: object, *_: object) -> None:
        seen.append(pod)

    monkeypatch.setattr(agent, "fetch", do)
    monkeypatch.setattr(agent, "build", do)
    monkeypatch.setattr(agent, "find_line", do)
    monkeypatch.setattr(agent, "submit", do)
    monkeypatch.setattr(agent, "send", do)
    for action in ("fetch", "build", "send", "line", "submit"):
        agent.main([action])
    job, building, builder, line, schedule = seen
    assert isinstance(job, JobPod)
    assert (job.path, job.attempt, job.cpus, job.work) == ("/runs/run/jobs/job", 4, 2, Path("/var/lib/kexbench"))
    assert isinstance(building, BuildContainer)
    assert (building.reference, building.architecture) == ("fake@1.0", "x86_64")
    assert isinstance(builder, BuilderPod)
    assert builder.built == building.built
    assert isinstance(line, LinePod)
    assert (line.bisection_id, line.good[-2:], line.bad[-4:]) == ("bisection", "v1", "main")
    assert isinstance(schedule, SchedulePod)
    assert (schedule.schedule, schedule.scheduled_time) == ("nightly", "2026-01-01T03:00:00Z")
