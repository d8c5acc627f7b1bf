"""Debian packages that are in no archive yet: `openssl@deb:/build/debs#bookworm`, a folder or one file, and a suite.

They replace the suite's packages of the same names. Everything else comes from the suite, so both kits have one build
profile and differ in these packages alone. Files are read in place and never installed.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kexbench.domain.kits import Package, SubjectRef
from kexbench.domain.libraries import PACKAGES, Packages
from kexbench.domain.versions import upstream_version
from kexbench.kits.apt import SuiteArchive, names_in
from kexbench.kits.debian import DebianProvider
from kexbench.kits.errors import ProgramFailed, StepFailed
from kexbench.kits.mirrors import host_mirror
from kexbench.kits.process import Attempt

_SOURCE = re.compile(r"deb:(?P<path>[^#]+)#(?P<suite>[a-z][a-z-]*)")
_FORMAT = r"${Package}\n${Version}\n${Architecture}\n${Depends}"


class DebFilesProvider(DebianProvider):
    """Packages of the user, and a suite for all that they need."""

    def describe(self) -> str:
        names = ", ".join(f"{name}@deb:/DIR#SUITE" for name in PACKAGES)
        return f"{names}: .deb files of your own, and a Debian suite's packages for the rest"

    def provides(self, ref: SubjectRef) -> bool:
        return ref.library in PACKAGES and _SOURCE.fullmatch(ref.origin) is not None

    def _development_and_runtime(
        self, archive: SuiteArchive, names: Packages, attempt: Attempt
    ) -> tuple[Package, Package]:
        assert isinstance(archive, _ArchiveWithFiles)
        development, runtime = super()._development_and_runtime(archive, names, attempt)
        if runtime.name not in archive.files:
            raise StepFailed(
                "resolve",
                f"{runtime.name} is not among the packages in {archive.place}",
                f"name a folder with a .deb file of {runtime.name}",
            )
        version = upstream_version(runtime.version)
        if (of_headers := upstream_version(development.version)) != version:
            raise StepFailed(
                "resolve",
                f"{runtime.name} is {version}, but {development.name} has the headers of {of_headers}",
                f"name a folder with {development.name} and {runtime.name} of one build",
            )
        return development, runtime

    def _archive(self, ref: SubjectRef, attempt: Attempt) -> SuiteArchive:
        match = _SOURCE.fullmatch(ref.origin)
        assert match, "the caller checks `provides` first"
        place = Path(match["path"])
        mirror = self._mirror or host_mirror()
        files = _read(place, attempt)
        return _ArchiveWithFiles(match["suite"], attempt.target, mirror, self._cache, place=place, files=files)


@dataclass(frozen=True)
class _DebFile:
    package: Package
    path: Path
    dependencies: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class _ArchiveWithFiles(SuiteArchive):
    """A suite in which `files` from `place`, by package name, replace its packages."""

    place: Path
    files: Mapping[str, _DebFile]

    def package_file(self, package: Package) -> Path:
        file = self.files.get(package.name)
        return file.path if file and file.package == package else super().package_file(package)

    def closure(self, packages: Sequence[str], attempt: Attempt) -> list[Package]:
        names = list(packages)
        while True:
            for name in names:  # grows meanwhile, since a file may need a version that only another file has
                if name in self.files:
                    names += [other for other in self.files[name].dependencies if other in self.files.keys() - names]
            arguments = [str(self.files[name].path) if name in self.files else name for name in names]
            closure = super().closure(arguments, attempt)
            more = {package.name for package in closure} & self.files.keys() - names
            if not more:
                return closure
            names += sorted(more)

    def exact(self, name: str, version: str, attempt: Attempt) -> Package | None:
        file = self.files.get(name)
        return file.package if file and file.package.version == version else super().exact(name, version, attempt)

    def dependencies(self, package: Package, attempt: Attempt) -> list[str]:
        file = self.files.get(package.name)
        return list(file.dependencies) if file else super().dependencies(package, attempt)

    def _located(self, names: list[str], attempt: Attempt) -> list[Package]:
        files = {name: self.files.get(name.partition("=")[0]) for name in names}
        rest = [name for name, file in files.items() if file is None]
        packages = [file.package for file in files.values() if file]
        packages += super()._located(rest, attempt) if rest else []
        return sorted(packages, key=lambda package: package.name)


def _read(place: Path, attempt: Attempt) -> dict[str, _DebFile]:
    """The packages in a folder, or that of one file, by name. Raises StepFailed."""
    if not place.exists():
        raise StepFailed("resolve", f"there is no file or folder {place}", "name a .deb file or a folder with some")
    paths = [place] if place.is_file() else sorted(path for path in place.glob("*.deb") if path.is_file())
    if not paths:
        raise StepFailed("resolve", f"there are no packages in {place}", "name a .deb file or a folder with some")
    files: dict[str, _DebFile] = {}
    for path in paths:
        try:
            shown = attempt.run(
                ["dpkg-deb", "--show", "--showformat", _FORMAT, str(path)], stage="resolve", timeout_s=30
            )
            attempt.run(["dpkg-deb", "--contents", str(path)], stage="resolve", timeout_s=120)  # reads the whole file
        except ProgramFailed as error:
            raise StepFailed("resolve", f"{path} can't be read as a package", "build or copy it again") from error
        sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
        name, version, architecture, depends = shown.split("\n", 3)
        if architecture not in (attempt.target.architecture.debian, "all"):
            raise StepFailed(
                "resolve",
                f"{path} is for {architecture}, not for {attempt.target.architecture.debian}",
                "name a folder with packages of one architecture",
            )
        if name in files:
            raise StepFailed(
                "resolve",
                f"{place} has {name} twice: {files[name].path.name} and {path.name}",
                "remove one, or name a folder with packages of one build",
            )
        files[name] = _DebFile(Package(name=name, version=version, sha256=sha256), path, tuple(names_in(depends)))
    return files
