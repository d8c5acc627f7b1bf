"""rustls from a made-up registry: its versions, the packages that are compiled, and what goes into the fingerprint.
A made-up cargo answers, and builds an archive that says its version."""

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from kexbench.domain.kits import SubjectRef
from kexbench.kits.build_rustls import RustlsProvider, compiled_packages, with_version
from kexbench.kits.errors import StepFailed
from kexbench.kits.process import Attempt
from kexbench.kits.target import target_for
from kexbench.settings import Settings

GLUE = Settings().workers / "rustls"
A, B, C = ("a" * 64, "b" * 64, "c" * 64)
CARGO = r"""#!/bin/sh
set -eu
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)
case "$1" in
generate-lockfile)
    cat >Cargo.lock <<END
[[package]]
name = "kexbench-rustls"
version = "$version"
[[package]]
name = "ring"
version = "0.17.14"
checksum = "{ring}"
[[package]]
name = "rustls"
version = "$version"
checksum = "{rustls}"
[[package]]
name = "windows-sys"
version = "0.52.0"
checksum = "{windows}"
END
    ;;
tree) echo "kexbench-rustls v$version (/a/folder)"; echo "rustls v$version"; echo "ring v0.17.14 (*)" ;;
build) mkdir -p "$CARGO_TARGET_DIR/release"; echo "$version $*" >"$CARGO_TARGET_DIR/release/libkexbench_rustls.a" ;;
esac
"""
Provides = Callable[..., RustlsProvider]


