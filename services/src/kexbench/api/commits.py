"""Commits: of watched repositories, of libraries whose branches specs follow, and of backfills. Each has its runs begun
once."""

from collections.abc import Collection
from datetime import datetime
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Path, Query

from kexbench.api.access import TheCaller, admit
from kexbench.api.commit_models import (
    CommitPage,
    CommittedSpec,
    CommitView,
    FollowedSpec,
    FollowedView,
    Neighbours,
    NeighboursView,
)
from kexbench.api.dependencies import TheCommitStore, TheQueueing, TheRunStore, TheStore
from kexbench.api.gate import CountedRoute
from kexbench.api.problems import ProblemError
from kexbench.api.reading import Before
from kexbench.api.uploading import router as uploads
from kexbench.domain.canonical import content_hash
from kexbench.domain.commits import Check, Commit, HandledCommit, Reason, SpecFault
from kexbench.domain.following import FollowedCommit
from kexbench.domain.plans import Plan
from kexbench.domain.refusals import Refusal
from kexbench.domain.runs import Trigger
from kexbench.planning.commits import faults_of
from kexbench.planning.documents import DocumentError
from kexbench.planning.follow import follow_in
from kexbench.queue.runs import one_at_a_time, plan_of, queue_run
from kexbench.queue.supplies import LocalSupplies, Supplies
from kexbench.store.port import RunStore, Store

router = APIRouter(route_class=CountedRoute, tags=["commits"], responses=uploads.responses)
Name = Annotated[str, Path(max_length=63)]
_TRIGGERS = {Reason.SPEC: Trigger.COMMIT, Reason.LIBRARY: Trigger.LIBRARY}


@router.get("/commits", operation_id="commits")
def commits(
    store: TheStore,
    repository: Annotated[str, Query(max_length=63, description="only this one's")] = "",
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    before: Before = None,
) -> CommitPage:
    """The commits that had something measured, or should have had; those that were looked at last first."""
    return newest_commits(store, repository, limit, before)


def newest_commits(store: Store, repository: str, limit: int, before: datetime | None = None) -> CommitPage:
    found = store.commits(repository, limit, before)
    progress = store.progress([check.run_id for handled in found for check in handled.checks if check.run_id])
    return CommitPage(
        commits=[CommitView.of(handled, progress) for handled in found],
        repositories=store.repositories(),
        next_before=found[-1].handled_at if len(found) >= limit else None,
    )


@router.get("/repositories/{name}/heads", operation_id="repository_heads")
def repository_heads(store: TheCommitStore, caller: TheCaller, name: Name) -> dict[str, str]:
    """How far each branch was looked through: its newest handled commit."""
    admit(caller, "dispatcher")
    return store.heads(name)


@router.post("/repositories/{name}/runs", operation_id="run_committed")
def run_committed(
    store: TheRunStore, supplies: TheQueueing, caller: TheCaller, name: Name, asked: CommittedSpec
) -> Check:
    """Queue the run of a commit's spec. Asking again, or for the same spec of the same commit on another branch, names
    the same run; a spec with faults has no run, and all its faults are told with their places."""
    admit(caller, "dispatcher")
    _same(name, asked.commit.repository)
    return begin_committed(store, supplies, asked)


def begin_committed(store: RunStore, supplies: Supplies | LocalSupplies, asked: CommittedSpec) -> Check:
    """Once for each repository, commit and path, however often it is asked for."""
    check = Check(path=asked.path, reason=asked.reason)
    run_id = committed_run(asked.commit, asked.path)
    with one_at_a_time:
        if store.run(run_id) is None:
            plan = planned_or_faults(supplies, asked.spec_text, asked.path, asked.catalogue_text, asked.subjects)
            if isinstance(plan, tuple):
                return check.model_copy(update={"faults": plan})
            trigger = _TRIGGERS[asked.reason] if asked.commit.pull_request is None else Trigger.PULL_REQUEST
            detail = f"{asked.path} of commit {asked.commit.commit[:12]}"
            queue_run(store, run_id, trigger, asked.spec_text, plan, detail, asked.commit, asked.path)
    return check.model_copy(update={"run_id": run_id})


def committed_run(commit: Commit, path: str) -> str:
    """The id of the run of a commit's spec, whether there is one yet or not."""
    return f"once-{content_hash(['commit', commit.repository, commit.commit, path], length=20)}"


@router.post("/repositories/{name}/commits", operation_id="handled_commit", status_code=204)
def handled_commit(store: TheCommitStore, caller: TheCaller, name: Name, handled: HandledCommit) -> None:
    """Note that a commit needs no more looking at. Repeating it changes nothing."""
    admit(caller, "dispatcher")
    _same(name, handled.commit.repository)
    store.add_commit(handled)


