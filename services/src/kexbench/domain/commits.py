"""Commits of watched repositories, which trigger runs, and the result for each of their specs."""

from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field, model_validator

from kexbench.domain.frozen import Frozen
from kexbench.domain.moments import Moment
from kexbench.domain.numbers import Count, Finite
from kexbench.domain.repositories import RepositoryName

NO_COMMIT = "0" * 40
"""The hash that git writes for a branch that doesn't exist yet."""
CommitHash = Annotated[str, Field(pattern=r"^([0-9a-f]{40}|[0-9a-f]{64})$")]
PATH_MAX = 400
SpecPath = Annotated[str, Field(min_length=1, max_length=PATH_MAX)]


_PULL_REQUEST = "pull request "


def branch_of(pull_request: int) -> str:
    """A name in place of a branch for a pull request's head. No branch can have it: git allows no spaces."""
    return f"{_PULL_REQUEST}{pull_request}"


class Commit(Frozen):
    """A commit on a branch of a watched repository, or the head of a pull request there."""

    repository: RepositoryName
    branch: str = Field(min_length=1, max_length=255)
    commit: CommitHash
    title: str = Field(max_length=500, description="the first line of its message")
    author: str = Field(max_length=200)
    committed_at: Moment

    @property
    def pull_request(self) -> int | None:
        """The number of the pull request that it is the head of."""
        number = self.branch.removeprefix(_PULL_REQUEST)
        return int(number) if number != self.branch else None


class Reason(StrEnum):
    """Why a spec of a commit is measured: it changed, or the catalogue has a new version that it tracks."""

    SPEC = "spec"
    LIBRARY = "library"


class DryRun(Frozen):
    """A spec that was planned but not measured, with the expected run if it were queued now."""

    cases: Count
    jobs: Count
    minutes: dict[str, Finite] = Field(description="of machine time by pool, roughly")
    runs_ahead: Count = Field(description="queued runs that would run first")
    minutes_ahead: Finite = Field(description="that these are expected to take")
    detects: Finite | None = Field(
        description="the expected smallest detectable change, as a share; null where unknown"
    )
    mixed_pools: tuple[str, ...] = Field(
        (), description="pools whose nodes are not comparable, so that each host kind has fewer numbers"
    )


class SpecFault(Frozen):
    """A fault at a place of a file, with the remedy."""

    file: str = Field(description="empty in faults of earlier releases, whose text has the place")
    line: Count
    column: Count
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {self.text}" if self.file else self.text

    @model_validator(mode="before")
    @classmethod
    def _of_earlier_releases(cls, data: Any) -> Any:
        """Earlier releases stored text."""
        return {"file": "", "line": 1, "column": 1, "text": data} if isinstance(data, str) else data


class Check(Frozen):
    """The result for one spec of a commit: a run, a dry run, or the faults that prevented both."""

    path: SpecPath
    reason: Reason
    run_id: str | None = None
    faults: tuple[SpecFault, ...] = ()
    dry_run: DryRun | None = None


class HandledCommit(Frozen):
    """A commit that was processed; the newest of a branch says how far the branch was processed. It is `NO_COMMIT` if
    the branch did not exist. With a note, the branch had existed before."""

    commit: Commit
    handled_at: Moment
    checks: tuple[Check, ...] = ()
    note: str = Field("", description="why nothing is measured, where that isn't obvious")


GONE_REMEDY = "push it, or name the branch to watch instead in `branches` of repositories.yaml"
"""For a watched branch that existed before: nothing would be measured any more, and nobody would know."""


class Presence(StrEnum):
    """Of a watched branch at the last poll. `awaited`: it never existed."""

    PRESENT = "present"
    AWAITED = "awaited"
    GONE = "gone"


class BranchHead(Frozen):
    """How far a branch was processed."""

    commit: CommitHash = Field(description="the newest processed commit; zeros if there was none yet")
    presence: Presence = Presence.PRESENT
