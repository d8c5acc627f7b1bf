"""The interface of all sources of library versions: resolve a reference, and supply headers and libraries.

Compiling and collecting are the same for all (worker.py, closure.py). Each provider has its own file.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from kexbench.domain.kits import BuildProfile, Package, SubjectRef
from kexbench.domain.library_commits import LibraryCommit
from kexbench.kits.errors import StepFailed
from kexbench.kits.process import Attempt


@dataclass(frozen=True)
class Resolution:
    """What a reference means now. Equal fingerprints guarantee equal headers and libraries."""

    ref: SubjectRef
    version: str
    profile: BuildProfile
    fingerprint: str
    packages: tuple[Package, ...] = ()
    arguments: tuple[str, ...] = ()
    configure: tuple[str, ...] = ()
    """Arguments of the library's own configuration, if it is built here."""
    commit: LibraryCommit | None = None
    """The commit of the sources, if they have one."""


@dataclass(frozen=True)
class Materials:
    """What the worker is compiled and run with.

    `libraries` is a folder with every library under its soname, or None for this machine's own.
    `host_libc`: the C library comes from this machine, the rest from the folder. `rest_from_host`: everything that the
    folder lacks comes from this machine. `library_words` replace `-lssl -lcrypto` on the link line.
    `owners` maps file names of libraries to their packages. `development` are packages of other files than libraries.
    `fips_module` is OpenSSL's, if there is one.
    """

    compile_flags: tuple[str, ...] = ()
    link_flags: tuple[str, ...] = ()
    libraries: Path | None = None
    host_libc: bool = False
    rest_from_host: bool = False
    library_words: tuple[str, ...] | None = None
    owners: Mapping[str, Package] = field(default_factory=dict)
    development: tuple[Package, ...] = ()
    fips_module: Path | None = None


THIS_MACHINE = Materials()
"""The default paths of the compiler and the loader."""


class Provider(Protocol):
    """A source of versions. Failures raise StepFailed, with a remedy if there is one."""

    def describe(self) -> str:
        """One line for users: what it provides and how to write a reference to it."""
        ...

    def provides(self, ref: SubjectRef) -> bool:
        """Whether this provider handles the reference."""
        ...

    def versions(self, ref: SubjectRef, attempt: Attempt, *, refresh: bool) -> tuple[str, ...]:
        """Every version that the source of `ref` offers now, oldest first: a suite has one, a registry many. Empty if
        the source has no list. `refresh` ignores cached lists."""
        return ()

    def resolve(self, ref: SubjectRef, attempt: Attempt, *, refresh: bool) -> Resolution:
        """Determine the version without building. `refresh` ignores cached lists."""
        ...

    def fetch(self, resolution: Resolution, attempt: Attempt) -> Materials:
        """Supply the files of a resolution, in the attempt's scratch folder."""
        ...


def no_flags(ref: SubjectRef, remedy: str) -> None:
    """Raises StepFailed if a reference has build flags but its library is not built here."""
    if ref.variant.flags:
        flags = ", ".join(ref.variant.flags)
        raise StepFailed("resolve", f"{ref.origin} is already built and takes no flags: {flags}", remedy)


def file_hashes(files: Iterable[Path]) -> list[str]:
    """Name and SHA-256 of each file, sorted. Folders don't matter."""
    return sorted(f"{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()}" for path in set(files))


def native_only(ref: SubjectRef, attempt: Attempt) -> None:
    """Raises StepFailed if the target is foreign: the source has files for this machine only."""
    if attempt.target.is_foreign:
        raise StepFailed(
            "resolve",
            f"{ref.origin} is built for this machine, not for {attempt.target.machine}",
            "choose a source that is built here, such as openssl@crate/3.5.5, or a suite: openssl@debian/trixie",
        )


def distribution_profile(provider: str, machine: str) -> BuildProfile:
    """The profile of a distribution's binaries for `machine`. All suites share it."""
    return BuildProfile(
        provider=provider,
        linkage="shared",
        compiler="distribution",
        flags="distribution",
        libc="glibc",
        architecture=machine,
    )
