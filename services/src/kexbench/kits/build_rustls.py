"""rustls: `rustls@crate/0.23.46`, an archive of the glue in workers/handshake/rustls, built by cargo with that version.

Dependencies have the newest versions that fit, as in a new program, so that kits of several versions of rustls made on
one day stand on the same cryptography. Cargo chooses them when the reference is resolved. They are among the kit's
packages.

It is built as rustls' own benchmarks are: `codegen-units = 1` and `lto = true`, of [profile.bench] in its workspace.
The provider is aws-lc-rs, the crate's default, or ring with the flag `with-ring`.
"""

import re
import shutil
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from kexbench.domain.canonical import content_hash
from kexbench.domain.kits import BuildProfile, Package, SubjectRef
from kexbench.kits.builds import BuildCache
from kexbench.kits.cargo import Cargo, users_cargo_home
from kexbench.kits.crate import CrateOrigin
from kexbench.kits.errors import StepFailed
from kexbench.kits.process import Attempt
from kexbench.kits.provider import Materials, Provider, Resolution, file_hashes, native_only
from kexbench.kits.source import compiler_name
from kexbench.locks import locked

_REVISION = 1
_ARCHIVE = "libkexbench_rustls.a"
_FLAGS = {"with-ring": ("--no-default-features", "--features", "ring")}
_VERSION = re.compile(r'^(version = "|rustls = \{ version = "=)[^"]*', re.MULTILINE)
_LISTED = re.compile(r"^(\S+) v(\S+)", re.MULTILINE)
OLDEST = (0, 23, 12)
"""The first version that tells the group of a key exchange, and whether a key is a certificate's. A server that resumes
in TLS 1.3 tells the group since 0.23.13; before, the client alone tells it."""


@dataclass(frozen=True)
class _Project:
    """A copy of the glue with a lock file. `packages` are those that are compiled, for the words of `features`."""

    folder: Path
    features: tuple[str, ...]
    packages: tuple[Package, ...]


