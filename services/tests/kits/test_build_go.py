"""Go's crypto/tls with a made-up Go: the toolchain that it answers with, and how that builds the archive."""

import json
import stat
from pathlib import Path

import pytest

from kexbench.domain.kits import SubjectRef
from kexbench.kits.build_go import GoProvider
from kexbench.kits.errors import StepFailed
from kexbench.kits.process import Attempt
from kexbench.kits.target import target_for

REF = SubjectRef.parse("go@toolchain/1.26.8")
SUM = "h1:ZOmGe1OnfREDMIdb1Qi4G9JSuDPBLGExZMQ4nis1RXM="
SHA256 = "64e9867b53a77d110330875bd508b81bd252b833c12c613164c4389e2b354573"
INSTALLED_GO = """#!/bin/sh
if [ "$1" = list ]; then
    echo golang.org/toolchain v0.0.1-go1.22.12.linux-amd64 v0.0.1-go1.26.8.linux-amd64 v0.0.1-go1.26rc1.linux-amd64 \
v0.0.1-go1.9.2.linux-amd64 v0.0.1-go1.24.13.linux-amd64 v0.0.1-go1.24.13.linux-arm64 v0.0.1-go1.26.10.linux-amd64
elif [ "$1 $2 $3 $4" = "mod download -json golang.org/toolchain@v0.0.1-go1.26.8.linux-amd64" ]; then
    cat "$(dirname "$0")/answer.json"
else
    echo "module not found" >&2
    exit 1
fi
"""
TOOLCHAINS_GO = """#!/bin/sh
{
    echo "$@"
    echo "GOTOOLCHAIN=$GOTOOLCHAIN GOFLAGS=$GOFLAGS CC=$CC CGO_CFLAGS=$CGO_CFLAGS"
    grep "^go " go.mod
    ls .. .
} >"${0%/go}/record"
echo archive >"$7"
"""


def a_program(path: Path, text: str, mode: int = 0o755) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)


@pytest.fixture
def toolchain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The toolchain as modules are kept: without execute bits. The Go on PATH answers where it is."""
    root = tmp_path / "toolchain"
    a_program(root / "bin" / "go", TOOLCHAINS_GO, 0o444)
    a_program(root / "pkg/tool/linux_amd64/compile", "", 0o444)
    a_program(tmp_path / "path" / "go", INSTALLED_GO)
    (tmp_path / "path" / "answer.json").write_text(json.dumps({"Dir": str(root), "Sum": SUM}))
    monkeypatch.setenv("PATH", f"{tmp_path / 'path'}:/usr/bin:/bin")
    return root


@pytest.fixture
def provider(tmp_path: Path) -> GoProvider:
    glue = tmp_path / "handshake" / "go"
    glue.mkdir(parents=True)
    (glue / "go.mod").write_text("module kexbench/go\n\n// The library's version.\ngo 1.26.8\n")
    (glue / "border.go").write_text("package main\n")
    (glue.parent / "foreign.h").write_text('#include "case.h"\n#include <stddef.h>\n')
    (glue.parent / "case.h").write_text('#include "foreign.h"\n')
    (glue.parent / "unrelated.h").touch()
    return GoProvider(glue, tmp_path / "cache")


@pytest.fixture
def attempt(tmp_path: Path) -> Attempt:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    return Attempt(scratch, scratch / "log", lambda _: None, target_for())


def test_the_version_is_gos_and_the_checksum_that_of_the_checksum_database(
    toolchain: Path, provider: GoProvider, attempt: Attempt
) -> None:
    found = provider.resolve(REF, attempt, refresh=False)
    assert (found.version, REF.told_version) == ("1.26.8", "1.26.8")
    (package,) = found.packages
    assert (package.name, package.sha256) == ("golang.org/toolchain", SHA256)
    assert package.version == "v0.0.1-go1.26.8.linux-amd64"
    assert (found.profile.provider, found.profile.linkage, found.profile.compiler) == ("toolchain", "static", "go")
    assert (toolchain / "bin/go").stat().st_mode & stat.S_IXUSR
    assert (toolchain / "pkg/tool/linux_amd64/compile").stat().st_mode & stat.S_IXUSR


def test_the_toolchains_own_go_builds_an_archive_with_its_versions_defaults(
    toolchain: Path, provider: GoProvider, attempt: Attempt
) -> None:
    """A module's `go` line decides which defaults crypto/tls has."""
    glue = provider._glue
    (glue / "go.mod").write_text("module kexbench/go\n\ngo 1.23.0\n")
    found = provider.resolve(REF, attempt, refresh=False)
    materials = provider.fetch(found, attempt)
    command, environment, line, *files = (toolchain / "bin/record").read_text().splitlines()
    assert command.startswith("build -trimpath -buildvcs=false -ldflags=-buildid= -buildmode=c-archive -o ")
    assert environment == f"GOTOOLCHAIN=local GOFLAGS= CC={attempt.target.compiler} CGO_CFLAGS=-O2"
    assert line == "go 1.26.8"
    assert {"foreign.h", "case.h", "border.go", "go.mod"} <= set(files)
    assert "unrelated.h" not in files
    (archive,) = materials.library_words or ()
    assert Path(archive).read_text() == "archive\n"
    assert Path(archive).parent == attempt.scratch
    (toolchain / "bin/go").unlink()
    assert provider.fetch(found, attempt_in(attempt.scratch / "again")).library_words  # from the cache


def attempt_in(folder: Path) -> Attempt:
    folder.mkdir()
    return Attempt(folder, folder / "log", lambda _: None, target_for())


def test_another_glue_or_border_is_another_kit(toolchain: Path, provider: GoProvider, attempt: Attempt) -> None:
    fingerprints = {provider.resolve(REF, attempt, refresh=False).fingerprint}
    for changed in ("go/border.go", "case.h", "unrelated.h"):
        (provider._glue.parent / changed).write_text("changed\n")
        fingerprints.add(provider.resolve(REF, attempt, refresh=False).fingerprint)
    assert len(fingerprints) == 3


def test_releases_for_this_architecture_are_offered_oldest_first(
    toolchain: Path, provider: GoProvider, attempt: Attempt
) -> None:
    assert provider.versions(REF, attempt, refresh=False) == ("1.24.13", "1.26.8", "1.26.10")


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("toolchain/1.22.12", "too old"),
        ("toolchain/1.26.8+no-asm", "takes no flags"),
        ("toolchain/1.26.8+relink=3", "can't be relinked"),
        ("toolchain/1.99.0", "module not found"),
    ],
)
def test_what_cannot_be_built_is_refused_with_its_reason(
    toolchain: Path, provider: GoProvider, attempt: Attempt, source: str, reason: str
) -> None:
    ref = SubjectRef.parse(f"go@{source}")
    assert provider.provides(ref)
    with pytest.raises(StepFailed) as caught:
        provider.resolve(ref, attempt, refresh=False)
    assert reason in f"{caught.value.reason} {attempt.last_output}"


def test_without_go_the_remedy_is_to_install_it(
    provider: GoProvider, attempt: Attempt, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(StepFailed, match="go is not installed"):
        provider.resolve(REF, attempt, refresh=False)
