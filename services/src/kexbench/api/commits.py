"""Commits of watched repositories, of followed branches of libraries, and of backfills. The runs of each commit are
queued once."""

from collections.abc import Collection
from datetime import datetime
from http import HTTPStatus
from typing import Annotated

from fastapi import Path, Query, Request

from kexbench.api.access import ADMITTED
from kexbench.api.audit import note_subject
from kexbench.api.caching import KeptRoute
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
from kexbench.api.gate import api_router
from kexbench.api.problems import ProblemError
from kexbench.api.reading import Before
from kexbench.api.uploading import router as uploads
from kexbench.domain.canonical import content_hash
from kexbench.domain.commits import BranchHead, Check, Commit, HandledCommit, Reason, SpecFault
from kexbench.domain.following import FollowedCommit, LibraryBranch
from kexbench.domain.plans import Plan
from kexbench.domain.refusals import Refusal
from kexbench.domain.runs import Run, Trigger
from kexbench.planning.commits import faults_of
from kexbench.planning.documents import DocumentError
from kexbench.planning.follow import follow_in
from kexbench.queue.runs import one_at_a_time, plan_of, queue_run
from kexbench.queue.supplies import LocalSupplies, Supplies
from kexbench.store.port import RunProgress, RunStore, Store

router = api_router(route_class=KeptRoute, tags=["commits"], responses=uploads.responses)
Name = Annotated[str, Path(max_length=63)]
_TRIGGERS = {Reason.SPEC: Trigger.COMMIT, Reason.LIBRARY: Trigger.LIBRARY}


@router.get("/commits", operation_id="commits")
def commits(
    store: TheStore,
    repository: Annotated[str, Query(max_length=63, description="only this repository")] = "",
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    before: Before = None,
) -> CommitPage:
    """The commits with runs, or with specs that failed. The last checked commits come first."""
    return newest_commits(store, repository, limit, before)


def newest_commits(store: Store, repository: str, limit: int, before: datetime | None = None) -> CommitPage:
    page = store.commits(repository, limit, before)
    progress = store.progress([check.run_id for handled in page for check in handled.checks if check.run_id])
    return CommitPage(
        commits=[CommitView.of(handled, progress) for handled in page],
        repositories=store.repositories(),
        next_before=page[-1].handled_at if len(page) >= limit else None,
    )


@router.get("/repositories/{name}/heads", operation_id="repository_heads", dependencies=ADMITTED)
def repository_heads(store: TheCommitStore, name: Name) -> dict[str, BranchHead]:
    """How far each branch was processed."""
    return store.heads(name)


@router.post("/repositories/{name}/runs", operation_id="run_committed", dependencies=ADMITTED)
def run_committed(store: TheRunStore, supplies: TheQueueing, name: Name, spec: CommittedSpec) -> Check:
    """Queue the run of a commit's spec. Repeating it, or the same commit on another branch, returns the same run. Specs
    with faults get no run; the answer lists all the faults with their places."""
    _check_repository(name, spec.commit.repository)
    return begin_committed(store, supplies, spec)


def begin_committed(store: RunStore, supplies: Supplies | LocalSupplies, spec: CommittedSpec) -> Check:
    """Queue one run for each repository, commit and path, however often this is called."""
    check = Check(path=spec.path, reason=spec.reason)
    run_id = committed_run(spec.commit, spec.path)
    with one_at_a_time:
        if store.run(run_id) is None:
            plan = planned_or_faults(supplies, spec.spec_text, spec.path, spec.catalogue_text, spec.subjects)
            if isinstance(plan, tuple):
                return check.model_copy(update={"faults": plan})
            trigger = _TRIGGERS[spec.reason] if spec.commit.pull_request is None else Trigger.PULL_REQUEST
            detail = f"{spec.path} of commit {spec.commit.commit[:12]}"
            queue_run(store, run_id, trigger, spec.spec_text, plan, detail, spec.commit, spec.path)
    return check.model_copy(update={"run_id": run_id})


def committed_run(commit: Commit, path: str) -> str:
    """The id of the run of a commit's spec, even before it is queued."""
    return f"once-{content_hash(['commit', commit.repository, commit.commit, path], length=20)}"


@router.post("/repositories/{name}/commits", operation_id="handled_commit", status_code=204, dependencies=ADMITTED)
def handled_commit(store: TheCommitStore, name: Name, handled: HandledCommit) -> None:
    """Record that a commit was handled. Repeating it changes nothing."""
    _check_repository(name, handled.commit.repository)
    store.add_commit(handled)


def planned_or_faults(
    supplies: Supplies | LocalSupplies, text: str, path: str, catalogue: str | None, subjects: Collection[str]
) -> Plan | tuple[SpecFault, ...]:
    """The plan, or the faults of the spec."""
    try:
        return plan_of(supplies, text, path, catalogue, subjects)
    except DocumentError as error:
        return faults_of(error)
    except Refusal as error:
        text = f"{error.detail}; {error.remedy}" if error.remedy else error.detail
        return (SpecFault(file=path, line=1, column=1, text=text),)


