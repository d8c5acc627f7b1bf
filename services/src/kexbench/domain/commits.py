"""Commits of watched repositories: what triggers runs, and what became of each of their specs."""

from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field, model_validator

from kexbench.domain.frozen import Frozen
from kexbench.domain.moments import Moment
from kexbench.domain.numbers import Count, Finite
from kexbench.domain.repositories import RepositoryName

NO_COMMIT = "0" * 40
"""What a branch leads to that isn't there yet, as git writes it."""
CommitHash = Annotated[str, Field(pattern=r"^([0-9a-f]{40}|[0-9a-f]{64})$")]
PATH_MAX = 400
SpecPath = Annotated[str, Field(min_length=1, max_length=PATH_MAX)]


_PULL_REQUEST = "pull request "


def branch_of(pull_request: int) -> str:
    """What stands for the branch of a pull request's head. No branch can be called so: git allows no spaces."""
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
    """Why a spec of a commit is measured: it changed, or the catalogue has a new version of what it tracks."""

    SPEC = "spec"
    LIBRARY = "library"


class DryRun(Frozen):
    """A spec planned and not measured: what its run would be, if it were queued now."""

    cases: Count
    jobs: Count
    minutes: dict[str, Finite] = Field(description="of machine time by pool, roughly")
    runs_ahead: Count = Field(description="in the queue, that it would wait for")
    minutes_ahead: Finite = Field(description="of measuring what is left of those, roughly")
    detects: Finite | None = Field(
        description="the smallest change that it is expected to find, as a share; null where that is not known"
    )
    mixed_pools: tuple[str, ...] = Field(
        (), description="its pools whose nodes are not comparable, so that each kind of host has fewer numbers"
    )


class SpecFault(Frozen):
    """What is wrong at a place of a file, with the remedy."""

    file: str = Field(description="empty of faults that earlier releases stored: their text names the place")
    line: Count
    column: Count
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {self.text}" if self.file else self.text

    @model_validator(mode="before")
    @classmethod
    def _of_earlier_releases(cls, data: Any) -> Any:
        """Theirs are stored as text."""
        return {"file": "", "line": 1, "column": 1, "text": data} if isinstance(data, str) else data


class Check(Frozen):
    """What became of one spec of a commit: a run, a dry run, or faults that say why there is neither."""

    path: SpecPath
    reason: Reason
    run_id: str | None = None
    faults: tuple[SpecFault, ...] = ()
    dry_run: DryRun | None = None


class HandledCommit(Frozen):
    """A commit that needs no more looking at; the newest of a branch is how far it was looked through."""

    commit: Commit
    handled_at: Moment
    checks: tuple[Check, ...] = ()
    note: str = Field("", description="why nothing of it is measured, where that isn't plain")
