"""What archives may leave on the disk, and where."""

import io
import os
import tarfile
from pathlib import Path

import pytest

from kexbench.kits import extraction
from kexbench.kits.extraction import UnsafeMember, extract


def archive(*members: tuple[str, bytes, str]) -> tarfile.TarFile:
    """Members as name, type and what they link to; files hold their own name and belong to somebody else."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as packed:
        for name, kind, link in members:
            member = tarfile.TarInfo(name)
            member.type, member.linkname, member.uid, member.gid, member.mode = kind, link, 4711, 4711, 0o6777
            content = name.encode() if kind == tarfile.REGTYPE else b""
            member.size = len(content)
            packed.addfile(member, io.BytesIO(content))
    buffer.seek(0)
    return tarfile.open(fileobj=buffer)


def a_file(name: str) -> tuple[str, bytes, str]:
    return name, tarfile.REGTYPE, ""


def test_files_folders_and_links_inside_are_laid_out_as_ones_own(tmp_path: Path) -> None:
    members = [("a", tarfile.DIRTYPE, ""), a_file("a/b/file"), ("a/link", tarfile.SYMTYPE, "b/file")]
    members += [("a/b/up", tarfile.SYMTYPE, "../b/file"), ("hard", tarfile.LNKTYPE, "a/b/file")]
    extract(archive(*members), tmp_path)
    for name in ("a/b/file", "a/link", "a/b/up", "hard"):
        assert (tmp_path / name).read_text() == "a/b/file"
    found = (tmp_path / "a/b/file").stat()
    assert (found.st_uid, found.st_mode & 0o7777) == (os.getuid(), 0o755)


@pytest.mark.parametrize(
    "members",
    [
        [a_file("../outside")],
        [a_file("/tmp/outside")],
        [a_file("a/../../outside")],
        [("link", tarfile.SYMTYPE, "../outside")],
        [("link", tarfile.SYMTYPE, "/etc/passwd")],
        [("a/link", tarfile.SYMTYPE, "../../outside")],
        [("hard", tarfile.LNKTYPE, "../outside")],
        [("hard", tarfile.LNKTYPE, "/etc/passwd")],
        [("a", tarfile.DIRTYPE, ""), ("a/link", tarfile.SYMTYPE, "b/../../outside")],
        [a_file("a/../outside")],
        [("pipe", tarfile.FIFOTYPE, "")],
        [("device", tarfile.CHRTYPE, "")],
    ],
    ids=lambda members: f"{members[0][0]} {members[0][2]}",
)
def test_whatever_leads_outside_or_is_no_file_is_refused(tmp_path: Path, members: list[tuple[str, bytes, str]]) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    with pytest.raises(UnsafeMember, match=r"outside|neither"):
        extract(archive(*members), inside)
    assert [path.name for path in tmp_path.iterdir()] == ["inside"]
    assert not [path for path in inside.rglob("*") if not path.is_dir()]


@pytest.mark.parametrize(
    "members",
    [
        [("x", tarfile.SYMTYPE, "."), ("hard", tarfile.LNKTYPE, "x/../outside")],
        [("x", tarfile.SYMTYPE, "."), ("link", tarfile.SYMTYPE, "x/../outside")],
        [("link", tarfile.SYMTYPE, "x/../outside"), ("x", tarfile.SYMTYPE, ".")],
        [("x", tarfile.SYMTYPE, "."), a_file("x/../outside")],
        [("x", tarfile.SYMTYPE, "."), ("x/x/link", tarfile.SYMTYPE, "../../outside")],
        [("x", tarfile.SYMTYPE, "."), ("x/x/x/link", tarfile.SYMTYPE, ".."), a_file("link/outside")],
    ],
    ids=lambda members: f"{members[-1][0]} {members[-1][2]}",
)
def test_links_to_the_folder_itself_lead_nobody_outside(tmp_path: Path, members: list[tuple[str, bytes, str]]) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.write_text("somebody else's")
    with pytest.raises(UnsafeMember, match="leads outside"):
        extract(archive(*members), inside)
    assert outside.read_text() == "somebody else's"
    assert outside.stat().st_nlink == 1
    assert all(path.resolve().is_relative_to(inside) for path in inside.rglob("*"))


def test_a_folder_that_was_a_link_before_is_not_written_through(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    (inside / "there").symlink_to(outside)
    with pytest.raises(UnsafeMember, match="there/file leads outside"):
        extract(archive(a_file("there/file")), inside)
    assert list(outside.iterdir()) == []


def test_a_hard_link_through_a_link_that_was_there_before_is_refused(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    (outside / "file").write_text("somebody else's")
    (inside / "there").symlink_to(outside)
    with pytest.raises(UnsafeMember, match="hard links to there/file, which leads outside"):
        extract(archive(("hard", tarfile.LNKTYPE, "there/file")), inside)
    assert (outside / "file").stat().st_nlink == 1


@pytest.mark.skipif(not hasattr(tarfile, "data_filter"), reason="this Python has no filter of its own")
@pytest.mark.parametrize(
    "member", [a_file("../outside"), ("link", tarfile.SYMTYPE, "../outside"), ("pipe", tarfile.FIFOTYPE, "")]
)
def test_pythons_own_filter_refuses_what_the_checks_here_let_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, member: tuple[str, bytes, str]
) -> None:
    monkeypatch.setattr(extraction, "_check", lambda *_: None)
    inside = tmp_path / "inside"
    inside.mkdir()
    with pytest.raises(tarfile.FilterError):
        extract(archive(member), inside)
    assert [path.name for path in tmp_path.rglob("*")] == ["inside"]
