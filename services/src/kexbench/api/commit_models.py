"""What the watcher of repositories asks for, and what is told of their commits."""

from datetime import datetime
from typing import Annotated

from pydantic import Field

from kexbench.domain.commits import Check, Commit, CommitHash, DryRun, HandledCommit, Reason, SpecFault, SpecPath
from kexbench.domain.following import FollowedCommit, Following
from kexbench.domain.frozen import Frozen
from kexbench.domain.library_commits import LibraryCommit
from kexbench.domain.runs import RunState
from kexbench.planning.documents import SPEC_MAX_CHARACTERS
from kexbench.store.port import RunProgress


class CommittedSpec(Frozen):
    """A spec of a commit that shall be measured."""

    commit: Commit
    path: SpecPath
    reason: Reason
    spec_text: str = Field(max_length=SPEC_MAX_CHARACTERS)
    catalogue_text: str | None = Field(max_length=SPEC_MAX_CHARACTERS, description="of the commit; null is this one's")
    subjects: Annotated[list[str], Field(max_length=10_000)] = Field([], description="references; all where empty")


class CheckView(Frozen):
    """What became of one spec of a commit, and how far its run is by now."""

    path: SpecPath
    reason: Reason
    run_id: str | None
    faults: list[SpecFault] = Field(description="why there is no run")
    dry_run: DryRun | None = Field(description="what a run would be, where it is planned and not measured")
    state: RunState | None = Field(description="of the run; null where there is none")
    detail: str = Field(description="what is said of the state")
    invocations_stored: int

    @staticmethod
    def of(check: Check, progress: RunProgress | None) -> "CheckView":
        return CheckView(
            path=check.path,
            reason=check.reason,
            run_id=check.run_id,
            faults=list(check.faults),
            dry_run=check.dry_run,
            state=progress.event.state if progress else None,
            detail=progress.event.detail if progress else "",
            invocations_stored=progress.invocations_stored if progress else 0,
        )


class CommitView(Frozen):
    """A commit that says something of a spec."""

    commit: Commit
    handled_at: datetime
    checks: list[CheckView]
    note: str = Field(description="why nothing of it is measured, where that isn't plain")

    @staticmethod
    def of(handled: HandledCommit, progress: dict[str, RunProgress]) -> "CommitView":
        return CommitView(
            commit=handled.commit,
            handled_at=handled.handled_at,
            checks=[CheckView.of(check, progress.get(check.run_id or "")) for check in handled.checks],
            note=handled.note,
        )


class CommitPage(Frozen):
    commits: list[CommitView]
    repositories: list[str] = Field(description="all that have such commits")
    next_before: datetime | None = Field(description="pass as `before` for the next page; null at the end")


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
