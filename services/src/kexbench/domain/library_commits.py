"""Commits of a library's git repository, as stored in kits that are built from them."""

from typing import Self

from pydantic import Field

from kexbench.domain.commits import CommitHash
from kexbench.domain.frozen import Frozen
from kexbench.domain.moments import Moment, moment_of

SHORT_HASH = 7
SUBJECT_MAX = 500
"""Characters of a commit's first line."""


class LibraryCommit(Frozen):
    hash: CommitHash
    committed_at: Moment = Field(description="when it was added to its branch")
    authored_at: Moment = Field(description="when it was written")
    subject: str = Field(max_length=SUBJECT_MAX, description="the first line of its message")

    @classmethod
    def of(cls, commit: str, committed: int, authored: int, message: str) -> Self:
        """From git's data: times in seconds, and a message with any content."""
        return cls(
            hash=commit,
            committed_at=moment_of(committed),
            authored_at=moment_of(authored),
            subject=printable(message.strip().partition("\n")[0])[:SUBJECT_MAX],
        )


def printable(text: str) -> str:
    """Text without characters that could control the terminal."""
    return "".join(letter for letter in text if letter.isprintable())


def version_text(version: str, commit: LibraryCommit | None) -> str:
    """The version for people: `3.5.7`, or for a commit `3.6.0-dev 0123abc`."""
    return f"{version} {commit.hash[:SHORT_HASH]}" if commit else version
