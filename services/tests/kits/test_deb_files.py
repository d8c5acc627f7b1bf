"""Kits of packages that are in no archive, with the small archive of a folder for everything else."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from kexbench.kits import KitError
from kexbench.kits.deb_files import DebFilesProvider
from kexbench.kits.debian import DebianProvider
from kexbench.kits.mirrors import Mirror
from kexbench.kits.target import this_architecture

from .conftest import Kitchen, kitchen_in
from .debian_archive import FIPS_MODULE, SUITE, write_archive

pytestmark = pytest.mark.skipif(not (shutil.which("apt-get") and shutil.which("dpkg-deb")), reason="no apt, no dpkg")
SUITES = f"openssl@debian/{SUITE}"
OWN = "9.8.7-1~deb99u1+own1"


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    return write_archive(tmp_path / "archive")


@pytest.fixture
def debs(tmp_path: Path) -> Path:
    folder = tmp_path / "debs"
    folder.mkdir()
    return folder


@pytest.fixture
def kitchen(tmp_path: Path, archive: Path) -> Kitchen:
    mirror, cache = Mirror(archive=f"file:{archive}", security=None, keyring=None), tmp_path / "cache"
    return kitchen_in(tmp_path, (DebianProvider(cache, mirror), DebFilesProvider(cache, mirror)))


@pytest.fixture
def ref(debs: Path) -> str:
    return f"openssl@deb:{debs}#{SUITE}"


def build(archive: Path, debs: Path, *names: str, openssl: str = OWN, libc: str = "99.1-1", fips: str = "") -> None:
    """Put packages of another build than the archive's into the folder."""
    other = write_archive(archive.with_name("other"), openssl=openssl, libc=libc, fips=fips)
    for name in names:
        (path,) = (other / "pool").glob(f"{name}_*")
        shutil.copy(path, debs)


def edit(path: Path, old: str, new: str) -> None:
    """Replace text in the control file of a package."""
    root = path.with_suffix(".root")
    subprocess.run(["dpkg-deb", "-R", path, root], check=True)
    control = root / "DEBIAN/control"
    assert old in control.read_text()
    control.write_text(control.read_text().replace(old, new))
    path.unlink()
    pack(root, path)


def pack(root: Path, path: Path) -> None:
    subprocess.run(["dpkg-deb", "--root-owner-group", "-Znone", "-b", root, path], check=True, capture_output=True)
    shutil.rmtree(root)


def versions(kitchen: Kitchen, ref: str, *, refresh: bool = False) -> dict[str, str]:
    return {package.name: package.version for package in kitchen.add(ref, refresh=refresh).packages}


def test_packages_of_a_folder_replace_those_of_the_suite(kitchen: Kitchen, archive: Path, debs: Path, ref: str) -> None:
    suites = kitchen.add(SUITES)
    build(archive, debs, "libssl9")
    kit = kitchen.add(ref)
    assert kit.version == suites.version == "9.8.7"
    assert kit.build_profile == suites.build_profile
    assert kit.source == f"deb:{debs}#{SUITE}"
    changed = {package.name: package.version for package in set(kit.packages) - set(suites.packages)}
    assert changed == {"libssl9": OWN}
    assert kitchen.kit_store.verify(kit.kit_id) == ()


def test_the_kit_has_the_files_of_the_folder(kitchen: Kitchen, archive: Path, debs: Path, ref: str) -> None:
    suites = kitchen.add(SUITES)
    build(archive, debs, "libssl9")
    (package,) = debs.iterdir()
    root = debs.with_name("root")
    subprocess.run(["dpkg-deb", "-R", package, root], check=True)
    library = root / "usr/lib" / this_architecture().triplet / "libssl.so.9.8"
    library.write_bytes(library.read_bytes() + b"changed")
    package.unlink()
    pack(root, package)
    files = kitchen.add(ref).files
    assert {name for name in files if files[name] != suites.files[name]} == {"lib/libssl.so.9"}


def test_one_file_is_enough(kitchen: Kitchen, archive: Path, debs: Path) -> None:
    build(archive, debs, "libssl9")
    (package,) = debs.iterdir()
    assert versions(kitchen, f"openssl@deb:{package}#{SUITE}")["libssl9"] == OWN


def test_a_package_of_the_suites_version_but_with_other_contents_is_the_folders(
    kitchen: Kitchen, archive: Path, debs: Path, ref: str
) -> None:
    build(archive, debs, "libssl9", openssl="9.8.7-1~deb99u1")
    (package,) = debs.iterdir()
    edit(package, "for a test", "for a text")
    assert package.stat().st_size == next((archive / "pool").glob("libssl9_*")).stat().st_size
    suites = kitchen.add(SUITES)
    (changed,) = set(kitchen.add(ref).packages) - set(suites.packages)
    assert changed.name == "libssl9"


def test_adding_again_makes_a_kit_only_if_the_folder_changed(
    kitchen: Kitchen, archive: Path, debs: Path, ref: str
) -> None:
    build(archive, debs, "libssl9")
    first = kitchen.add(ref)
    assert kitchen.add(ref) == first
    assert kitchen.said == [f"{ref} is unchanged: {first.folder_name}"]
    edit(next(debs.iterdir()), OWN, "9.8.7-2")
    assert versions(kitchen, ref)["libssl9"] == "9.8.7-2"


