"""What a forge is asked for, and how it says no."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal, Protocol

State = Literal["pending", "success", "failure", "error"]
"""`failure`: what was asked for is bad news. `error`: it could not be done."""


@dataclass(frozen=True)
class CommitStatus:
    """`context` tells the statuses of one commit apart; a new one replaces that of the same context."""

    context: str
    state: State
    description: str
    url: str

    def cut(self, most: int) -> "CommitStatus":
        """With a description of at most so many characters, on one line."""
        line = " ".join(self.description.split())
        return replace(self, description=line if len(line) <= most else f"{line[: most - 1].rstrip()}…")


@dataclass(frozen=True)
class PullRequest:
    """An open one. `commit` is its head, of a `branch` of that repository or of a fork; `ref` leads to it in the
    repository that it is proposed to, wherever it comes from."""

    number: int
    branch: str
    commit: str
    ref: str
    base_branch: str


class ForgeError(Exception):
    """What the forge refused, where, and what puts it right. `again_at`: when to ask again; None where that is of no
    use before somebody has acted. `status` is that of the answer, None where there was none."""

    def __init__(
        self, what: str, where: str, remedy: str, *, status: int | None = None, again_at: datetime | None = None
    ) -> None:
        super().__init__(f"{what} at {where}; {remedy}")
        self.status = status
        self.again_at = again_at


class Forge(Protocol):
    """One repository of a forge. All can be repeated: what people see already is not sent again. Raises ForgeError."""

    def set_status(self, commit: str, status: CommitStatus) -> None:
        """Show a status at a commit."""
        ...

    def put_comment(self, pull_request: int, key: str, body: str) -> None:
        """Have one comment of this key, which says just this: it is edited in place."""
        ...

    def has_comment(self, pull_request: int, key: str) -> bool:
        """Whether there is one of this key, and of ours."""
        ...

    def pull_requests(self) -> tuple[PullRequest, ...]:
        """The open ones."""
        ...


class NoForge:
    """A repository without anybody to tell, such as a bare one on a disk."""

    def set_status(self, commit: str, status: CommitStatus) -> None: ...

    def put_comment(self, pull_request: int, key: str, body: str) -> None: ...

    def has_comment(self, pull_request: int, key: str) -> bool:  # noqa: ARG002
        return False

    def pull_requests(self) -> tuple[PullRequest, ...]:
        return ()
