"""A home may have any name: make and the builds of libraries do not take every path, so they do not get it."""

import errno
from pathlib import Path

import pytest

from kexbench.domain.kits import SubjectRef
from kexbench.files import move
from kexbench.kits import KitStore, Workshop, default_providers
from kexbench.settings import Settings
from tests.compiled_once import CompiledOnce
from tests.conftest import FakeKit


def test_a_kit_is_the_same_in_a_home_with_a_space(tmp_path: Path, fake_kit: FakeKit) -> None:
    home = tmp_path / "my höme #1"
    workshop = Workshop(CompiledOnce(Settings().workers), default_providers(home / "cache"))
    kits = KitStore(home / "kits", workshop)
    kit = kits.add(SubjectRef.parse("fake@1.0+noise=0"))
    assert kit.kit_id == fake_kit("fake@1.0+noise=0")[1].kit_id
    assert kits.verify(kit.kit_id) == ()
    assert list((home / "kits" / ".scratch").iterdir()) == []


def another_file_system(monkeypatch: pytest.MonkeyPatch, source: Path) -> None:
    rename = Path.rename

    def renamed(path: Path, target: Path) -> Path:
        if path == source:
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", renamed)


def test_what_moves_to_another_file_system_is_whole_or_absent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, target = tmp_path / "built", tmp_path / "kits" / "kit"
    (source / "bin").mkdir(parents=True)
    (source / "bin" / "worker").write_text("worker")
    (source / "link").symlink_to("bin/worker")
    target.parent.mkdir()
    another_file_system(monkeypatch, source)
    move(source, target)
    assert (target / "link").read_text() == "worker"
    assert (target / "link").is_symlink()
    assert list(target.parent.iterdir()) == [target]
    with pytest.raises(OSError, match=r"Directory not empty|File exists"):
        move(source, target)
    assert list(target.parent.iterdir()) == [target], "no half of it is left"
