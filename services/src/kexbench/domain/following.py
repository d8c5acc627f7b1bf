"""Branches of libraries that specs follow: how far each was looked through, and what was asked for."""

from pydantic import Field

from kexbench.domain.commits import CommitHash, SpecFault, SpecPath
from kexbench.domain.frozen import Frozen
from kexbench.domain.kits import Library
from kexbench.domain.moments import Moment
from kexbench.domain.numbers import Count
from kexbench.domain.repositories import RepositoryName


class LibraryBranch(Frozen):
    """A branch of a library's git repository."""

    library: Library
    address: str = Field(min_length=1, max_length=300, description="of the repository: an absolute path or a URL")
    branch: str = Field(min_length=1, max_length=255)

    def reference(self, commit: str) -> str:
        """Of the subject that one of its commits is."""
        return f"{self.library}@git:{self.address}#{commit}"


class Following(Frozen):
    """A spec in a watched repository that follows a branch of a library."""

    repository: RepositoryName
    path: SpecPath
    branch: LibraryBranch


class AskedCommit(Frozen):
    """A commit of the library whose run was asked for, and the commit beside which it is measured."""

    commit: CommitHash
    base: CommitHash | None = Field(description="null where none is known to build")
    run_id: str


class FollowedCommit(Frozen):
    """How far a branch was looked through; the newest of a following counts."""

    following: Following
    commit: CommitHash
    number: Count = Field(description="by first parents from where following began, which is 0")
    base: CommitHash | None = Field(description="the last commit that was measured, or where following began")
    asked: AskedCommit | None = Field(None, description="this commit, where it was asked for")
    faults: tuple[SpecFault, ...] = Field((), description="why it was not")
    handled_at: Moment