@pytest.fixture
def provider(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Provides:
    """A provider whose cargo and rustc are made up. `ring` is the hash of that crate in its registry."""
    tools, home = tmp_path / "bin", tmp_path / "cargo"
    index = home / "registry/index/registry/.cache/ru/st/rustls"
    for folder in (tools, index.parent):
        folder.mkdir(parents=True)
    records = [{"vers": version, "cksum": B} for version in ("0.22.4", "0.23.5", "0.23.12", "0.23.46", "0.24.0-dev.0")]
    index.write_text("header\0" + "".join(f"{record['vers']}\0{json.dumps(record)}\0" for record in records))
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")

    def make(*, ring: str = A, glue: Path = GLUE, rustc: str = "f2d3ce0bd", cc: str = "12.2.0") -> RustlsProvider:
        cargo = CARGO.replace("{ring}", ring).replace("{rustls}", B).replace("{windows}", C)
        programs = {
            "cargo": cargo,
            "rustc": f"#!/bin/sh\necho 'rustc 1.95.0 ({rustc})'\n",
            "cc": f"#!/bin/sh\necho {cc}\n",
        }
        for name, text in programs.items():
            (tools / name).write_text(text)
            (tools / name).chmod(0o755)
        return RustlsProvider(glue, tmp_path / "cache", home)

    return make


def an_attempt(folder: Path) -> Attempt:
    folder.mkdir(exist_ok=True)
    return Attempt(folder, folder / "log", print)


def test_versions_are_the_registrys_from_the_oldest_that_works(provider: Provides, tmp_path: Path) -> None:
    ref = SubjectRef.parse("rustls@crate/0.23.46")
    assert ref.told_version == "0.23.46"
    assert provider().versions(ref, an_attempt(tmp_path / "a"), refresh=False) == ("0.23.12", "0.23.46")


def test_a_kit_names_what_was_compiled_and_not_what_a_lock_file_has_for_other_systems(
    provider: Provides, tmp_path: Path
) -> None:
    resolution = provider().resolve(SubjectRef.parse("rustls@crate/0.23.46"), an_attempt(tmp_path / "a"), refresh=False)
    packages = [(package.name, package.version, package.sha256) for package in resolution.packages]
    assert packages == [("ring", "0.17.14", A), ("crate rustls", "0.23.46", B)]
    profile = resolution.profile
    assert (resolution.version, profile.linkage, profile.compiler) == ("0.23.46", "static", "rustc 1.95.0")


def test_another_dependency_provider_or_glue_is_another_build(provider: Provides, tmp_path: Path) -> None:
    other = tmp_path / "glue"
    (other / "src").mkdir(parents=True)
    (other / "Cargo.toml").write_text((GLUE / "Cargo.toml").read_text())
    (other / "src" / "lib.rs").write_text("// other\n")
    made = [
        (provider(), "rustls@crate/0.23.46"),
        (provider(), "rustls@crate/0.23.12"),
        (provider(), "rustls@crate/0.23.46+with-ring"),
        (provider(glue=other), "rustls@crate/0.23.46"),
    ]
    fingerprints = [
        made_by.resolve(SubjectRef.parse(text), an_attempt(tmp_path / f"attempt-{place}"), refresh=False).fingerprint
        for place, (made_by, text) in enumerate(made)
    ]
    for name, change in {"crate": {"ring": C}, "rustc": {"rustc": "0000000"}, "cc": {"cc": "13.1.0"}}.items():
        other_build = provider(**change).resolve(
            SubjectRef.parse(made[0][1]), an_attempt(tmp_path / name), refresh=False
        )
        fingerprints.append(other_build.fingerprint)
    assert len(set(fingerprints)) == len(made) + 3


def test_what_another_compiler_made_is_not_taken(provider: Provides, tmp_path: Path) -> None:
    """Cargo itself sees no change of the compiler of the cryptography in C."""
    for place, cc in enumerate(("12.2.0", "13.1.0", "12.2.0")):
        attempt, rustls = an_attempt(tmp_path / f"attempt-{place}"), provider(cc=cc)
        rustls.fetch(rustls.resolve(SubjectRef.parse("rustls@crate/0.23.46"), attempt, refresh=False), attempt)
    assert len(list((tmp_path / "cache" / "cargo").glob("*/release"))) == 2


def test_the_archive_is_built_with_the_version_and_the_flags(provider: Provides, tmp_path: Path) -> None:
    attempt, rustls = an_attempt(tmp_path / "a"), provider()
    resolution = rustls.resolve(SubjectRef.parse("rustls@crate/0.23.12+with-ring"), attempt, refresh=False)
    assert resolution.profile.flags == "with-ring"
    materials = rustls.fetch(resolution, attempt)
    assert materials.library_words is not None
    archive = Path(materials.library_words[0]).read_text()
    assert archive == "0.23.12 build --release --locked --offline --no-default-features --features ring\n"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("rustls@crate/0.23.46+no-asm", "the flags of rustls are with-ring, unlike no-asm"),
        ("rustls@crate/0.23.46+relink=3", "crate/0.23.46 can't be relinked"),
        ("rustls@crate/0.23.5", "rustls 0.23.5 is too old"),
        ("rustls@crate/0.23.99", "no crate has rustls 0.23.99"),
    ],
)
def test_what_can_not_be_built_is_refused(provider: Provides, tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(StepFailed) as failed:
        provider().resolve(SubjectRef.parse(text), an_attempt(tmp_path / "a"), refresh=False)
    assert failed.value.reason == reason


def test_another_architecture_is_refused(provider: Provides, tmp_path: Path) -> None:
    attempt = an_attempt(tmp_path / "a")
    attempt.target = replace(target_for(), machine="s390x", libraries=Path("/usr/s390x-linux-gnu"))
    with pytest.raises(StepFailed, match="is built for this machine, not for s390x"):
        provider().resolve(SubjectRef.parse("rustls@crate/0.23.46"), attempt, refresh=False)


def test_the_glues_manifest_names_one_version_twice() -> None:
    changed = with_version((GLUE / "Cargo.toml").read_text(), "0.23.12")
    assert changed.count('"0.23.12"') == 1
    assert changed.count('"=0.23.12"') == 1


def test_packages_of_the_same_name_are_told_apart_by_their_versions() -> None:
    lock = "".join(
        f'[[package]]\nname = "getrandom"\nversion = "{version}"\nchecksum = "{sha256}"\n'
        for version, sha256 in (("0.2.17", A), ("0.4.3", B))
    )
    (package,) = compiled_packages(lock, "getrandom v0.2.17\n")
    assert (package.version, package.sha256) == ("0.2.17", A)
