"""Go's crypto/tls: `go@toolchain/1.26.8`, an archive of the glue in workers/handshake/go, built by that version of Go.

Go's own command fetches the toolchain as a module, with its configured proxy, and checks it against the checksum
database (https://go.dev/doc/toolchain). The toolchain is the library and its compiler at once, as it is for every Go
program. So a step between two versions is of both, and the build profile names no version of the compiler.
"""

import base64
import json
import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from kexbench.domain.canonical import content_hash
from kexbench.domain.kits import BuildProfile, Package, SubjectRef
from kexbench.domain.versions import version_key
from kexbench.kits.builds import BuildCache
from kexbench.kits.errors import Stage, StepFailed
from kexbench.kits.process import Attempt
from kexbench.kits.provider import Materials, Provider, Resolution, file_hashes, native_only, no_flags
from kexbench.kits.source import compiler_name

_SOURCE = re.compile(r"toolchain/(?P<version>1\.[0-9]+\.[0-9]+)")
_MODULE, _REVISION = "golang.org/toolchain", 1
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
_ARCHIVE = "libkexbench_go.a"
OLDEST_MINOR = 23
"""Go 1.23 brought iter.Pull, by which handshakes take turns."""
_KEPT = ("GOENV", "GOPATH", "GOMODCACHE", "GOCACHE", "GOPROXY", "GOSUMDB", "GONOSUMDB", "GONOPROXY", "GOPRIVATE")
_INCLUDED = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
_GO_LINE = re.compile(r"^go [0-9.]+$", re.MULTILINE)


