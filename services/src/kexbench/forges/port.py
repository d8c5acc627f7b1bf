"""The interface of a forge, and its error."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal, Protocol

State = Literal["pending", "success", "failure", "error"]
"""`failure`: the result is bad. `error`: there is no result."""


@dataclass(frozen=True)
class CommitStatus:
    """`context` identifies a status of a commit. A new status replaces the one with the same context."""

    context: str
    state: State
    description: str
    url: str

    def cut(self, most: int) -> "CommitStatus":
        """With the description on one line, cut to `most` characters."""
        line = " ".join(self.description.split())
        return replace(self, description=line if len(line) <= most else f"{line[: most - 1].rstrip()}…")


@dataclass(frozen=True)
class PullRequest:
    """An open pull request. `commit` is its head, on a `branch` of the repository or of a fork. `ref` names the head in
    the repository itself in both cases."""

    number: int
    branch: str
    commit: str
    ref: str
    base_branch: str


class ForgeError(Exception):
    """What the forge refused, where, and the remedy. `again_at`: when to retry, or None if a retry is useless until
    somebody fixes the cause. `status`: the HTTP status, or None if there was no answer."""

    def __init__(
        self, what: str, where: str, remedy: str, *, status: int | None = None, again_at: datetime | None = None
    ) -> None:
        super().__init__(f"{what} at {where}; {remedy}")
        self.status = status
        self.again_at = again_at


class Forge(Protocol):
    """One repository of a forge. Methods raise ForgeError. A repeated call sends nothing that is shown already."""

    def set_status(self, commit: str, status: CommitStatus) -> None:
        """Set a status of a commit."""
        ...

    def put_comment(self, pull_request: int, key: str, body: str) -> None:
        """Create the comment with this key, or edit it in place."""
        ...

    def has_comment(self, pull_request: int, key: str) -> bool:
        """Whether we wrote a comment with this key."""
        ...

    def pull_requests(self) -> tuple[PullRequest, ...]:
        """The open pull requests."""
        ...


class NoForge:
    """For a repository without a forge, such as a bare one on a disk."""

    def set_status(self, commit: str, status: CommitStatus) -> None: ...

    def put_comment(self, pull_request: int, key: str, body: str) -> None: ...

    def has_comment(self, pull_request: int, key: str) -> bool:  # noqa: ARG002
        return False

    def pull_requests(self) -> tuple[PullRequest, ...]:
        return ()
