"""Sources in a git repository that people name: `openssl@git:/src/openssl#master`, or at an address.

A reference means the commit that its branch or tag leads to now, which is all that identifies the sources. What is
built is what `git archive` gives of it, as releases are made: nothing that isn't committed, and no submodules.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from kexbench.domain.bisections import LineCommit
from kexbench.domain.canonical import content_hash
from kexbench.domain.kits import Package, SubjectRef
from kexbench.domain.libraries import VERSION_FILES
from kexbench.domain.library_commits import LibraryCommit
from kexbench.kits.errors import KitError, StepFailed
from kexbench.kits.githistory import line_of_commits, told_of
from kexbench.kits.gitmirror import GitMirror
from kexbench.kits.locks import locked
from kexbench.kits.process import Attempt, Children, Progress
from kexbench.kits.source import Sources
from kexbench.kits.unbuilt import no_version, told_version, unpack

_PREFIX = "git:"
_SOURCE = re.compile(r"git:(?P<address>[^#]+)#(?P<name>[A-Za-z0-9].*)")


class GitOrigin:
    """Repositories anywhere. `cache` keeps a mirror of each, with the commits that were asked for."""

    name = "git"

    def __init__(self, cache: Path) -> None:
        self._cache = cache / "git"

    def describe(self) -> str:
        return (
            "openssl@git:/DIR#REF, openssl@git:https://…#REF: a branch, tag or commit of a git repository, built here"
        )

    def provides(self, ref: SubjectRef) -> bool:
        return ref.origin.startswith(_PREFIX)

    def versions(self, ref: SubjectRef, attempt: Attempt, *, refresh: bool) -> tuple[str, ...]:
        return ()

    def locate(self, ref: SubjectRef, attempt: Attempt, *, refresh: bool) -> Sources:
        address, name = _parts(ref.origin)
        mirror = self._mirror(address)
        with locked(self._lock(mirror), attempt.note, attempt.go_on):
            commit = mirror.fetch(name, attempt, refresh=refresh)
            version = _version(ref.library, mirror, commit, attempt)
            told = told_of(mirror, commit, attempt)
        return Sources(
            version=version,
            identity=commit,
            packages=(Package(name="git commit", version=commit, sha256=None),),
            unpack=lambda folder, within: _unpack(mirror, commit, folder, within),
            commit=told,
        )

    def commits(
        self, good: SubjectRef, bad: SubjectRef, progress: Progress, children: Children | None = None
    ) -> tuple[LineCommit, ...]:
        """From the one commit of a repository to the other by first parents, both included, oldest first. Raises
        KitError, also where no such line leads from the one to the other. `children` are what can be ended from
        elsewhere."""
        with self._asking(bad, progress, children) as (mirror, attempt):
            return line_of_commits(mirror, _parts(good.source)[1], _parts(bad.source)[1], attempt)

    def newest(self, ref: SubjectRef, progress: Progress) -> LibraryCommit:
        """What a branch leads to now, asked anew. Raises KitError."""
        with self._asking(ref, progress) as (mirror, attempt):
            return told_of(mirror, mirror.fetch(_parts(ref.source)[1], attempt, refresh=True), attempt)

    @contextmanager
    def _asking(
        self, ref: SubjectRef, progress: Progress, children: Children | None = None
    ) -> Iterator[tuple[GitMirror, Attempt]]:
        """The mirror of a reference's repository, for who makes no kit. Raises KitError."""
        mirror = self._mirror(_parts(ref.source)[0])
        with TemporaryDirectory(prefix="kexbench-") as folder:
            attempt = Attempt(Path(folder), Path(folder) / "log", progress, children=children or Children())
            try:
                with locked(self._lock(mirror), attempt.note, attempt.go_on):
                    yield mirror, attempt
            except StepFailed as error:
                raise KitError.of(ref, error) from error

    def _mirror(self, address: str) -> GitMirror:
        return GitMirror(address, self._cache / content_hash(address, length=32))

    def _lock(self, mirror: GitMirror) -> Path:
        return self._cache / f".{mirror.folder.name}.lock"


def _parts(source: str) -> tuple[str, str]:
    """The address of a reference's repository, and what it names there."""
    match = _SOURCE.fullmatch(source)
    assert match, "a reference's grammar asks for it"
    return match["address"], match["name"]


def _version(library: str, mirror: GitMirror, commit: str, attempt: Attempt) -> str:
    for path in VERSION_FILES[library]:
        text = mirror.file(commit, path, attempt)
        if text and (version := told_version(library, path, text)):
            return version
    raise no_version(library, f"commit {commit[:12]} of {mirror.address}")


def _unpack(mirror: GitMirror, commit: str, folder: Path, attempt: Attempt) -> Path:
    archive = attempt.scratch / "commit.tar"
    mirror.archive(commit, archive, attempt)
    unpack(archive, folder)
    archive.unlink()
    return folder  # also where all that was committed is one folder
