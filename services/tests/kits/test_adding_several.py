"""Several kits added at once: side by side, each on its own, and none left half-made."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Barrier

import pytest

from kexbench.domain.kits import KitManifest, SubjectRef
from kexbench.kits import KitError, KitStore
from kexbench.kits.attempts import builds_at_once
from kexbench.kits.errors import StepFailed
from kexbench.kits.fake import FakeProvider
from kexbench.kits.process import Attempt, Children, Ended
from kexbench.kits.provider import Materials, Resolution
from kexbench.locks import locked

from .conftest import Kitchen, kitchen_in


class Meeting(FakeProvider):
    """Fetches only while another one does too; refuses what is named 6.6."""

    def __init__(self, participants: int) -> None:
        self.barrier = Barrier(participants, timeout=20)
        self.shares: list[int] = []

    def fetch(self, resolution: Resolution, attempt: Attempt) -> Materials:
        self.shares.append(attempt.share_of(3))
        self.barrier.wait()
        if resolution.version == "6.6":
            raise StepFailed("fetch", "set to fail", "name another")
        return super().fetch(resolution, attempt)


def refs(*versions: str) -> list[SubjectRef]:
    return [SubjectRef.parse(f"fake@{version}") for version in versions]


def test_kits_are_made_side_by_side_and_given_in_the_order_they_were_asked_for(tmp_path: Path) -> None:
    meeting = Meeting(2)
    kitchen = kitchen_in(tmp_path, (meeting,))
    made = kitchen.kit_store.add_all(refs("1.3", "1.2", "1.1", "1.0"), kitchen.said.append, at_once=2)
    assert [kit.version for kit in made.values() if isinstance(kit, KitManifest)] == ["1.3", "1.2", "1.1", "1.0"]
    assert list(made) == refs("1.3", "1.2", "1.1", "1.0")
    assert meeting.shares == [2] * 4
    assert kitchen.leftovers() == []


def test_what_is_said_tells_which_of_how_many_it_is_about(kitchen: Kitchen) -> None:
    kitchen.kit_store.add_all(refs("1.0", "1.1"), kitchen.said.append)
    assert any(line.startswith("[1/2] fake@1.0: compiling the worker") for line in kitchen.said)
    assert any(line.startswith("[2/2] fake@1.1: fake@1.1 is fake-1.1-") for line in kitchen.said)


def test_one_alone_is_not_counted(kitchen: Kitchen) -> None:
    kitchen.kit_store.add_all(refs("1.0"), kitchen.said.append)
    assert any(line.startswith("compiling the worker") for line in kitchen.said)


def test_a_reference_named_twice_is_made_once(kitchen: Kitchen) -> None:
    made = kitchen.kit_store.add_all(refs("1.0", "1.0"), kitchen.said.append)
    assert len(made) == 1
    assert sum("compiling" in line for line in kitchen.said) == 1
    assert kitchen.kit_store.add_all([]) == {}


def test_one_that_fails_stops_no_other_and_keeps_its_log(tmp_path: Path) -> None:
    kitchen = kitchen_in(tmp_path, (Meeting(2),))
    made = kitchen.kit_store.add_all(refs("1.0", "6.6", "1.1", "1.2"), kitchen.said.append, at_once=2)
    (failed,) = [result for result in made.values() if isinstance(result, KitError)]
    assert (failed.ref, failed.reason, failed.remedy) == ("fake@6.6", "set to fail", "name another")
    assert failed.log_path is not None
    assert "set to fail" in failed.log_path.read_text()
    assert "[2/4] fake@6.6: fetch failed" in kitchen.said
    assert [kit.version for kit in kitchen.kit_store.list()] == ["1.0", "1.1", "1.2"]
    assert kitchen.leftovers() == []


def test_what_was_made_before_a_failure_is_not_made_again(tmp_path: Path) -> None:
    first = kitchen_in(tmp_path, (Meeting(1),))
    first.kit_store.add_all(refs("1.0", "6.6"), at_once=1)
    again = kitchen_in(tmp_path)
    made = again.kit_store.add_all(refs("1.0", "6.6"), again.said.append)
    assert all(isinstance(kit, KitManifest) for kit in made.values())
    assert any("[1/2] fake@1.0: fake@1.0 is unchanged" in line for line in again.said)


class Twins(FakeProvider):
    """Every reference means the same."""

    def resolve(self, ref: SubjectRef, attempt: Attempt, *, refresh: bool) -> Resolution:
        return super().resolve(SubjectRef.parse("fake@1.0"), attempt, refresh=refresh)


def test_two_references_that_mean_the_same_kit_share_it(tmp_path: Path) -> None:
    kitchen = kitchen_in(tmp_path, (Twins(),))
    made = kitchen.kit_store.add_all(refs("1.0", "1.1"), at_once=2)
    assert {kit.kit_id for kit in made.values() if isinstance(kit, KitManifest)} == {kitchen.kit_store.list()[0].kit_id}
    assert len(kitchen.kit_store.list()) == 1
    assert kitchen.leftovers() == []


def test_a_kit_store_that_cannot_be_written_is_reported_once(tmp_path: Path) -> None:
    (tmp_path / "kits").write_text("no folder")
    with pytest.raises(KitError, match="store failed"):
        KitStore(tmp_path / "kits").add_all(refs("1.0", "1.1"))


def test_tools_that_are_ended_together_end_and_no_more_are_started(tmp_path: Path) -> None:
    children = Children()
    attempt = Attempt(tmp_path, tmp_path / "log", lambda _: None, children=children)
    process = subprocess.Popen(["sleep", "60"], start_new_session=True)
    children.started(process.pid)
    children.end()
    assert process.wait(timeout=20) == -signal.SIGKILL
    with pytest.raises(Ended):
        attempt.run(["touch", str(tmp_path / "started")], stage="compile", timeout_s=5)
    assert not (tmp_path / "started").exists()


def test_a_tool_started_while_all_are_ended_ends_at_once() -> None:
    children = Children()
    children.end()
    process = subprocess.Popen(["sleep", "60"], start_new_session=True)
    children.started(process.pid)
    assert process.wait(timeout=20) == -signal.SIGKILL


def test_waiting_for_what_another_process_builds_is_ended_as_well(tmp_path: Path) -> None:
    children = Children()
    attempt = Attempt(tmp_path, tmp_path / "log", lambda _: None, children=children)
    with (
        locked(tmp_path / "lock", attempt.note),
        pytest.raises(Ended),
        locked(tmp_path / "lock", lambda _: children.end(), attempt.go_on),
    ):
        raise AssertionError("two hold the lock")


def lives(process: int) -> bool:
    """Whether it runs; what has ended may wait for a parent that looks at it."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_ctrl_c_ends_every_build_with_its_tools_and_leaves_nothing_half_made(tmp_path: Path) -> None:
    """Two compilers wait when the signal comes; a third kit was finished before."""
    kitchen = kitchen_in(tmp_path)
    done = kitchen.add("fake@1.0")
    makefile = kitchen.worker / "Makefile"
    usual = makefile.read_text()
    markers = tmp_path / "compiling"
    markers.mkdir()
    makefile.write_text(
        usual.replace(
            "\t$(CC)",
            f"\techo $$$$ > {markers}/part$$$$ && mv {markers}/part$$$$ {markers}/$$$$ && exec sleep 60\n\t$(CC)",
        )
    )
    code = (
        "import signal, sys; from pathlib import Path; sys.path.insert(0, sys.argv[2]);"
        "signal.signal(signal.SIGINT, signal.default_int_handler);"  # a shell's background job ignores it
        "from kits.conftest import kitchen_in; from kexbench.domain.kits import SubjectRef;"
        "kitchen_in(Path(sys.argv[1])).kit_store.add_all("
        "[SubjectRef.parse(f'fake@1.{n}') for n in (1, 2, 3)], at_once=2)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path), str(Path(__file__).parents[1])],
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    compiling: list[int] = []
    deadline = time.monotonic() + 60
    while len(compiling) < 2 and time.monotonic() < deadline:
        compiling = [int(path.name) for path in markers.glob("[0-9]*")]
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)

    assert "KeyboardInterrupt" in errors
    assert len(compiling) == 2
    assert [tool for tool in compiling if lives(tool)] == []
    assert kitchen.kit_store.list() == (done,)
    assert kitchen.leftovers() == []
    makefile.write_text(usual)
    assert all(
        isinstance(kit, KitManifest) for kit in kitchen.kit_store.add_all(refs("1.0", "1.1", "1.2", "1.3")).values()
    )