def planned_or_faults(
    supplies: Supplies | LocalSupplies, text: str, path: str, catalogue: str | None, subjects: Collection[str]
) -> Plan | tuple[SpecFault, ...]:
    """The plan, or what is wrong with the spec."""
    try:
        return plan_of(supplies, text, path, catalogue, subjects)
    except DocumentError as error:
        return faults_of(error)
    except Refusal as error:
        text = f"{error.detail}; {error.remedy}" if error.remedy else error.detail
        return (SpecFault(file=path, line=1, column=1, text=text),)


@router.get("/repositories/{name}/followed", operation_id="followed")
def followed(store: TheStore, caller: TheCaller, name: Name) -> list[FollowedView]:
    """How far each branch was looked through that a spec of a repository follows."""
    admit(caller, "dispatcher")
    return followed_views(store, name)


def followed_views(store: Store, repository: str) -> list[FollowedView]:
    found = store.followed(repository)
    progress = store.progress([one.asked.run_id for one in found if one.asked])
    views = []
    for one in found:
        run = store.run(one.asked.run_id) if one.asked else None
        event = progress[one.asked.run_id].event if one.asked and one.asked.run_id in progress else None
        views.append(
            FollowedView(
                followed=one,
                state=event.state if event else None,
                started=run is not None and run.is_started,
                detail=event.detail if event else "",
                unbuilt=list(event.unbuilt) if event else [],
            )
        )
    return views


@router.post("/repositories/{name}/followed-runs", operation_id="run_followed")
def run_followed(
    store: TheRunStore, supplies: TheQueueing, caller: TheCaller, name: Name, asked: FollowedSpec
) -> Check:
    """Queue the run of a commit of a library that a spec follows. Asking again names the same run; a spec with faults
    has no run, and all its faults are told with their places."""
    admit(caller, "dispatcher")
    _same(name, asked.following.repository)
    return begin_followed(store, supplies, asked)


def begin_followed(store: RunStore, supplies: Supplies | LocalSupplies, asked: FollowedSpec) -> Check:
    """Once for each repository, path and commit of the library, however often it is asked for."""
    following = asked.following
    check = Check(path=following.path, reason=Reason.LIBRARY)
    run_id = f"once-{content_hash(['follow', following.repository, following.path, asked.commit.hash], length=20)}"
    with one_at_a_time:
        if store.run(run_id) is None:
            references = [following.branch.reference(each) for each in (asked.base, asked.commit.hash) if each]
            plan = planned_or_faults(supplies, asked.spec_text, following.path, asked.catalogue_text, references)
            if isinstance(plan, tuple):
                return check.model_copy(update={"faults": plan})
            branch = following.branch
            detail = f"{branch.library} {branch.branch}, commit {asked.commit.hash[:12]}: {asked.commit.subject}"
            queue_run(store, run_id, Trigger.LIBRARY, asked.spec_text, plan, detail, asked.spec_commit, following.path)
    return check.model_copy(update={"run_id": run_id})


@router.post("/repositories/{name}/followed", operation_id="note_followed", status_code=204)
def note_followed(store: TheCommitStore, caller: TheCaller, name: Name, noted: FollowedCommit) -> None:
    """Note how far a branch was looked through. Repeating it changes nothing."""
    admit(caller, "dispatcher")
    _same(name, noted.following.repository)
    store.add_followed(noted)


@router.post("/backfills", operation_id="backfill")
def backfill(store: TheRunStore, supplies: TheQueueing, caller: TheCaller, asked: Neighbours) -> NeighboursView:
    """Queue the run of two commits that are neighbours in a backfill, once, or tell what became of it. On a cluster the
    repository is one that its catalogue names; on one machine any, since who asks may build anything there."""
    admit(caller, "submitter")
    here = isinstance(supplies, LocalSupplies)
    try:
        branch = follow_in(asked.spec_text, asked.spec_file)
        references = [branch.reference(commit) for commit in asked.commits]
        plan = plan_of(supplies, asked.spec_text, asked.spec_file, None, references, anywhere=here)
    except DocumentError as error:
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, str(error), "correct the spec") from None
    run_id = f"once-{content_hash(['backfill', plan.plan_id], length=20)}"
    with one_at_a_time:
        run = store.run(run_id)
        if run is None and asked.queue:
            newer = asked.commits[-1][:12]
            detail = f"backfill of {branch.library} {branch.branch}, commit {newer}"
            run = queue_run(store, run_id, Trigger.BACKFILL, asked.spec_text, plan, detail)
    progress = store.progress([run_id]).get(run_id)
    return NeighboursView(
        run_id=run_id,
        state=progress.event.state if run and progress else None,
        started=run is not None and run.is_started,
        detail=progress.event.detail if run and progress else "",
        unbuilt=list(progress.event.unbuilt) if run and progress else [],
        estimated_s=plan.estimated_s,
    )


def _same(name: str, repository: str) -> None:
    if repository != name:
        detail = f"it is of repository {repository}, not {name}"
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, detail)
