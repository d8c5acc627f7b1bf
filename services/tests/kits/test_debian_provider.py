"""Kits of a Debian suite, made from a small archive in a folder: nothing is installed, no network is used."""

import os
import shutil
import time
from pathlib import Path

import pytest

from kexbench.kits import KitError
from kexbench.kits.debian import DebianProvider
from kexbench.kits.mirrors import Mirror

from .conftest import Kitchen, kitchen_in
from .debian_archive import FIPS_MODULE, SUITE, write_archive

pytestmark = pytest.mark.skipif(not (shutil.which("apt-get") and shutil.which("dpkg-deb")), reason="no apt, no dpkg")
REF = f"openssl@debian/{SUITE}"
FIPS_MAC = "29:06:00:4B:A6:5D:EE:2C:4B:A7:5F:0A:BD:C1:18:38:B0:EF:57:06:40:24:E0:DA:62:7A:E4:4B:19:8B:72:EF"


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    return write_archive(tmp_path / "archive")


@pytest.fixture
def kitchen(tmp_path: Path, archive: Path) -> Kitchen:
    mirror = Mirror(archive=f"file:{archive}", security=None, keyring=None)
    return kitchen_in(tmp_path, (DebianProvider(tmp_path / "cache", mirror),))


def test_a_suites_library_becomes_a_kit_with_its_own_c_library(kitchen: Kitchen) -> None:
    kit = kitchen.add(REF)
    assert kit.version == "9.8.7"
    assert kit.source == f"debian/{SUITE}"
    assert kit.build_profile.provider == "debian"
    assert {package.name for package in kit.packages} == {"libc6", "libssl9", "libssl-dev"}
    assert all(package.sha256 for package in kit.packages)
    assert {"lib/libssl.so.9", "lib/libc.so.6", "bin/worker"} <= set(kit.files)
    assert kitchen.kit_store.verify(kit.kit_id) == ()
    assert str(kitchen.kit_store.root) not in kit.model_dump_json()


def test_the_fips_module_of_the_librarys_version_is_in_the_kit_with_its_configuration(
    kitchen: Kitchen, archive: Path
) -> None:
    write_archive(archive, openssl="9.8.7-1", fips="9.8.7-1")
    kit = kitchen.add(REF)
    assert kit.fips
    assert "openssl-provider-fips" in {package.name for package in kit.packages}
    folder = kitchen.kit_store.folder(kit.kit_id)
    assert (folder / "ossl-modules/fips.so").read_bytes() == FIPS_MODULE
    # echo -n "a module" | openssl dgst -sha256 -mac HMAC -macopt hexkey:f455…
    assert f"module-mac = {FIPS_MAC}" in (folder / "ossl-modules/fips.cnf").read_text()
    assert kit.environment["OPENSSL_MODULES"] == "{kit}/ossl-modules"
    assert kitchen.kit_store.verify(kit.kit_id) == ()


@pytest.mark.parametrize("fips", ["", "9.8.6-1"])
def test_without_a_fips_module_of_the_librarys_version_there_is_none(
    fips: str, kitchen: Kitchen, archive: Path
) -> None:
    write_archive(archive, openssl="9.8.7-1", fips=fips)
    kit = kitchen.add(REF)
    assert not kit.fips
    assert not any("fips" in name for name in kit.files)


def test_absent_updates_are_reported_and_no_obstacle(kitchen: Kitchen) -> None:
    kitchen.add(REF)
    assert f"the mirror has no {SUITE}-updates" in kitchen.said


def test_adding_again_reads_no_lists_and_downloads_and_compiles_nothing(kitchen: Kitchen) -> None:
    first = kitchen.add(REF)
    assert kitchen.add(REF) == first
    assert kitchen.said == [f"{REF} is unchanged: {first.folder_name}"]


