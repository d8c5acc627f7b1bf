"""A kit arrives as the one that was asked for, or not at all."""

import gzip
import io
import os
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kexbench.domain.kits import KitManifest
from kexbench.kits import transport
from kexbench.kits.recipe import MANIFEST_NAME
from kexbench.kits.transport import DamagedKit, pack, unpack

from .laid_out import WORKER, lay_out

FILES = {**WORKER, "lib/libtls.so.3": b"a library", "lib/engines/none.so": b"", "share/ä file": b"\x00\xff" * 5000}


def files_in(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def packed(tmp_path: Path) -> tuple[Path, KitManifest]:
    manifest = lay_out(tmp_path / "kit", FILES)
    pack(tmp_path / "kit", tmp_path / "kit.tar")
    return tmp_path / "kit.tar", manifest


def assert_refused(archive: Path, kit_id: str, says: str) -> None:
    """And nothing is left of it."""
    before = set(archive.parent.rglob("*"))
    with pytest.raises(DamagedKit, match=says):
        unpack(archive, kit_id, archive.parent / "arrived")
    assert set(archive.parent.rglob("*")) == before


def test_a_kit_arrives_as_it_was(tmp_path: Path) -> None:
    archive, manifest = packed(tmp_path)
    assert unpack(archive, manifest.kit_id, tmp_path / "arrived") == manifest
    assert files_in(tmp_path / "arrived") == files_in(tmp_path / "kit")


def test_what_can_be_run_can_be_run_there_and_nothing_can_be_written(tmp_path: Path) -> None:
    archive, manifest = packed(tmp_path)
    unpack(archive, manifest.kit_id, tmp_path / "arrived")
    modes = {
        path.relative_to(tmp_path / "arrived").as_posix(): path.stat().st_mode & 0o777
        for path in (tmp_path / "arrived").rglob("*")
        if path.is_file()
    }
    assert modes == {name: 0o555 if name == "bin/worker" else 0o444 for name in (*FILES, MANIFEST_NAME)}


def test_a_probe_comes_along(tmp_path: Path) -> None:
    manifest = lay_out(tmp_path / "kit", FILES)
    (tmp_path / "kit/probe.json").write_text("{}")
    pack(tmp_path / "kit", tmp_path / "kit.tar")
    unpack(tmp_path / "kit.tar", manifest.kit_id, tmp_path / "arrived")
    assert (tmp_path / "arrived/probe.json").read_text() == "{}"


def test_the_same_kit_gives_the_same_bytes_whenever_and_however_it_was_laid_out(tmp_path: Path) -> None:
    twins = {**FILES, "lib/twin": FILES["lib/libtls.so.3"]}
    for name in ("here", "there"):
        lay_out(tmp_path / name, twins)
    there = tmp_path / "there"
    (there / "lib/twin").unlink()
    (there / "lib/twin").hardlink_to(there / "lib/libtls.so.3")
    (there / "lib/libtls.so.3").chmod(0o600)
    os.utime(there / "bin/worker", (1, 1))
    for name in ("here", "there"):
        pack(tmp_path / name, tmp_path / f"{name}.tar")
    assert (tmp_path / "here.tar").read_bytes() == (tmp_path / "there.tar").read_bytes()


def test_nothing_of_the_machine_is_in_an_archive(tmp_path: Path) -> None:
    archive, _ = packed(tmp_path)
    with tarfile.open(archive) as found:
        for member in found:
            assert (member.uid, member.gid, member.uname, member.gname, member.mtime) == (0, 0, "", "", 0)


def test_another_kit_than_the_one_that_was_asked_for_is_refused(tmp_path: Path) -> None:
    archive, manifest = packed(tmp_path)
    assert_refused(archive, "0" * 16, f"received kit {manifest.kit_id}, expected 0000000000000000")


def _change(kit: Path) -> None:
    (kit / "bin/worker").chmod(0o755)
    (kit / "bin/worker").write_bytes(b"another worker")


def _add(kit: Path) -> None:
    (kit / "lib/extra.so").write_bytes(b"")


def _remove(kit: Path) -> None:
    (kit / "lib/libtls.so.3").unlink()


@pytest.mark.parametrize("damage", [_change, _add, _remove])
def test_a_kit_whose_files_are_others_is_refused(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    manifest = lay_out(tmp_path / "kit", FILES)
    damage(tmp_path / "kit")
    pack(tmp_path / "kit", tmp_path / "kit.tar")
    assert_refused(tmp_path / "kit.tar", manifest.kit_id, "do not match its manifest")


def test_an_edited_manifest_is_refused(tmp_path: Path) -> None:
    manifest = lay_out(tmp_path / "kit", FILES)
    text = (tmp_path / "kit" / MANIFEST_NAME).read_text()
    (tmp_path / "kit" / MANIFEST_NAME).chmod(0o644)
    (tmp_path / "kit" / MANIFEST_NAME).write_text(text.replace("glibc", "musl"))
    pack(tmp_path / "kit", tmp_path / "kit.tar")
    assert_refused(tmp_path / "kit.tar", manifest.kit_id, "does not match the manifest's contents")


def with_member(archive: Path, member: tarfile.TarInfo) -> None:
    content = b"#!/bin/sh\n" if member.isfile() else b""
    member.size = len(content)
    with tarfile.open(archive, "a") as opened:
        opened.addfile(member, io.BytesIO(content))


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    found = tarfile.TarInfo(name)
    found.type, found.linkname = kind, link
    return found


@pytest.mark.parametrize(
    ("added", "says"),
    [
        (member("../outside"), "outside"),
        (member("lib/../../outside"), "outside"),
        (member("lib/link", tarfile.SYMTYPE, "../../outside"), "neither a file nor a folder"),
        (member("lib/link", tarfile.SYMTYPE, "nowhere"), "neither a file nor a folder"),
        (member("lib/link", tarfile.LNKTYPE, "nowhere"), "neither a file nor a folder"),
        (member("lib/pipe", tarfile.FIFOTYPE), "neither a file nor a folder"),
        (member("lib/disk", tarfile.BLKTYPE), "neither a file nor a folder"),
    ],
    ids=["up", "down and up", "link out", "broken link", "hard link to nothing", "pipe", "device"],
)
def test_a_member_that_no_kit_has_is_refused(tmp_path: Path, added: tarfile.TarInfo, says: str) -> None:
    archive, manifest = packed(tmp_path)
    with_member(archive, added)
    assert_refused(archive, manifest.kit_id, says)
    assert not (tmp_path / "outside").exists()
    assert not (tmp_path.parent / "outside").exists()


def test_an_absolute_name_never_leaves_the_kit(tmp_path: Path) -> None:
    archive, manifest = packed(tmp_path)
    with_member(archive, member(f"{tmp_path}/outside"))
    assert_refused(archive, manifest.kit_id, "leads outside")


def test_more_than_the_limit_is_refused_before_anything_is_laid_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive, manifest = packed(tmp_path)
    held = sum(map(len, files_in(tmp_path / "kit").values()))
    monkeypatch.setattr(transport, "KIT_MAX_BYTES", held)
    unpack(archive, manifest.kit_id, tmp_path / "just")
    shutil.rmtree(tmp_path / "just")
    monkeypatch.setattr(transport, "KIT_MAX_BYTES", held - 1)
    assert_refused(archive, manifest.kit_id, "is larger than")


def test_a_compressed_archive_is_refused_since_more_would_come_out_than_went_in(tmp_path: Path) -> None:
    archive, manifest = packed(tmp_path)
    archive.write_bytes(gzip.compress(archive.read_bytes()))
    assert_refused(archive, manifest.kit_id, "can't be unpacked")


@pytest.mark.parametrize("content", [b"", b"\0" * 10240, b"no archive at all" * 100])
def test_what_is_no_archive_of_a_kit_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "kit.tar").write_bytes(content)
    assert_refused(tmp_path / "kit.tar", "0" * 16, "can't be unpacked")


def test_a_truncated_archive_is_refused_wherever_it_ends(tmp_path: Path) -> None:
    archive, manifest = packed(tmp_path)
    whole = archive.read_bytes()
    with tarfile.open(archive) as opened:
        last = opened.getmembers()[-1]
    end = last.offset_data + last.size
    for length in {*range(0, end, 509), end - 1}:
        archive.write_bytes(whole[:length])
        with pytest.raises(DamagedKit):
            unpack(archive, manifest.kit_id, tmp_path / "arrived")
        assert not (tmp_path / "arrived").exists()


_NAMES = st.text(st.characters(exclude_characters="/\0\n", exclude_categories=["Cs"]), min_size=1, max_size=40).filter(
    lambda name: name not in (".", "..") and len(name.encode()) < 200
)


@given(st.dictionaries(_NAMES.map("lib/{}".format), st.binary(max_size=3000), max_size=6))
def test_whatever_its_files_are_called_and_hold_a_kit_arrives_as_it_was(files: dict[str, bytes]) -> None:
    with TemporaryDirectory() as folder:
        place = Path(folder)
        manifest = lay_out(place / "kit", {**WORKER, **files})
        pack(place / "kit", place / "kit.tar")
        assert unpack(place / "kit.tar", manifest.kit_id, place / "arrived") == manifest
        assert files_in(place / "arrived") == files_in(place / "kit")
