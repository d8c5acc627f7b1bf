"""What is asked for of branches that specs follow and of backfills, and what is told of them."""

from typing import Annotated

from pydantic import Field

from kexbench.api.control_models import SPEC_MAX_CHARACTERS
from kexbench.domain.commits import Commit, CommitHash
from kexbench.domain.following import FollowedCommit, Following
from kexbench.domain.frozen import Frozen
from kexbench.domain.library_commits import LibraryCommit
from kexbench.domain.runs import RunState


class FollowedSpec(Frozen):
    """A commit of a library that shall be measured by the spec that follows its branch."""

    following: Following
    spec_commit: Commit = Field(description="that the spec is of")
    commit: LibraryCommit
    base: CommitHash | None = Field(description="the commit beside which it is measured, if there is one")
    spec_text: str = Field(max_length=SPEC_MAX_CHARACTERS)
    catalogue_text: str | None = Field(max_length=SPEC_MAX_CHARACTERS, description="of the commit; null is this one's")


class FollowedView(Frozen):
    """How far a branch was looked through, and what became of the run that was asked for last."""

    followed: FollowedCommit
    state: RunState | None = Field(description="of that run; null where none was asked for")
    started: bool = Field(description="whether it had its kits")
    detail: str
    unbuilt: list[str] = Field([], description="references of its kits whose sources do not build")


class Neighbours(Frozen):
    """Two commits of a library that a backfill wants measured side by side."""

    spec_text: str = Field(min_length=1, max_length=SPEC_MAX_CHARACTERS, description="that follows their repository")
    spec_file: str = Field("spec.yaml", max_length=400, description="as faults name it")
    commits: Annotated[list[CommitHash], Field(min_length=1, max_length=2, description="the older one first")]
    queue: bool = Field(True, description="false: tell what there is of it and what it takes, and queue nothing")


class NeighboursView(Frozen):
    """The run of two neighbours."""

    run_id: str
    state: RunState | None = Field(description="null where it was not queued")
    started: bool = Field(description="whether it had its kits")
    detail: str
    unbuilt: list[str] = Field([], description="references of its kits whose sources do not build")
    estimated_s: float