def test_downloads_are_shared_by_kits_and_named_by_content(kitchen: Kitchen) -> None:
    first = kitchen.add(REF)
    assert {path.stem for path in (kitchen.cache / "debs").iterdir()} == {package.sha256 for package in first.packages}
    source = kitchen.worker / "worker.c"
    source.write_text(source.read_text() + "/* changed */\n")
    assert kitchen.add(REF) != first
    assert not any("downloading" in line for line in kitchen.said)


def test_a_new_version_in_the_archive_is_seen_when_asked_and_after_a_while(kitchen: Kitchen, archive: Path) -> None:
    old = kitchen.add(REF)
    write_archive(archive, openssl="9.8.8-1")
    assert kitchen.add(REF) == old
    new = kitchen.add(REF, refresh=True)
    assert (old.version, new.version) == ("9.8.7", "9.8.8")

    write_archive(archive, openssl="9.8.9-1")
    stamp = kitchen.cache / "apt" / SUITE / "refreshed"
    day_before = time.time() - 86_400
    os.utime(stamp, (day_before, day_before))
    assert kitchen.add(REF).version == "9.8.9"
    assert [kit.version for kit in kitchen.kit_store.list()] == ["9.8.7", "9.8.8", "9.8.9"]


def test_an_unreachable_archive_does_not_hinder_what_was_read_before(kitchen: Kitchen, archive: Path) -> None:
    kit = kitchen.add(REF)
    archive.rename(archive.with_name("gone"))
    stamp = kitchen.cache / "apt" / SUITE / "refreshed"
    day_before = time.time() - 86_400
    os.utime(stamp, (day_before, day_before))
    assert kitchen.add(REF) == kit
    assert any("using package lists that are 24 h old" in line for line in kitchen.said)
    with pytest.raises(KitError, match="fetch failed"):
        kitchen.add(REF, refresh=True)


def test_packages_that_lie_where_the_person_is_are_no_obstacle(
    kitchen: Kitchen, archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a file that it need not download, because it is in the working directory, apt prints nothing."""
    monkeypatch.chdir(archive / "pool")
    assert kitchen.add(REF).version == "9.8.7"


def test_a_suite_with_an_older_c_library_runs_on_this_machines_own(tmp_path: Path) -> None:
    archive = write_archive(tmp_path / "archive", libc="2.1-1")
    mirror = Mirror(archive=f"file:{archive}", security=None, keyring=None)
    kitchen = kitchen_in(tmp_path, (DebianProvider(tmp_path / "cache", mirror),))
    kit = kitchen.add(REF)
    assert any("this machine's C library" in line for line in kitchen.said)
    assert "2.1-1" not in {package.version for package in kit.packages}


def test_a_package_with_other_contents_than_promised_is_refused(kitchen: Kitchen, archive: Path) -> None:
    package = next((archive / "pool").glob("libssl9_*"))
    package.write_bytes(package.read_bytes()[:-1] + b"?")
    with pytest.raises(KitError, match="fetch failed"):
        kitchen.add(REF)
    assert kitchen.kit_store.list() == ()
    assert kitchen.leftovers() == []


def test_a_suite_that_is_nowhere_is_named(kitchen: Kitchen) -> None:
    with pytest.raises(KitError, match="no suite nowhere") as caught:
        kitchen.add("openssl@debian/nowhere")
    assert "suite's name" in caught.value.remedy


def test_a_library_the_suite_does_not_have_is_named(kitchen: Kitchen) -> None:
    with pytest.raises(KitError, match="libgnutls28-dev"):
        kitchen.add(f"gnutls@debian/{SUITE}")


def test_without_debians_keys_the_package_to_install_is_named(tmp_path: Path, archive: Path) -> None:
    mirror = Mirror(archive=f"file:{archive}", security=None, keyring=tmp_path / "absent.gpg")
    kitchen = kitchen_in(tmp_path, (DebianProvider(tmp_path / "cache", mirror),))
    with pytest.raises(KitError, match="debian-archive-keyring"):
        kitchen.add(REF)
