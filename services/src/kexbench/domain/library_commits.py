"""Commits of a library's git repository, as kits that are built from them keep them."""

from pydantic import Field

from kexbench.domain.commits import CommitHash
from kexbench.domain.frozen import Frozen
from kexbench.domain.moments import Moment

SHORT_HASH = 7
SUBJECT_MAX = 500
"""Characters of a commit's first line."""


class LibraryCommit(Frozen):
    hash: CommitHash
    committed_at: Moment = Field(description="when it came to its branch")
    authored_at: Moment = Field(description="when it was written")
    subject: str = Field(max_length=SUBJECT_MAX, description="the first line of its message")


def version_text(version: str, commit: LibraryCommit | None) -> str:
    """What people read: `3.5.7`, and of a commit `3.6.0-dev 0123abc`."""
    return f"{version} {commit.hash[:SHORT_HASH]}" if commit else version