@pytest.mark.parametrize(("cpus", "builds"), [(1, 1), (2, 2), (8, 2), (16, 4), (64, 16)])
def test_machines_build_as_many_at_once_as_keep_them_busy(
    cpus: int, builds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(cpus)))
    assert builds_at_once() == builds


def test_kits_that_are_in_the_kit_store_are_had_while_another_process_makes_one(kitchen: Kitchen) -> None:
    """The other process holds the right to make kits for as long as this test lasts."""
    made = kitchen.kit_store.add_all(refs("1.0", "1.1"))
    script = (
        "import sys; from pathlib import Path; from kexbench.locks import locked\n"
        "with locked(Path(sys.argv[1]), print): print('held', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", script, str(kitchen.kit_store.root / ".lock")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdin is not None
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        said: list[str] = []

        def refuse(text: str) -> None:
            said.append(text)
            assert "waiting" not in text

        assert kitchen.kit_store.add_all(refs("1.0", "1.1"), refuse) == made
        assert kitchen.kit_store.add(refs("1.0")[0], refuse) == made[refs("1.0")[0]]
        assert any("unchanged" in text for text in said)
        other.stdin.close()
    assert kitchen.leftovers() == []


def test_what_a_killed_process_left_is_cleared_and_what_another_works_in_stays(kitchen: Kitchen) -> None:
    kitchen.kit_store.add(refs("1.0")[0])
    scratch = kitchen.kit_store.root / ".scratch"
    for name in ("dead", "alive"):
        (scratch / name).mkdir()
        (scratch / f"{name}.lock").touch()
    (scratch / "of an earlier release").mkdir()
    with locked(scratch / "alive.lock", print):
        kitchen.kit_store.add(refs("1.1")[0])
        assert {path.name for path in scratch.iterdir()} == {"alive", "alive.lock"}
