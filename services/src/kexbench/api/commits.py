"""Commits of watched repositories: their runs, each begun once, and what became of their specs."""

from collections.abc import Collection
from datetime import datetime
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Path, Query

from kexbench.api.access import TheCaller, admit
from kexbench.api.commit_models import CommitPage, CommittedSpec, CommitView
from kexbench.api.dependencies import TheQueueing, TheStore
from kexbench.api.faults import CountedRoute
from kexbench.api.problems import ProblemError
from kexbench.api.reading import Before
from kexbench.api.uploading import router as uploads
from kexbench.domain.canonical import content_hash
from kexbench.domain.commits import Check, Commit, HandledCommit, Reason, SpecFault
from kexbench.domain.plans import Plan
from kexbench.domain.refusals import Refusal
from kexbench.domain.runs import Trigger
from kexbench.planning.commits import faults_of
from kexbench.planning.documents import DocumentError
from kexbench.queue.runs import one_architecture, one_at_a_time, queue_run
from kexbench.queue.supplies import LocalSupplies, Supplies
from kexbench.store.port import Store

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
def repository_heads(store: TheStore, caller: TheCaller, name: Name) -> dict[str, str]:
    """How far each branch was looked through: its newest handled commit."""
    admit(caller, "dispatcher")
    return store.heads(name)


@router.post("/repositories/{name}/runs", operation_id="run_committed")
def run_committed(store: TheStore, supplies: TheQueueing, caller: TheCaller, name: Name, asked: CommittedSpec) -> Check:
    """Queue the run of a commit's spec. Asking again, or for the same spec of the same commit on another branch, names
    the same run; a spec with faults has no run, and all its faults are told with their places."""
    admit(caller, "dispatcher")
    _same(name, asked.commit.repository)
    return begin_committed(store, supplies, asked)


def begin_committed(store: Store, supplies: Supplies | LocalSupplies, asked: CommittedSpec) -> Check:
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
def handled_commit(store: TheStore, caller: TheCaller, name: Name, handled: HandledCommit) -> None:
    """Note that a commit needs no more looking at. Repeating it changes nothing."""
    admit(caller, "dispatcher")
    _same(name, handled.commit.repository)
    store.add_commit(handled)


def planned_or_faults(
    supplies: Supplies | LocalSupplies, text: str, path: str, catalogue: str | None, subjects: Collection[str]
) -> Plan | tuple[SpecFault, ...]:
    """The plan, or what is wrong with the spec."""
    try:
        plan = supplies.plan(text, path, catalogue, subjects)
        if isinstance(supplies, Supplies):
            one_architecture(supplies, plan)
    except DocumentError as error:
        return faults_of(error)
    except Refusal as error:
        return (fault_of(error, path),)
    return plan


def fault_of(refusal: Refusal, path: str) -> SpecFault:
    """What no cluster can do of a spec."""
    text = f"{refusal.detail}; {refusal.remedy}" if refusal.remedy else refusal.detail
    return SpecFault(file=path, line=1, column=1, text=text)


def _same(name: str, repository: str) -> None:
    if repository != name:
        detail = f"the commit is of repository {repository}, not {name}"
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, detail)