@router.get("/repositories/{name}/followed", operation_id="followed", dependencies=ADMITTED)
def followed(store: TheStore, name: Name) -> list[FollowedView]:
    """The newest checked commit of each branch that a spec of the repository follows."""
    return followed_views(store, name)


def followed_views(store: Store, repository: str) -> list[FollowedView]:
    commits = store.followed(repository)
    progress = store.progress([followed.asked.run_id for followed in commits if followed.asked])
    views = []
    for followed in commits:
        run = store.run(followed.asked.run_id) if followed.asked else None
        event = progress[followed.asked.run_id].event if followed.asked and followed.asked.run_id in progress else None
        views.append(
            FollowedView(
                followed=followed,
                state=event.state if event else None,
                started=run is not None and run.is_started,
                detail=event.detail if event else "",
                unbuilt=list(event.unbuilt) if event else [],
            )
        )
    return views


@router.post("/repositories/{name}/followed-runs", operation_id="run_followed", dependencies=ADMITTED)
def run_followed(store: TheRunStore, supplies: TheQueueing, name: Name, spec: FollowedSpec) -> Check:
    """Queue the run of a library's commit for the spec that follows it. Repeating it returns the same run. A spec with
    faults gets no run; the answer lists all its faults with their places."""
    _check_repository(name, spec.following.repository)
    return begin_followed(store, supplies, spec)


def begin_followed(store: RunStore, supplies: Supplies | LocalSupplies, spec: FollowedSpec) -> Check:
    """Queue one run for each repository, path and commit of the library, however often this is called."""
    following = spec.following
    check = Check(path=following.path, reason=Reason.LIBRARY)
    run_id = f"once-{content_hash(['follow', following.repository, following.path, spec.commit.hash], length=20)}"
    with one_at_a_time:
        if store.run(run_id) is None:
            references = [following.branch.reference(commit) for commit in (spec.base, spec.commit.hash) if commit]
            plan = planned_or_faults(supplies, spec.spec_text, following.path, spec.catalogue_text, references)
            if isinstance(plan, tuple):
                return check.model_copy(update={"faults": plan})
            branch = following.branch
            detail = f"{branch.library} {branch.branch}, commit {spec.commit.hash[:12]}: {spec.commit.subject}"
            queue_run(store, run_id, Trigger.LIBRARY, spec.spec_text, plan, detail, spec.spec_commit, following.path)
    return check.model_copy(update={"run_id": run_id})


@router.post("/repositories/{name}/followed", operation_id="note_followed", status_code=204, dependencies=ADMITTED)
def note_followed(store: TheCommitStore, name: Name, commit: FollowedCommit) -> None:
    """Record the newest checked commit of a branch. Repeating it changes nothing."""
    _check_repository(name, commit.following.repository)
    store.add_followed(commit)


@router.post("/backfills", operation_id="backfill", dependencies=ADMITTED)
def backfill(store: TheRunStore, supplies: TheQueueing, pair: Neighbours, http: Request) -> NeighboursView:
    """Queue the run of two neighbouring commits of a backfill, once, or report its state. On a cluster the catalogue
    has to list the repository; on one machine any is allowed, since callers may build anything there."""
    branch, plan = _planned_pair(supplies, pair)
    run_id = f"once-{content_hash(['backfill', plan.plan_id], length=20)}"
    note_subject(http, run_id)
    with one_at_a_time:
        run = store.run(run_id)
        if run is None and pair.queue:
            detail = f"backfill of {branch.library} {branch.branch}, commit {pair.commits[-1][:12]}"
            run = queue_run(store, run_id, Trigger.BACKFILL, pair.spec_text, plan, detail)
    return _pair_view(run_id, plan, run, store.progress([run_id]).get(run_id))


def _planned_pair(supplies: Supplies | LocalSupplies, pair: Neighbours) -> tuple[LibraryBranch, Plan]:
    """Raises a 422 problem."""
    here = isinstance(supplies, LocalSupplies)
    try:
        branch = follow_in(pair.spec_text, pair.spec_file)
        references = [branch.reference(commit) for commit in pair.commits]
        return branch, plan_of(supplies, pair.spec_text, pair.spec_file, None, references, anywhere=here)
    except DocumentError as error:
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, str(error), "correct the spec") from None


def _pair_view(run_id: str, plan: Plan, run: Run | None, progress: RunProgress | None) -> NeighboursView:
    event = progress.event if run and progress else None
    return NeighboursView(
        run_id=run_id,
        state=event.state if event else None,
        started=run is not None and run.is_started,
        detail=event.detail if event else "",
        unbuilt=list(event.unbuilt) if event else [],
        estimated_s=plan.estimated_s,
    )


def _check_repository(name: str, repository: str) -> None:
    if repository != name:
        detail = f"the body is of repository {repository}, not {name}"
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, detail)
