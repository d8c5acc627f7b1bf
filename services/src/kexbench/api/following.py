"""Commits of libraries: of branches that specs follow, and of backfills. Each run is begun once."""

from http import HTTPStatus

from fastapi import APIRouter

from kexbench.api.access import TheCaller, admit
from kexbench.api.commits import Name, fault_of
from kexbench.api.dependencies import TheQueueing, TheStore
from kexbench.api.faults import CountedRoute
from kexbench.api.following_models import FollowedSpec, FollowedView, Neighbours, NeighboursView
from kexbench.api.problems import ProblemError
from kexbench.api.uploading import router as uploads
from kexbench.domain.canonical import content_hash
from kexbench.domain.commits import Check, Reason
from kexbench.domain.following import FollowedCommit
from kexbench.domain.plans import Plan
from kexbench.domain.refusals import Refusal
from kexbench.domain.runs import Trigger
from kexbench.planning.commits import faults_of
from kexbench.planning.documents import DocumentError
from kexbench.planning.follow import follow_in
from kexbench.queue.runs import one_architecture, one_at_a_time, queue_run
from kexbench.queue.supplies import LocalSupplies, Supplies
from kexbench.store.port import Store

router = APIRouter(route_class=CountedRoute, tags=["following"], responses=uploads.responses)


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
def run_followed(store: TheStore, supplies: TheQueueing, caller: TheCaller, name: Name, asked: FollowedSpec) -> Check:
    """Queue the run of a commit of a library that a spec follows. Asking again names the same run; a spec with faults
    has no run, and all its faults are told with their places."""
    admit(caller, "dispatcher")
    _same(name, asked.following.repository)
    return begin_followed(store, supplies, asked)


def begin_followed(store: Store, supplies: Supplies | LocalSupplies, asked: FollowedSpec) -> Check:
    """Once for each repository, path and commit of the library, however often it is asked for."""
    following = asked.following
    check = Check(path=following.path, reason=Reason.LIBRARY)
    run_id = f"once-{content_hash(['follow', following.repository, following.path, asked.commit.hash], length=20)}"
    with one_at_a_time:
        if store.run(run_id) is None:
            references = [following.branch.reference(each) for each in (asked.base, asked.commit.hash) if each]
            try:
                plan = _planned(supplies, asked.spec_text, following.path, asked.catalogue_text, references)
            except DocumentError as error:
                return check.model_copy(update={"faults": faults_of(error)})
            except Refusal as error:
                return check.model_copy(update={"faults": (fault_of(error, following.path),)})
            branch = following.branch
            detail = f"{branch.library} {branch.branch}, commit {asked.commit.hash[:12]}: {asked.commit.subject}"
            queue_run(store, run_id, Trigger.LIBRARY, asked.spec_text, plan, detail, asked.spec_commit, following.path)
    return check.model_copy(update={"run_id": run_id})


@router.post("/repositories/{name}/followed", operation_id="note_followed", status_code=204)
def note_followed(store: TheStore, caller: TheCaller, name: Name, noted: FollowedCommit) -> None:
    """Note how far a branch was looked through. Repeating it changes nothing."""
    admit(caller, "dispatcher")
    _same(name, noted.following.repository)
    store.add_followed(noted)


@router.post("/backfills", operation_id="backfill")
def backfill(store: TheStore, supplies: TheQueueing, caller: TheCaller, asked: Neighbours) -> NeighboursView:
    """Queue the run of two commits that are neighbours in a backfill, once, or tell what became of it. On a cluster the
    repository is one that its catalogue names; on one machine any, since who asks may build anything there."""
    admit(caller, "submitter")
    here = isinstance(supplies, LocalSupplies)
    try:
        branch = follow_in(asked.spec_text, asked.spec_file)
        references = [branch.reference(commit) for commit in asked.commits]
        plan = _planned(supplies, asked.spec_text, asked.spec_file, None, references, anywhere=here)
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


def _planned(
    supplies: Supplies | LocalSupplies,
    text: str,
    file: str,
    catalogue: str | None,
    references: list[str],
    *,
    anywhere: bool = False,
) -> Plan:
    """Raises DocumentError for what is wrong with a spec, and a problem for what no cluster can do."""
    plan = supplies.plan(text, file, catalogue, references, anywhere=anywhere)
    if isinstance(supplies, Supplies):
        one_architecture(supplies, plan)
    return plan


def _same(name: str, repository: str) -> None:
    if repository != name:
        detail = f"the spec is of repository {repository}, not {name}"
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, detail)
