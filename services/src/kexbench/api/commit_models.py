"""The shapes of requests and answers about commits."""

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
    """A commit's spec to measure."""

    commit: Commit
    path: SpecPath
    reason: Reason
    spec_text: str = Field(max_length=SPEC_MAX_CHARACTERS)
    catalogue_text: str | None = Field(max_length=SPEC_MAX_CHARACTERS, description="null: the service's own")
    subjects: Annotated[list[str], Field(max_length=10_000)] = Field([], description="references; empty: all")


class CheckView(Frozen):
    """A checked spec of a commit, and the progress of its run."""

    path: SpecPath
    reason: Reason
    run_id: str | None
    faults: list[SpecFault] = Field(description="why there is no run")
    dry_run: DryRun | None = Field(description="the dry run, if the spec is only planned")
    state: RunState | None = Field(description="of the run; null if there is none")
    detail: str = Field(description="of the state")
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
    """A commit with checked specs, or with a note."""

    commit: Commit
    handled_at: datetime
    checks: list[CheckView]
    note: str = Field(description="why the commit is not measured, if that is not obvious")

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
    repositories: list[str] = Field(description="all repositories with such commits")
    next_before: datetime | None = Field(description="pass as `before` for the next page; null at the end")


class FollowedSpec(Frozen):
    """A commit of a library to measure, and the spec that follows its branch."""

    following: Following
    spec_commit: Commit = Field(description="the commit of the spec")
    commit: LibraryCommit
    base: CommitHash | None = Field(description="the commit to compare it with, if there is one")
    spec_text: str = Field(max_length=SPEC_MAX_CHARACTERS)
    catalogue_text: str | None = Field(max_length=SPEC_MAX_CHARACTERS, description="null: the service's own")


class FollowedView(Frozen):
    """The newest checked commit of a branch, and the state of the run that was requested last."""

    followed: FollowedCommit
    state: RunState | None = Field(description="of that run; null if none was requested")
    started: bool = Field(description="whether the run has its kits")
    detail: str
    unbuilt: list[str] = Field([], description="references of its kits whose sources do not build")


class Neighbours(Frozen):
    """Two neighbouring commits of a library for a backfill to compare."""

    spec_text: str = Field(min_length=1, max_length=SPEC_MAX_CHARACTERS, description="follows their repository")
    spec_file: str = Field("spec.yaml", max_length=400, description="its name in faults")
    commits: Annotated[list[CommitHash], Field(min_length=1, max_length=2, description="the older one first")]
    queue: bool = Field(True, description="false: return the state and the estimate, and queue nothing")


class NeighboursView(Frozen):
    """The run of two neighbours."""

    run_id: str
    state: RunState | None = Field(description="null if it was not queued")
    started: bool = Field(description="whether the run has its kits")
    detail: str
    unbuilt: list[str] = Field([], description="references of its kits whose sources do not build")
    estimated_s: float
