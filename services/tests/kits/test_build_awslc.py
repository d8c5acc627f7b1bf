"""AWS-LC from a made-up crate: its version, its sources, and the words of its configuration, without building it."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from kexbench.domain.kits import SubjectRef
from kexbench.kits.build_awslc import AwslcRecipe
from kexbench.kits.crate import CrateOrigin
from kexbench.kits.errors import StepFailed
from kexbench.kits.process import Attempt
from kexbench.kits.source import SourceProvider
from kexbench.kits.target import target_for

from .sources import write_archive

HEADER = '#define AWSLC_VERSION_NUMBER_STRING "5.12.0"\n'
OTHER = '#define OPENSSL_VERSION_TEXT "(compatible; AWS-LC " AWSLC_VERSION_NUMBER_STRING ")"\n'
HERE = target_for()
RECIPE = AwslcRecipe(1)


@pytest.fixture
def cargo_home(tmp_path: Path) -> Path:
    """What cargo keeps of a registry with two versions of the crate, the newer one fetched."""
    home = tmp_path / "cargo"
    index = home / "registry/index/registry/.cache/aw/s-/aws-lc-sys"
    cached = home / "registry/cache/registry"
    index.parent.mkdir(parents=True)
    cached.mkdir(parents=True)
    packed = cached / "aws-lc-sys-0.47.0.crate.gz"
    members = {
        "include/openssl/crypto.h": OTHER,
        "include/openssl/base.h": HEADER,
        "CMakeLists.txt": "project(AWSLC)\n",
    }
    top = {
        "aws-lc-sys-0.47.0/CMakeLists.txt": "project(AWS_LC_RUST)\n",
        "aws-lc-sys-0.47.0/include/openssl/base.h": "\n",
    }
    sha256 = write_archive(packed, top | {f"aws-lc-sys-0.47.0/aws-lc/{name}": text for name, text in members.items()})
    packed.rename(packed.with_suffix(""))
    records = [{"vers": "0.46.0", "cksum": "a" * 64}, {"vers": "0.47.0", "cksum": sha256}]
    index.write_text("header\0" + "".join(f"{record['vers']}\0{json.dumps(record)}\0" for record in records))
    return home


def an_attempt(folder: Path) -> Attempt:
    return Attempt(folder, folder / "log", print)


def test_a_reference_names_the_crate_and_the_version_is_the_librarys(cargo_home: Path, tmp_path: Path) -> None:
    ref, origin = SubjectRef.parse("awslc@crate/0.47.0"), CrateOrigin(cargo_home)
    located = origin.locate(ref, an_attempt(tmp_path), refresh=False)
    (package,) = located.packages
    assert (located.version, located.identity) == ("5.12.0", package.sha256)
    assert (package.name, package.version) == ("crate aws-lc-sys", "0.47.0")
    (tmp_path / "unpacked").mkdir()
    root = located.unpack(tmp_path / "unpacked", an_attempt(tmp_path))
    assert (root / "CMakeLists.txt").read_text() == "project(AWSLC)\n", "the library's, not the crate's around it"
    assert ref.told_version is None


def test_a_version_that_the_registry_lacks_is_named_with_its_neighbours(cargo_home: Path, tmp_path: Path) -> None:
    with pytest.raises(StepFailed, match=r"no crate has aws-lc-sys 0\.48\.0") as failed:
        CrateOrigin(cargo_home).locate(SubjectRef.parse("awslc@crate/0.48.0"), an_attempt(tmp_path), refresh=False)
    assert failed.value.remedy == "the nearest versions are 0.46.0, 0.47.0"


def test_a_crate_that_was_changed_is_not_built(cargo_home: Path, tmp_path: Path) -> None:
    (archive,) = cargo_home.glob("registry/cache/*/*.crate")
    archive.write_bytes(archive.read_bytes() + b"\0")
    with pytest.raises(StepFailed, match="does not match the SHA-256 in the registry's index"):
        CrateOrigin(cargo_home).locate(SubjectRef.parse("awslc@crate/0.47.0"), an_attempt(tmp_path), refresh=False)


def test_the_build_profile_says_that_it_is_static_and_with_which_flags(cargo_home: Path, tmp_path: Path) -> None:
    provider = SourceProvider(CrateOrigin(cargo_home), {"awslc": RECIPE}, tmp_path / "cache")
    ref = SubjectRef.parse("awslc@crate/0.47.0+no-asm")
    assert provider.provides(ref)
    resolution = provider.resolve(ref, an_attempt(tmp_path), refresh=False)
    assert (resolution.profile.provider, resolution.profile.linkage) == ("crate", "static")
    assert resolution.profile.flags == "no-asm"
    assert resolution.configure[-1] == "-DOPENSSL_NO_ASM=1"
    assert {"-DCMAKE_BUILD_TYPE=Release", "-DDISABLE_GO=ON", "-DDISABLE_PERL=ON"} <= set(resolution.configure)


def test_another_compiler_of_cpp_is_another_build(
    cargo_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider = SourceProvider(CrateOrigin(cargo_home), {"awslc": RECIPE}, tmp_path / "cache")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    fingerprints = set()
    for version in ("12.2.0", "13.1.0"):
        (tmp_path / "c++").write_text(f"#!/bin/sh\necho {version}\n")
        (tmp_path / "c++").chmod(0o755)
        resolution = provider.resolve(SubjectRef.parse("awslc@crate/0.47.0"), an_attempt(tmp_path), refresh=False)
        fingerprints.add(resolution.fingerprint)
    assert len(fingerprints) == 2


def test_flags_of_other_libraries_are_refused() -> None:
    with pytest.raises(StepFailed, match="AWS-LC's flags are no-asm, enable-small, unlike no-ssl3"):
        RECIPE.words("5.12.0", ("no-asm", "no-ssl3"), HERE)


def test_another_architecture_is_refused() -> None:
    with pytest.raises(StepFailed, match="AWS-LC can only be built for this machine, not for s390x"):
        RECIPE.words("5.12.0", (), replace(HERE, machine="s390x", libraries=Path("/usr/s390x-linux-gnu")))


def test_sources_without_their_build_description_are_refused(tmp_path: Path) -> None:
    with pytest.raises(StepFailed, match="the sources of AWS-LC have no CMakeLists"):
        RECIPE.build(tmp_path, (), tmp_path / "installed", an_attempt(tmp_path))
