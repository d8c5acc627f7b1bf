"""What the watcher of repositories asks for, and what is told of their commits."""

from datetime import datetime
from typing import Annotated

from pydantic import Field

from kexbench.api.control_models import SPEC_MAX_CHARACTERS
from kexbench.domain.commits import Check, Commit, DryRun, HandledCommit, Reason, SpecFault, SpecPath
from kexbench.domain.frozen import Frozen
from kexbench.domain.runs import RunState
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
