"""A suite's source packages: the upstream archive of each, according to the suite's signed lists.

Debian's patches are not fetched. All suites share the downloaded archives, named by SHA-256.
"""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from kexbench.domain.kits import Package
from kexbench.domain.versions import upstream_version
from kexbench.kits.errors import StepFailed
from kexbench.kits.mirrors import Mirror
from kexbench.kits.private_apt import LISTS_MAX_AGE_S, PrivateApt
from kexbench.kits.process import Attempt
from kexbench.kits.target import this_architecture
from kexbench.kits.unbuilt import unpack

_PRINTED = re.compile(
    r"^'\S+' (?P<name>[^_\s]+)_(?P<version>[^_\s]+)\.orig\.tar\.\w+ \d+ (?:SHA256:(?P<sha256>\w+))?", re.MULTILINE
)
_VERSION = re.compile(r"^Version: (\S+)$", re.MULTILINE)


@dataclass(frozen=True)
class SourceArchive:
    """The source packages of one suite of a Debian mirror.

    `cache` is outside any checkout: `apt-sources/SUITE/` holds lists, `sources/` archives named by their SHA-256.
    """

    suite: str
    mirror: Mirror
    cache: Path
    lists_max_age_s: float = LISTS_MAX_AGE_S

    @property
    def _apt(self) -> PrivateApt:
        state = self.cache / "apt-sources" / self.suite
        architecture = this_architecture().debian
        return PrivateApt(self.suite, "deb-src", self.mirror, state, self.lists_max_age_s, architecture)

    def refresh(self, attempt: Attempt, *, forced: bool) -> None:
        """Update the package lists. Raises StepFailed."""
        self._apt.refresh(attempt, forced=forced)

    def upstream(self, name: str, attempt: Attempt) -> Package:
        """The suite's newest version of a source package, with the version and hash of the upstream archive."""
        printed = self._get_source(attempt, name, "--print-uris", "-qq")
        archives = [match for match in _PRINTED.finditer(printed) if match["name"] == name]
        if len(archives) != 1 or archives[0]["sha256"] is None:
            raise StepFailed("resolve", f"{self.suite} has no upstream archive with a SHA-256 for {name}")
        return Package(name=name, version=upstream_version(archives[0]["version"]), sha256=archives[0]["sha256"])

    def unpack(self, package: Package, folder: Path, attempt: Attempt) -> Path:
        """Unpack the sources into `folder`, with the archive's times, and return their root. Raises StepFailed."""
        archive = self.cache / "sources" / str(package.sha256)
        if not archive.is_file():
            self._fetch(package, archive, attempt)
        if hashlib.sha256(archive.read_bytes()).hexdigest() != package.sha256:
            raise StepFailed("fetch", f"{archive} does not match the SHA-256 in its name", "delete it")
        root = unpack(archive, folder)
        if root == folder:
            raise StepFailed("fetch", f"the archive of {package.name} {package.version} has more than one top folder")
        return root

    def _fetch(self, package: Package, archive: Path, attempt: Attempt) -> None:
        self.refresh(attempt, forced=False)
        attempt.note(f"downloading the sources of {package.name} {package.version} from {self.suite}")
        folder = attempt.scratch / f"download-{package.name}"
        folder.mkdir()
        self._get_source(attempt, self._revision(package, attempt), folder=folder)
        self._apt.keep(folder, {package: archive})

    def _revision(self, package: Package, attempt: Attempt) -> str:
        """apt's words for the revision that has this upstream archive: the suite has several where its updates bring
        newer ones. If none has it, the newest, whose hash is reported then."""
        listed = self._apt.run(attempt, "fetch", "apt-cache", "showsrc", "--only-source", package.name)
        for paragraph in listed.split("\n\n"):
            version = _VERSION.search(paragraph)
            if version and str(package.sha256) in paragraph:
                return f"{package.name}={version[1]}"
        return package.name

    def _get_source(self, attempt: Attempt, name: str, *more: str, folder: Path | None = None) -> str:
        arguments = ["apt-get", "source", "--download-only", "--tar-only", *more, name]
        return self._apt.run(attempt, "fetch" if folder else "resolve", *arguments, folder=folder, timeout_s=900)
