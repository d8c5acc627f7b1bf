"""A suite's binary packages: their dependencies, and their files, named by SHA-256."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from kexbench.domain.kits import Package
from kexbench.kits.errors import StepFailed
from kexbench.kits.mirrors import Mirror
from kexbench.kits.private_apt import LISTS_MAX_AGE_S, PrivateApt
from kexbench.kits.process import Attempt
from kexbench.kits.target import Target

_PRINTED = re.compile(
    r"^'\S+' (?P<file>(?P<name>[^_]+)_(?P<version>[^_]+)_[^_]+\.deb) \d+ (?:SHA256:(?P<sha256>\w+))?", re.MULTILINE
)
_APT_ERROR = 100


@dataclass(frozen=True)
class SuiteArchive:
    """One suite of a Debian mirror, read with a private apt.

    `cache` is outside any checkout: `apt/SUITE/` holds lists, `apt/SUITE+ARCHITECTURE/` those of a foreign
    architecture, and `debs/` packages named by their SHA-256.
    """

    suite: str
    target: Target
    mirror: Mirror
    cache: Path
    lists_max_age_s: float = LISTS_MAX_AGE_S

    @property
    def _apt(self) -> PrivateApt:
        machine = self.target.architecture.debian
        state = self.cache / "apt" / (f"{self.suite}+{machine}" if self.target.is_foreign else self.suite)
        return PrivateApt(self.suite, "deb", self.mirror, state, self.lists_max_age_s, machine)

    def package_file(self, package: Package) -> Path:
        """The path of a downloaded package, which may not exist yet."""
        return self.cache / "debs" / f"{package.sha256}.deb"

    def refresh(self, attempt: Attempt, *, forced: bool) -> None:
        """Update the package lists. Raises StepFailed."""
        self._apt.refresh(attempt, forced=forced)

    def closure(self, packages: Sequence[str], attempt: Attempt) -> list[Package]:
        """The packages and all their dependencies, sorted by name, each with version and SHA-256. A package is given
        by its name, or by the absolute path of its file."""
        printed = self._apt.run(
            attempt, "resolve", "apt-get", "install", "--print-uris", "-q", "-y", "--no-install-recommends", *packages
        )
        return self._located(
            [match["name"] + "=" + unquote(match["version"]) for match in _PRINTED.finditer(printed)], attempt
        )

    def package(self, name: str, attempt: Attempt) -> Package:
        """The suite's version of one package, without its dependencies."""
        return self._located([name], attempt)[0]

    def exact(self, name: str, version: str, attempt: Attempt) -> Package | None:
        """A package of exactly this version, or None if the suite has none."""
        printed = self._apt.run(
            attempt, "resolve", "apt-get", "download", "--print-uris", f"{name}={version}", accept=(0, _APT_ERROR)
        )
        return next(iter(_packages(printed)), None)

    def dependencies(self, package: Package, attempt: Attempt) -> list[str]:
        """The names in the package's Depends field."""
        shown = self._apt.run(attempt, "resolve", "apt-cache", "show", f"{package.name}={package.version}")
        depends = re.search(r"^Depends: (.*)$", shown, re.MULTILINE)
        return names_in(depends[1]) if depends else []

    def download(self, packages: Iterable[Package], attempt: Attempt) -> None:
        """Fetch the packages that the cache lacks. Every file's hash is compared with the signed lists."""
        missing = [package for package in packages if not self.package_file(package).is_file()]
        if not missing:
            return
        attempt.note(f"downloading {len(missing)} packages of {self.suite}")
        folder = attempt.scratch / "download"
        folder.mkdir()
        names = [f"{package.name}={package.version}" for package in missing]
        self._apt.run(attempt, "fetch", "apt-get", "download", *names, folder=folder, timeout_s=900)
        self._apt.keep(folder, {package: self.package_file(package) for package in missing})

    def _located(self, names: list[str], attempt: Attempt) -> list[Package]:
        printed = self._apt.run(attempt, "resolve", "apt-get", "download", "--print-uris", *names)
        packages = _packages(printed)
        if len(packages) != len(names) or any(package.sha256 is None for package in packages):
            raise StepFailed("resolve", f"the lists of {self.suite} lack a SHA-256 for some of {', '.join(names)}")
        return sorted(packages, key=lambda package: package.name)


def names_in(depends: str) -> list[str]:
    """The names in a Depends field; of alternatives the first."""
    return [re.split(r"[\s:(|]", item.strip())[0] for item in depends.split(",")]


def _packages(printed: str) -> list[Package]:
    """The packages in the output of `apt-get --print-uris`. A hash may be missing."""
    return [
        Package(name=match["name"], version=unquote(match["version"]), sha256=match["sha256"])
        for match in _PRINTED.finditer(printed)
    ]
