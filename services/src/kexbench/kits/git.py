"""Sources in a git repository, in a folder or at an address: `openssl@git:/src/openssl#master`.

A reference means the commit that its branch or tag points to now. The commit alone identifies the sources. The build
uses the output of `git archive`, as releases do: no uncommitted files and no submodules.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kexbench.domain.bisections import LineCommit
from kexbench.domain.canonical import content_hash
from kexbench.domain.kits import Package, SubjectRef
from kexbench.domain.libraries import VERSION_FILES
from kexbench.domain.library_commits import LibraryCommit
from kexbench.kits.attempts import asking
from kexbench.kits.githistory import library_commit_of, line_of_commits
from kexbench.kits.gitmirror import GitMirror
from kexbench.kits.process import Attempt, Children, Progress
from kexbench.kits.source import Origin, Sources
from kexbench.kits.unbuilt import no_version, told_version, unpack
from kexbench.locks import locked


class GitOrigin(Origin):
    """Repositories anywhere. `cache` keeps a mirror of each, with the requested commits."""

    name = "git"

    def __init__(self, cache: Path) -> None:
        self._cache = cache / "git"

    def describe(self) -> str:
        return (
            "openssl@git:/DIR#REF, openssl@git:https://…#REF: a branch, tag or commit of a git repository, built here"
        )

    def provides(self, ref: SubjectRef) -> bool:
        return ref.library in VERSION_FILES and ref.origin.startswith("git:")

    def locate(self, ref: SubjectRef, attempt: Attempt, *, refresh: bool) -> Sources:
        address, name = ref.repository_and_name
        with self._mirror(address, attempt) as mirror:
            commit = mirror.fetch(name, attempt, refresh=refresh)
            version = _version(ref.library, mirror, commit, attempt)
            library_commit = library_commit_of(mirror, commit, attempt)
        return Sources(
            version=version,
            identity=commit,
            packages=(Package(name="git commit", version=commit, sha256=None),),
            unpack=lambda folder, within: _unpack(mirror, commit, folder, within),
            commit=library_commit,
        )

    def commits(
        self, good: SubjectRef, bad: SubjectRef, progress: Progress, children: Children | None = None
    ) -> tuple[LineCommit, ...]:
        """The commits from `good` to `bad` along first parents, both included, oldest first. Raises KitError, also if
        there is no such range. `children` lets another thread end the search."""
        address, last = bad.repository_and_name
        _, first = good.repository_and_name
        with asking(bad, progress, children) as attempt, self._mirror(address, attempt) as mirror:
            return line_of_commits(mirror, first, last, attempt)

    def newest(self, ref: SubjectRef, progress: Progress) -> LibraryCommit:
        """The commit that a branch points to now, read from the repository. Raises KitError."""
        address, name = ref.repository_and_name
        with asking(ref, progress) as attempt, self._mirror(address, attempt) as mirror:
            return library_commit_of(mirror, mirror.fetch(name, attempt, refresh=True), attempt)

    @contextmanager
    def _mirror(self, address: str, attempt: Attempt) -> Iterator[GitMirror]:
        """The mirror of a repository, locked for this process."""
        name = content_hash(address, length=32)
        with locked(self._cache / f".{name}.lock", attempt.note, attempt.go_on):
            yield GitMirror(address, self._cache / name)


def _version(library: str, mirror: GitMirror, commit: str, attempt: Attempt) -> str:
    for path in VERSION_FILES[library]:
        text = mirror.file(commit, path, attempt)
        if text and (version := told_version(library, path, text)):
            return version
    raise no_version(library, f"commit {commit[:12]} of {mirror.address}")


def _unpack(mirror: GitMirror, commit: str, folder: Path, attempt: Attempt) -> Path:
    archive = attempt.scratch / "commit.tar"
    mirror.git(["archive", "--format=tar", f"--output={archive}", commit], attempt, "fetch")
    unpack(archive, folder)
    archive.unlink()
    return folder  # even if the commit holds a single folder
