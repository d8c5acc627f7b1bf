"""Commits of watched repositories: what triggers runs, and what became of each of their specs."""

from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from kexbench.domain.moments import Moment
from kexbench.domain.repositories import RepositoryName

NO_COMMIT = "0" * 40
"""What a branch leads to that isn't there yet, as git writes it."""
CommitHash = Annotated[str, Field(pattern=r"^([0-9a-f]{40}|[0-9a-f]{64})$")]
SpecPath = Annotated[str, Field(min_length=1, max_length=400)]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Commit(_Frozen):
    """A commit on a branch of a watched repository."""

    repository: RepositoryName
    branch: str = Field(min_length=1, max_length=255)
    commit: CommitHash
    title: str = Field(max_length=500, description="the first line of its message")
    author: str = Field(max_length=200)
    committed_at: Moment


class Reason(StrEnum):
    """Why a spec of a commit is measured: it changed, or the catalogue has a new version of what it tracks."""

    SPEC = "spec"
    LIBRARY = "library"


class Check(_Frozen):
    """What became of one spec of a commit: a run, or faults that say why there is none."""

    path: SpecPath
    reason: Reason
    run_id: str | None = None
    faults: tuple[str, ...] = Field((), description="each as FILE:LINE:COLUMN: what is wrong and the remedy")


class HandledCommit(_Frozen):
    """A commit that needs no more looking at; the newest of a branch is how far it was looked through."""

    commit: Commit
    handled_at: Moment
    checks: tuple[Check, ...] = ()
    note: str = Field("", description="why nothing of it is measured, where that isn't plain")