class GoProvider(Provider):
    """`glue` is the folder workers/handshake/go, whose parent has the headers that it needs. `cache` keeps archives."""

    def __init__(self, glue: Path, cache: Path) -> None:
        self._glue = glue
        self._builds = BuildCache(cache / "builds")

    def describe(self) -> str:
        return "go@toolchain/1.26.8: crypto/tls of a Go release, fetched as a Go module and built here"

    def provides(self, ref: SubjectRef) -> bool:
        return ref.library == "go" and _SOURCE.fullmatch(ref.origin) is not None

    def versions(self, ref: SubjectRef, attempt: Attempt, *, refresh: bool) -> tuple[str, ...]:
        listed = _go(attempt, "resolve", "list", "-m", "-versions", _MODULE)
        releases = re.findall(rf"go(1\.[0-9]+\.[0-9]+)\.linux-{_machine(attempt)}\b", listed)
        usable = {release for release in releases if int(release.split(".")[1]) >= OLDEST_MINOR}
        return tuple(sorted(usable, key=version_key))

    def resolve(self, ref: SubjectRef, attempt: Attempt, *, refresh: bool) -> Resolution:
        native_only(ref, attempt)
        no_flags(ref, "leave them out")
        if ref.variant.relink is not None:
            raise StepFailed("resolve", f"{ref.origin} can't be relinked", "leave +relink out")
        version = _version(ref)
        if int(version.split(".")[1]) < OLDEST_MINOR:
            raise StepFailed("resolve", f"Go {version} is too old", f"choose 1.{OLDEST_MINOR} or newer")
        _, toolchain = self._toolchain(version, attempt)
        profile = BuildProfile(
            provider="toolchain",
            linkage="static",
            compiler="go",
            flags="none",
            libc="glibc",
            architecture=attempt.target.machine,
        )
        glue = [*self._sources(), *self._headers()]
        c_compiler = compiler_name(attempt.target.compiler, attempt)  # of the glue's part in C
        decisive = [_REVISION, toolchain.model_dump(), file_hashes(glue), profile.id, c_compiler]
        return Resolution(
            ref=ref,
            version=version,
            profile=profile,
            fingerprint=content_hash(decisive, length=64),
            packages=(toolchain,),
        )

    def fetch(self, resolution: Resolution, attempt: Attempt) -> Materials:
        name = f"go-{resolution.version}-{resolution.fingerprint[:16]}"
        built = self._builds.built(name, lambda folder: self._build(resolution.version, folder, attempt), attempt)
        archive = attempt.scratch / _ARCHIVE  # a link, so that the cache's path leaves no trace in the kit
        archive.symlink_to(built / "lib" / _ARCHIVE)
        return Materials(library_words=(str(archive),), development=resolution.packages)

    def _build(self, version: str, installed: Path, attempt: Attempt) -> None:
        """Go's usual flags for archives that C programs link (`go help buildmode`), without the builder's paths."""
        root, _ = self._toolchain(version, attempt)
        glue = attempt.scratch / "handshake" / "go"
        glue.mkdir(parents=True)
        for path in self._sources():
            shutil.copyfile(path, glue / path.name)
        for header in self._headers():
            shutil.copyfile(header, glue.parent / header.name)
        module = (glue / "go.mod").read_text(encoding="utf-8")
        (glue / "go.mod").write_text(_GO_LINE.sub(f"go {version}", module), encoding="utf-8")
        (installed / "lib").mkdir()
        attempt.note(f"building Go {version} crypto/tls")
        archive = installed / "lib" / _ARCHIVE
        # Go's build id has a hash of the folders.
        arguments = [
            "-trimpath",
            "-buildvcs=false",
            "-ldflags=-buildid=",
            "-buildmode=c-archive",
            "-o",
            str(archive),
            ".",
        ]
        # Nothing of the user's settings, and nothing is fetched.
        compiler = {
            "CGO_ENABLED": "1",
            "CC": attempt.target.compiler,
            "CGO_CFLAGS": "-O2",
            "GOENV": "off",
            "GOPROXY": "off",
        }
        _go(attempt, "compile", "build", *arguments, command=root / "bin" / "go", folder=glue, environment=compiler)
        archive.with_suffix(".h").unlink(missing_ok=True)

    def _sources(self) -> list[Path]:
        sources = [path for pattern in ("*.go", "*.c", "go.mod") for path in self._glue.glob(pattern)]
        if not sources:
            raise StepFailed("resolve", f"no glue for Go in {self._glue}", "use a checkout of kexbench")
        return sources

    def _headers(self) -> list[Path]:
        """The border's header and what it includes."""
        found: dict[str, Path] = {}
        names = ["foreign.h"]
        while names:
            if (name := names.pop()) not in found:
                found[name] = self._glue.parent / name
                names += _INCLUDED.findall(found[name].read_text(encoding="utf-8"))
        return list(found.values())

    def _toolchain(self, version: str, attempt: Attempt) -> tuple[Path, Package]:
        """The folder of the verified toolchain, fetched if Go does not have it."""
        module = f"v0.0.1-go{version}.linux-{_machine(attempt)}"
        text = _go(attempt, "fetch", "mod", "download", "-json", f"{_MODULE}@{module}")
        found: dict[str, str] = json.loads(text)
        algorithm, _, digest = found["Sum"].partition(":")
        if algorithm != "h1":
            raise StepFailed("fetch", f"Go's checksum of {_MODULE} is of the kind {algorithm}", "report this")
        root = Path(found["Dir"])
        # Modules are kept without execute bits, which Go sets itself only where it switches toolchains.
        for program in (root / "bin" / "go", *(root / "pkg" / "tool").glob("*/*")):
            if program.is_file() and not os.access(program, os.X_OK):
                program.chmod(0o555)
        sha256 = base64.b64decode(digest).hex()
        return root, Package(name=_MODULE, version=module, sha256=sha256)


def _version(ref: SubjectRef) -> str:
    match = _SOURCE.fullmatch(ref.origin)
    assert match, "the caller checks `provides` first"
    return match["version"]


def _machine(attempt: Attempt) -> str:
    """Go's name of the target's architecture."""
    machine = attempt.target.machine
    if machine not in _ARCHITECTURES:
        raise StepFailed("resolve", f"there is no Go toolchain for {machine}")
    return _ARCHITECTURES[machine]


def _go(
    attempt: Attempt,
    stage: Stage,
    *arguments: str,
    command: Path | None = None,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> str:
    """What Go answers. The machine's Go fetches, the toolchain's own builds. Neither switches to another."""
    if command is None and shutil.which("go") is None:
        raise StepFailed(stage, "go is not installed", "install Go 1.21 or newer, from https://go.dev/dl")
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return attempt.run(
        [str(command or "go"), *arguments],
        stage=stage,
        timeout_s=900,
        folder=folder or attempt.scratch,
        environment={**kept, "GOTOOLCHAIN": "local", "GOFLAGS": "", **(environment or {})},
    )
