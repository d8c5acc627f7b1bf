"""Relinks and burns: other kits of the same library, of which only what is meant differs."""

import subprocess
from pathlib import Path

import pytest

from kexbench.kits import KitError
from kexbench.kits.archives import archive_members
from kexbench.kits.errors import StepFailed
from kexbench.kits.relink import StaticParts, static_parts

from .conftest import Kitchen, kitchen_in
from .debian_archive import SUITE
from .prefix_tree import write_tree


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return write_tree(write_tree(tmp_path / "own"), static=True)


def archive_of(folder: Path, *members: str) -> Path:
    """An archive of small files as `ar` writes it, from a folder each, so that names may repeat."""
    paths = [folder / str(number) / name for number, name in enumerate(members)]
    for number, path in enumerate(paths):
        path.parent.mkdir()
        path.write_bytes(b"x" * number + path.name.encode())
    subprocess.run(["ar", "qc", folder / "libmany.a", *paths], check=True)
    return folder / "libmany.a"


def test_every_member_of_an_archive_is_read_also_those_of_one_name_and_of_long_names(tmp_path: Path) -> None:
    long = "a-name-that-is-longer-than-fifteen-characters.o"
    archive = archive_of(tmp_path, "a.o", "b.o", "a.o", long)
    assert list(archive_members(archive)) == [b"a.o", b"xb.o", b"xxa.o", b"xxx" + long.encode()]


@pytest.mark.parametrize(
    ("content", "says"),
    [(b"", "not a static archive"), (b"!<thin>\n", "thin archive"), (b"!<arch>\nshort", "damaged at byte 8")],
)
def test_what_is_no_whole_archive_is_refused(content: bytes, says: str, tmp_path: Path) -> None:
    (tmp_path / "lib.a").write_bytes(content)
    with pytest.raises(StepFailed, match=says):
        list(archive_members(tmp_path / "lib.a"))


def test_an_archive_that_was_cut_off_is_damaged(tmp_path: Path) -> None:
    archive = archive_of(tmp_path, "a.o")
    archive.write_bytes(archive.read_bytes()[:-2])
    with pytest.raises(StepFailed, match="damaged"):
        list(archive_members(archive))


def test_a_seed_gives_one_order_of_all_objects_and_another_seed_another(tmp_path: Path) -> None:
    archive = archive_of(tmp_path, *(f"{letter}.o" for letter in "abcdefgh"))
    parts = StaticParts((archive,), ("-lz",))

    def order(seed: int, name: str) -> list[bytes]:
        response, rest = parts.shuffled(seed, tmp_path / name)
        assert rest == "-lz"
        return [Path(line).read_bytes() for line in Path(response.removeprefix("@")).read_text().splitlines()]

    assert sorted(order(1, "one")) == sorted(archive_members(archive))
    assert order(1, "again") == order(1, "elsewhere") != order(2, "two")


def test_a_relink_is_static_and_tells_no_seed_in_its_profile(kitchen: Kitchen, tree: Path) -> None:
    plain, one, two = (kitchen.add(f"openssl@prefix:{tree}{variant}") for variant in ("", "+relink=1", "+relink=2"))
    assert plain.build_profile.linkage == "shared"
    assert one.build_profile == two.build_profile
    assert (one.build_profile.linkage, one.build_profile.flags) == ("static", "-fPIC -m64 -O3 relink")
    assert one.worker_flags == two.worker_flags
    assert one.kit_id != two.kit_id
    assert not any("ssl" in name for name in one.files)


def test_the_same_relink_is_the_same_kit_wherever_it_is_made(tmp_path: Path, tree: Path) -> None:
    kits = [kitchen_in(tmp_path / name).add(f"openssl@prefix:{tree}+relink=7") for name in ("here", "there")]
    assert kits[0] == kits[1]


def test_a_relink_needs_the_static_library_and_says_so(kitchen: Kitchen, tree: Path) -> None:
    (tree / "lib/libcrypto.a").unlink()
    with pytest.raises(KitError, match=r"no static libcrypto\.a"):
        kitchen.add(f"openssl@prefix:{tree}+relink=1")


def test_libraries_without_objects_to_shuffle_are_linked_as_they_are(tmp_path: Path) -> None:
    for name in ("libgnutls.a", "libnettle.a", "libtasn1.a"):
        (tmp_path / name).touch()
    sonames = ("libgnutls.so.30", "libnettle.so.8", "libtasn1.so.6", "libhogweed.so.6", "libc.so.6")
    parts = static_parts("gnutls", {soname: tmp_path / soname for soname in sonames})
    assert [path.name for path in parts.archives] == ["libgnutls.a", "libnettle.a"]
    assert parts.words == (
        "-Wl,--as-needed", f"{tmp_path}/libhogweed.so.6", f"{tmp_path}/libtasn1.so.6", "-ldl", "-pthread"
    )  # fmt: skip


def test_a_suites_library_is_not_relinked(kitchen: Kitchen) -> None:
    with pytest.raises(KitError, match="can't be relinked") as caught:
        kitchen.add(f"openssl@debian/{SUITE}+relink=1")
    assert "openssl@system+relink=1" in caught.value.remedy


def test_a_burn_is_the_same_program_set_to_burn(kitchen: Kitchen, tree: Path) -> None:
    plain, less, more = (kitchen.add(f"openssl@prefix:{tree}{variant}") for variant in ("", "+burn=500", "+burn=3000"))
    assert plain.build_profile.id == less.build_profile.id == more.build_profile.id
    assert more.arguments == ("--burn", "3000")
    assert plain.files == less.files == more.files
    assert len({kit.kit_id for kit in (plain, less, more)}) == 3


def test_a_variant_nobody_knows_is_refused_before_anything_is_done(kitchen: Kitchen) -> None:
    with pytest.raises(ValueError, match="unknown variant"):
        kitchen.add("openssl@system+speed=2")
