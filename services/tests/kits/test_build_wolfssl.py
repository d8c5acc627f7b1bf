"""wolfSSL from a made-up crate: its version, its sources, and the words of its configuration, without building it."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from kexbench.domain.kits import SubjectRef
from kexbench.domain.libraries import LIBRARIES
from kexbench.kits.autotools import knows
from kexbench.kits.build_wolfssl import WolfsslRecipe
from kexbench.kits.crate import CrateOrigin
from kexbench.kits.errors import StepFailed
from kexbench.kits.process import Attempt
from kexbench.kits.source import SourceProvider
from kexbench.kits.target import target_for
from kexbench.kits.tree import find_tree

from .sources import write_archive

HEADER = '#define LIBWOLFSSL_VERSION_STRING "5.9.4"\n'
CONFIGURE = "AC_INIT([wolfssl],[5.9.4],[https://example.invalid],[wolfssl])\n"
HERE = target_for()
X86_64, AARCH64 = (replace(HERE, machine=machine, libraries=None) for machine in ("x86_64", "aarch64"))
RECIPE = WolfsslRecipe(1)


@pytest.fixture
def cargo_home(tmp_path: Path) -> Path:
    """What cargo keeps of a registry with one version of the crate, which it has fetched."""
    home = tmp_path / "cargo"
    index = home / "registry/index/registry/.cache/wo/lf/wolfssl-sys"
    cached = home / "registry/cache/registry"
    index.parent.mkdir(parents=True)
    cached.mkdir(parents=True)
    packed = cached / "wolfssl-sys-5.3.0.crate.gz"
    inside = {"wolfssl/version.h": HEADER, "configure.ac": CONFIGURE}
    members = {f"wolfssl-sys-5.3.0/wolfssl-src/{name}": text for name, text in inside.items()}
    sha256 = write_archive(packed, members | {"wolfssl-sys-5.3.0/build.rs": "fn main() {}\n"})
    packed.rename(packed.with_suffix(""))
    index.write_text(f"header\0005.3.0\0{json.dumps({'vers': '5.3.0', 'cksum': sha256})}\0")
    return home


def an_attempt(folder: Path) -> Attempt:
    return Attempt(folder, folder / "log", print)


def test_a_reference_names_the_crate_and_the_version_is_the_librarys(cargo_home: Path, tmp_path: Path) -> None:
    located = CrateOrigin(cargo_home).locate(
        SubjectRef.parse("wolfssl@crate/5.3.0"), an_attempt(tmp_path), refresh=False
    )
    (package,) = located.packages
    assert (located.version, package.name, package.version) == ("5.9.4", "crate wolfssl-sys", "5.3.0")
    (tmp_path / "unpacked").mkdir()
    assert (located.unpack(tmp_path / "unpacked", an_attempt(tmp_path)) / "configure.ac").read_text() == CONFIGURE


def test_the_profile_says_that_it_is_static_and_whether_it_has_assembly(cargo_home: Path, tmp_path: Path) -> None:
    provider = SourceProvider(CrateOrigin(cargo_home), {"wolfssl": RECIPE}, tmp_path / "cache")
    resolution = provider.resolve(SubjectRef.parse("wolfssl@crate/5.3.0+no-asm"), an_attempt(tmp_path), refresh=False)
    assert (resolution.profile.provider, resolution.profile.linkage) == ("crate", "static")
    assert resolution.profile.flags == "no-asm"
    assert resolution.configure[-1] == "--disable-asm"
    assert {"--disable-dh", "--enable-session-ticket", "--enable-mlkem=yes,all"} <= set(resolution.configure)


def test_assembly_is_the_processors() -> None:
    assert RECIPE.words("5.9.4", (), X86_64)[-3:] == ("--enable-sp-asm", "--enable-intelasm", "--enable-aesni")
    assert RECIPE.words("5.9.4", (), AARCH64)[-2:] == ("--enable-sp-asm", "--enable-armasm")
    without = RECIPE.words("5.9.4", ("no-asm", "enable-psk"), X86_64)
    assert without[-2:] == ("--disable-asm", "--enable-psk")
    assert "--enable-intelasm" not in without


def test_flags_of_other_libraries_are_refused() -> None:
    with pytest.raises(StepFailed, match=r"wolfSSL's flags are no-asm and .* enable-, disable-, unlike no-ssl3"):
        RECIPE.words("5.9.4", ("no-asm", "no-ssl3"), HERE)


def test_another_architecture_is_refused() -> None:
    with pytest.raises(StepFailed, match="wolfSSL can only be built for this machine, not for s390x"):
        RECIPE.words("5.9.4", (), replace(HERE, machine="s390x", libraries=Path("/usr/s390x-linux-gnu")))


def test_sources_without_their_build_description_are_refused(tmp_path: Path) -> None:
    with pytest.raises(StepFailed, match=r"the sources of wolfSSL have no configure\.ac"):
        RECIPE.build(tmp_path, (), tmp_path / "installed", an_attempt(tmp_path))


def test_an_option_that_a_version_does_not_know_yet_is_told() -> None:
    configure = "ac_user_opts='\nenable_tls13\nenable_sp_asm\nwith_eccminsz\n'\n"
    assert knows(configure, "--disable-tls13")
    assert knows(configure, "--enable-sp-asm=yes")
    assert knows(configure, "--with-eccminsz=256")
    assert not knows(configure, "--enable-mlkem=yes,all")


def test_headers_in_folders_below_are_the_librarys_too(tmp_path: Path) -> None:
    include, lib = tmp_path / "include/wolfssl", tmp_path / "lib"
    (include / "wolfcrypt").mkdir(parents=True)
    lib.mkdir()
    (include / "version.h").write_text(HEADER)
    (include / "wolfcrypt/asn.h").touch()
    (lib / "libwolfssl.a").touch()
    tree = find_tree("wolfssl", tmp_path)
    assert (tree.version, tree.linkage) == ("5.9.4", "static")
    assert set(tree.headers) == {"wolfssl/version.h", "wolfssl/wolfcrypt/asn.h"}


def test_the_licence_is_that_of_the_version() -> None:
    row = LIBRARIES["wolfssl"]
    assert [row.licence_of(version) for version in ("5.7.4", "5.8.2", "5.9.4")] == [
        "GPL-2.0-or-later",
        "GPL-3.0-or-later",
        "GPL-3.0-or-later",
    ]
    openssl = LIBRARIES["openssl"]
    assert [openssl.licence_of(version) for version in ("1.1.1w", "3.0.0-alpha1", "3.5.0")] == [
        "OpenSSL",
        "Apache-2.0",
        "Apache-2.0",
    ]
