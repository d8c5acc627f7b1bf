"""What every source of library versions offers: which version there is, and what to build a worker with.

Compiling and collecting are the same for all (worker.py, closure.py), so a provider only
resolves a reference and lays out headers and libraries. One provider a file.
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
    """What a reference means now. Equal fingerprints promise equal headers and libraries."""

    ref: SubjectRef
    version: str
    profile: BuildProfile
    fingerprint: str
    packages: tuple[Package, ...] = ()
    arguments: tuple[str, ...] = ()
    configure: tuple[str, ...] = ()
    """Words for the library's own configuration, where it is built."""
    commit: LibraryCommit | None = None
    """That the sources are of, where they are of one."""


@dataclass(frozen=True)
class Materials:
    """What the worker is compiled against and what it will run with.

    `libraries` is a folder with every library by its soname, or None for this machine's own.
    `host_libc` says that the C library comes from this machine although the rest doesn't; `rest_from_host` that
    whatever isn't in the folder does. `library_words` stand on the link line in place of `-lssl -lcrypto`.
    `owners` tells which package a library's file came from, by the file's name; `development` are packages that
    gave something else than libraries. `fips_module` is OpenSSL's, if there is one.
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
"""The compiler's default paths for building, the loader's for running."""


class Provider(Protocol):
    """A source of versions. Failures are StepFailed, with a remedy where there is one."""

    def describe(self) -> str:
        """One line for people: what it provides and how to write a reference to it."""
        ...

    def provides(self, ref: SubjectRef) -> bool:
        """Whether the reference is one of this provider's."""
        ...

    def versions(self, ref: SubjectRef, attempt: Attempt, *, refresh: bool) -> tuple[str, ...]:
        """Every version that the place which `ref` names has now, the oldest first: a suite has one, a registry many.
        None where nobody keeps a list. `refresh` forgets cached lists."""
        return ()

    def resolve(self, ref: SubjectRef, attempt: Attempt, *, refresh: bool) -> Resolution:
        """Find out the version without building; `refresh` forgets cached lists."""
        ...

    def fetch(self, resolution: Resolution, attempt: Attempt) -> Materials:
        """Lay out what was resolved, inside the attempt's scratch folder where files are needed."""
        ...


def no_flags(ref: SubjectRef, remedy: str) -> None:
    """Raises StepFailed where a reference has flags for a library that is taken as it is built."""
    if ref.variant.flags:
        flags = ", ".join(ref.variant.flags)
        raise StepFailed("resolve", f"{ref.origin} is built already, so {flags} can't be chosen", remedy)


def file_hashes(files: Iterable[Path]) -> list[str]:
    """SHA-256 of each file's content, under its own name, sorted; where the files lie doesn't matter."""
    return sorted(f"{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()}" for path in set(files))


def native_only(ref: SubjectRef, attempt: Attempt) -> None:
    """Raises StepFailed where a kit for another architecture is wanted of what is built for this machine."""
    if attempt.target.is_foreign:
        raise StepFailed(
            "resolve",
            f"{ref.origin} is built for this machine, not for {attempt.target.machine}",
            "name a source that is built, such as openssl@crate/3.5.5, or a suite, such as openssl@debian/trixie",
        )


def distribution_profile(provider: str, machine: str) -> BuildProfile:
    """The profile of a distribution's own binaries for `machine`; all suites share it."""
    return BuildProfile(
        provider=provider,
        linkage="shared",
        compiler="distribution",
        flags="distribution",
        libc="glibc",
        architecture=machine,
    )
