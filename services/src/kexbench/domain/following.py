"""Library branches that specs follow: how far each was processed, and which runs were requested."""

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
        """The reference of a commit as a subject."""
        return f"{self.library}@git:{self.address}#{commit}"


class Following(Frozen):
    """A spec in a watched repository that follows a branch of a library."""

    repository: RepositoryName
    path: SpecPath
    branch: LibraryBranch


class AskedCommit(Frozen):
    """A commit of the library whose run was requested, and the commit that it is compared with."""

    commit: CommitHash
    base: CommitHash | None = Field(description="null where none is known to build")
    run_id: str


class FollowedCommit(Frozen):
    """How far a branch was processed; the newest entry of a following counts."""

    following: Following
    commit: CommitHash
    number: Count = Field(description="position by first parents; the first followed commit is 0")
    base: CommitHash | None = Field(description="the last measured commit, or the first followed one")
    asked: AskedCommit | None = Field(None, description="this commit, where its run was requested")
    faults: tuple[SpecFault, ...] = Field((), description="why its run was not requested")
    handled_at: Moment