def test_a_new_version_needs_its_own_headers(kitchen: Kitchen, archive: Path, debs: Path, ref: str) -> None:
    build(archive, debs, "libssl9", openssl="9.9.0-1")
    with pytest.raises(KitError, match=r"libssl9 is 9\.9\.0, but libssl-dev has the headers of 9\.8\.7") as caught:
        kitchen.add(ref)
    assert "libssl-dev and libssl9 of one build" in caught.value.remedy
    build(archive, debs, "libssl-dev", openssl="9.9.0-1")
    assert kitchen.add(ref).version == "9.9.0"


def test_dependencies_in_the_folder_come_before_the_suites(
    kitchen: Kitchen, archive: Path, debs: Path, ref: str
) -> None:
    build(archive, debs, "libssl9", "libc6")
    edit(next(debs.glob("libssl9_*")), "libc6", "libc6 (>= 99)")
    assert versions(kitchen, ref)["libc6"] == "99.1-1"


def test_dependencies_of_the_suites_packages_come_from_the_folder_too_with_what_those_need(
    kitchen: Kitchen, archive: Path, debs: Path, ref: str
) -> None:
    """Here only a package of the suite needs the C library, and only the folder's C library needs something more."""
    write_archive(archive, empty={"between": "libc6"})
    build(archive, debs, "libssl9", "libc6")
    edit(next(debs.glob("libssl9_*")), "Depends: libc6", "Depends: between")
    edit(next(debs.glob("libc6_*")), "Description:", "Depends: more\nDescription:")
    with pytest.raises(KitError, match="the suite lacks a dependency: libc6 : Depends: more but"):
        kitchen.add(ref)
    write_archive(archive, empty={"between": "libc6", "more": ""})
    assert versions(kitchen, ref, refresh=True)["libc6"] == "99.1-1"


def test_a_dependency_that_neither_has_is_named(kitchen: Kitchen, archive: Path, debs: Path, ref: str) -> None:
    build(archive, debs, "libssl9")
    edit(next(debs.iterdir()), "libc6", "libc6 (>= 99)")
    with pytest.raises(KitError, match=r"the suite lacks a dependency: libssl9 : Depends: libc6 \(>= 99\)"):
        kitchen.add(ref)


@pytest.mark.parametrize(("fips", "has_module"), [(OWN, True), ("9.8.7-2", False)])
def test_the_fips_module_of_the_folder_is_used_if_it_has_the_librarys_version(
    fips: str, has_module: bool, kitchen: Kitchen, archive: Path, debs: Path, ref: str
) -> None:
    build(archive, debs, "libssl9", "openssl-provider-fips", fips=fips)
    kit = kitchen.add(ref)
    assert kit.fips is has_module
    if has_module:
        module = kitchen.kit_store.folder(kit.kit_id) / "ossl-modules/fips.so"
        assert module.read_bytes() == FIPS_MODULE


def test_a_folder_without_the_library_is_refused(kitchen: Kitchen, archive: Path, debs: Path, ref: str) -> None:
    build(archive, debs, "libc6")
    with pytest.raises(KitError, match=f"libssl9 is not among the packages in {debs}") as caught:
        kitchen.add(ref)
    assert "a .deb file of libssl9" in caught.value.remedy


def test_a_folder_without_packages_or_none_at_all_is_named(kitchen: Kitchen, debs: Path, ref: str) -> None:
    for place in (debs, debs / "absent"):
        with pytest.raises(KitError, match=f"(?:there are no packages in|there is no file or folder) {place}"):
            kitchen.add(f"openssl@deb:{place}#{SUITE}")


def test_a_folder_that_is_gone_is_an_error_and_its_kit_no_substitute(
    kitchen: Kitchen, archive: Path, debs: Path, ref: str
) -> None:
    build(archive, debs, "libssl9")
    assert kitchen.add(ref).ref.is_local
    shutil.rmtree(debs)
    with pytest.raises(KitError, match="there is no file or folder"):
        kitchen.add(ref)


def test_a_package_of_another_architecture_is_named(kitchen: Kitchen, archive: Path, debs: Path, ref: str) -> None:
    build(archive, debs, "libssl9")
    (package,) = debs.iterdir()
    edit(package, f"Architecture: {this_architecture().debian}", "Architecture: sparc")
    with pytest.raises(KitError, match=f"{re.escape(package.name)} is for sparc, not for {this_architecture().debian}"):
        kitchen.add(ref)


def test_two_versions_of_a_package_are_named(kitchen: Kitchen, archive: Path, debs: Path, ref: str) -> None:
    build(archive, debs, "libssl9")
    build(archive, debs, "libssl9", openssl="9.8.7-2")
    with pytest.raises(KitError, match=r"has libssl9 twice: libssl9_9\.8\.7-1.*\.deb and libssl9_9\.8\.7-2_.*\.deb"):
        kitchen.add(ref)


@pytest.mark.parametrize("percent", [0, 2, 50, 99])
def test_a_package_that_was_cut_off_is_named(
    percent: int, kitchen: Kitchen, archive: Path, debs: Path, ref: str
) -> None:
    build(archive, debs, "libssl9")
    (package,) = debs.iterdir()
    package.write_bytes(package.read_bytes()[: package.stat().st_size * percent // 100])
    with pytest.raises(KitError, match=f"{re.escape(str(package))} can't be read as a package"):
        kitchen.add(ref)
    assert kitchen.kit_store.list() == ()
    assert kitchen.leftovers() == []
