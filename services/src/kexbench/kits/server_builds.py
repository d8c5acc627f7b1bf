"""What builds a web server against a kit's library: the description of a server, and what all of them share.

There is one version of each for every library, so that a change between two is the library's. Another version or other
options would be another web server, with another value of the dimension `server`.
"""

import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from kexbench.domain.canonical import content_hash
from kexbench.domain.dimensions import Server
from kexbench.domain.kits import Package, SubjectRef
from kexbench.kits.builds import BuildCache
from kexbench.kits.errors import StepFailed
from kexbench.kits.mirrors import host_mirror
from kexbench.kits.process import Attempt
from kexbench.kits.provider import Materials
from kexbench.kits.source_packages import SourceArchive

EMPTY_ARCHIVE = b"!<arch>\n"


@dataclass(frozen=True)
class ServerBuild(ABC):
    """Builds of one web server. `cache` keeps sources and builds. `jobs` is the number of parallel compilers."""

    cache: Path
    jobs: int

    server: ClassVar[Server]
    """Also the name of its program."""
    package: ClassVar[Package]
    suite: ClassVar[str]
    """The suite of its sources. The hash is that of the upstream archive, so any other source would do."""
    ingredients: ClassVar[tuple[Package, ...]] = ()
    """Sources of libraries that are built for it, from the same suite."""
    words: ClassVar[tuple[str, ...]]
    """The arguments of its configuration."""
    flags: ClassVar[tuple[str, ...]]
    """The compiler's."""
    version_words: ClassVar[tuple[str, ...]]
    """The arguments with which the program starts only to say its version."""

    @abstractmethod
    def compiled(self, materials: Materials, attempt: Attempt) -> Path:
        """The program, built in the attempt's scratch folder. Raises StepFailed."""

    @abstractmethod
    def is_built_with(self, version: str, said: str, program: bytes) -> bool:
        """Whether the program uses this version of OpenSSL. It `said` something when it was started with
        `version_words`."""

    def cached(self, ref: SubjectRef, decisive: list[str], supply: Callable[[], Materials], attempt: Attempt) -> Path:
        """The program built against a library, from the cache or built now. `decisive` identifies the library and the
        compiler, `supply` fetches the library's files. Raises StepFailed."""
        own = [self.package.sha256, self.words, self.flags, *(package.sha256 for package in self.ingredients)]
        name = f"{self.server}-{self.package.version}-{content_hash([*own, *decisive], length=16)}"

        def build(installed: Path) -> None:
            materials = supply()
            attempt.note(f"building {self.server} {self.package.version} against {ref}")
            shutil.copy2(self.compiled(materials, attempt), installed / self.server)

        return BuildCache(self.cache / "builds").built(name, build, attempt) / self.server

    def unpacked(self, package: Package, attempt: Attempt) -> Path:
        """The sources of a package in the attempt's scratch folder."""
        folder = attempt.scratch / f"{package.name}-source"
        folder.mkdir()
        return SourceArchive(self.suite, host_mirror(), self.cache).unpack(package, folder, attempt)

    def configure(self, source: Path, words: list[str], attempt: Attempt, environment: dict[str, str]) -> None:
        attempt.run(["./configure", *words], stage="compile", timeout_s=300, folder=source, environment=environment)

    def make(self, source: Path, words: list[str], attempt: Attempt) -> None:
        command = ["make", f"-j{attempt.share_of(self.jobs)}", *words]
        # A program contains its build time. A fixed one makes the same sources give the same bytes.
        fixed = {"SOURCE_DATE_EPOCH": "1"}
        attempt.run(command, stage="compile", timeout_s=1200, folder=source, environment=fixed)

    def built(self, program: Path) -> Path:
        if not program.is_file():
            raise StepFailed("compile", f"make succeeded but built no {self.server}")
        return program