class RustlsProvider(Provider):
    """`glue` is the folder workers/handshake/rustls. `cache` keeps archives, and what cargo compiled.
    `cargo_home` is the folder of the user's cargo."""

    def __init__(self, glue: Path, cache: Path, cargo_home: Path | None = None) -> None:
        self._glue = glue
        self._compiled = cache.absolute() / "cargo"
        self._builds = BuildCache(cache / "builds")
        users = cargo_home or users_cargo_home()
        self._cargo = Cargo(users, self._compiled / "home")
        self._crates = CrateOrigin(users)

    def describe(self) -> str:
        return "rustls@crate/0.23.46: rustls from Rust's registry, built here with its cryptography"

    def provides(self, ref: SubjectRef) -> bool:
        return ref.library == "rustls" and self._crates.provides(ref)

    def versions(self, ref: SubjectRef, attempt: Attempt, *, refresh: bool) -> tuple[str, ...]:
        offered = self._crates.versions(ref, attempt, refresh=refresh)
        return tuple(version for version in offered if _numbers(version) >= OLDEST)

    def resolve(self, ref: SubjectRef, attempt: Attempt, *, refresh: bool) -> Resolution:
        native_only(ref, attempt)
        wrong = [flag for flag in ref.variant.flags if flag not in _FLAGS]
        if wrong:
            raise StepFailed("resolve", f"the flags of rustls are {', '.join(_FLAGS)}, unlike {', '.join(wrong)}")
        if ref.variant.relink is not None:
            raise StepFailed("resolve", f"{ref.origin} can't be relinked", "leave +relink out")
        version = self._crates.locate(ref, attempt, refresh=refresh).version
        if _numbers(version) < OLDEST:
            oldest = ".".join(map(str, OLDEST))
            raise StepFailed("resolve", f"rustls {version} is too old", f"choose {oldest} or newer")
        with self._project(ref, version, attempt) as project:
            packages, compilers = project.packages, self._compilers(project, attempt)
        profile = BuildProfile(
            provider="crate",
            linkage="static",
            compiler=" ".join(compilers[0].split()[:2]),
            flags=" ".join(ref.variant.flags) or "none",
            libc="glibc",
            architecture=attempt.target.machine,
        )
        decisive = [
            *(_REVISION, version, profile.id, compilers),
            [package.model_dump() for package in packages],
            file_hashes(self._sources()),
        ]
        return Resolution(
            ref=ref,
            version=version,
            profile=profile,
            fingerprint=content_hash(decisive, length=64),
            packages=packages,
        )

    def fetch(self, resolution: Resolution, attempt: Attempt) -> Materials:
        name = f"rustls-{resolution.version}-{resolution.fingerprint[:16]}"
        built = self._builds.built(name, lambda folder: self._build(resolution, folder, attempt), attempt)
        archive = attempt.scratch / _ARCHIVE  # a link, so that the cache's path leaves no trace in the kit
        archive.symlink_to(built / "lib" / _ARCHIVE)
        return Materials(library_words=(str(archive), "-lm"), development=resolution.packages)

    def _build(self, resolution: Resolution, installed: Path, attempt: Attempt) -> None:
        with self._project(resolution.ref, resolution.version, attempt) as project:
            if project.packages != resolution.packages:
                raise StepFailed("fetch", "the registry has other versions than a moment ago", "try again")
            # All versions share one folder, so that the cryptography below them is compiled once. Cargo sees other
            # flags and another rustc, but not another C compiler. The folder's path, and that of cargo's copies, must
            # not be in the archive; the project's own paths are relative.
            target = self._compiled / content_hash(self._compilers(project, attempt), length=16)
            mapped = {self._cargo.home: "cargo", self._cargo.users: "cargo", target: "target"}
            environment = {
                "CARGO_TARGET_DIR": str(target),
                "RUSTFLAGS": " ".join(f"--remap-path-prefix={path}={name}" for path, name in mapped.items()),
                "CFLAGS": " ".join(f"-ffile-prefix-map={path}={name}" for path, name in mapped.items()),
                "CC": attempt.target.compiler,
            }
            attempt.note(f"building rustls {resolution.version}, this takes some minutes")
            words = ["cargo", "build", "--release", "--locked", "--offline", *project.features]
            with locked(self._compiled / ".lock", attempt.note, attempt.go_on):
                self._cargo.run(attempt, "compile", project.folder, *words, environment=environment)
                (installed / "lib").mkdir()
                shutil.copyfile(target / "release" / _ARCHIVE, installed / "lib" / _ARCHIVE)

    def _compilers(self, project: _Project, attempt: Attempt) -> list[str]:
        """Both, of Rust and of the cryptography in C."""
        rustc = self._cargo.run(attempt, "resolve", project.folder, "rustc", "--version").strip()
        return [rustc, compiler_name(attempt.target.compiler, attempt)]

    def _sources(self) -> list[Path]:
        sources = [self._glue / "Cargo.toml", *(self._glue / "src").glob("*.rs")]
        if not sources[0].is_file():
            raise StepFailed("resolve", f"no glue for rustls in {self._glue}", "use a checkout of kexbench")
        return sources

    @contextmanager
    def _project(self, ref: SubjectRef, version: str, attempt: Attempt) -> Iterator[_Project]:
        features = tuple(word for flag in ref.variant.flags for word in _FLAGS[flag])
        with self._cargo.project() as folder:
            (folder / "src").mkdir()
            for path in self._sources():
                shutil.copyfile(path, folder / path.relative_to(self._glue))
            manifest = folder / "Cargo.toml"
            manifest.write_text(with_version(manifest.read_text(encoding="utf-8"), version), encoding="utf-8")
            lock = ("cargo", "generate-lockfile")
            with attempt.or_older("cargo's older lists of crates", serves=True):
                self._cargo.run(attempt, "fetch", folder, *lock)
            if not (folder / "Cargo.lock").is_file():
                self._cargo.run(attempt, "fetch", folder, *lock, "--offline")
            edges = ("--edges", "normal,build", "--prefix", "none")
            listed = self._cargo.run(attempt, "fetch", folder, "cargo", "tree", "--locked", *edges, *features)
            locked_to = (folder / "Cargo.lock").read_text(encoding="utf-8")
            yield _Project(folder, features, compiled_packages(locked_to, listed))


def with_version(manifest: str, version: str) -> str:
    """The glue's Cargo.toml for a version of rustls, in the two places that name one."""
    changed, count = _VERSION.subn(rf"\g<1>{version}", manifest)
    assert count == 2, "the glue's manifest names the version twice"
    return changed


def compiled_packages(lock: str, listed: str) -> tuple[Package, ...]:
    """The registry's packages of a lock file that `cargo tree` lists. A lock file has those of all platforms."""
    compiled = set(_LISTED.findall(listed))
    return tuple(
        Package(name=_package_name(package["name"]), version=package["version"], sha256=package["checksum"])
        for package in tomllib.loads(lock)["package"]
        if "checksum" in package and (package["name"], package["version"]) in compiled
    )


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in version.split("."))


def _package_name(crate: str) -> str:
    """The library is a crate; what it stands on has the plain name, by which components are found."""
    return f"crate {crate}" if crate == "rustls" else crate
