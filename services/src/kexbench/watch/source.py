"""A repository as the watcher sees it: the port."""

from collections.abc import Collection
from typing import Protocol

from kexbench.domain.commits import Commit
from kexbench.domain.repositories import Repository
from kexbench.planning.commits import Files


class SourceError(Exception):
    """A repository could not be read; the text says why and what to do."""


class Source(Protocol):
    """All of it raises SourceError."""

    @property
    def repository(self) -> Repository: ...

    def heads(self) -> dict[str, str]:
        """Ask where the watched and the planned branches lead to; those that there are. Whatever they lead to can be
        read then."""
        ...

    def fetch(self, refs: Collection[str]) -> dict[str, str]:
        """The same of other references, such as the heads of pull requests."""
        ...

    def merge_base(self, commit: str, others: Collection[str]) -> str | None:
        """The newest commit that it has in common with any of the others, or None."""
        ...

    def new_commits(self, head: str, handled: str) -> list[str]:
        """What came to a branch since a commit was handled, the oldest first, merges as one; the last is the head.
        Where history was rewritten, what the handled commit has not among its ancestors."""
        ...

    def commit(self, branch: str, commit: str) -> Commit: ...

    def message(self, commit: str) -> str: ...

    def parent(self, commit: str) -> str | None:
        """The first one."""
        ...

    def files(self, commit: str | None) -> Files:
        """None is the emptiness before the first commit."""
        ...
