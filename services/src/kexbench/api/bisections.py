"""Bisections that the service sees to: asked for, told, cancelled and resumed. And what the dispatcher and pods that
have git say of them."""

from collections.abc import Collection
from datetime import UTC, datetime
from http import HTTPStatus
from itertools import count
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Response

from kexbench.api.access import TheCaller, admit, caller_of
from kexbench.api.dependencies import HasQueue, TheQueueing, TheStore, queueing_of
from kexbench.api.gate import CountedRoute
from kexbench.api.problems import ProblemError
from kexbench.api.reading import Before
from kexbench.api.uploading import router as uploads
from kexbench.bisection.advancing import add_event, advance, give_up_line, keep_line
from kexbench.bisection.known import Known, known_of
from kexbench.bisection.models import (
    BisectionControl,
    BisectionDetail,
    BisectionPage,
    BisectionSummary,
    BisectionWanted,
    LineTrouble,
)
from kexbench.bisection.views import controls_of, detail_of, summary_of
from kexbench.domain.bisections import Bisection, BisectionEventKind, Line, WantedLine
from kexbench.domain.canonical import content_hash
from kexbench.domain.cases import Case
from kexbench.domain.plans import HARNESS_VERSION
from kexbench.domain.pools import LOCAL
from kexbench.domain.runs import RunState
from kexbench.planning.bisection import BisectionRun, usual_invocations
from kexbench.planning.compose import USUAL, chosen
from kexbench.planning.documents import DocumentError
from kexbench.planning.plan import read_matrices
from kexbench.queue.runs import ask_for_end, one_at_a_time, planned_wish, record, stirred
from kexbench.queue.supplies import LocalSupplies, Supplies
from kexbench.store.port import Store

router = APIRouter(tags=["bisections"], responses=uploads.responses)
_asking = APIRouter(route_class=CountedRoute, dependencies=[Depends(caller_of), Depends(queueing_of)])
"""Who isn't known is told so, and nothing else."""
_UNUSABLE = HTTPStatus.UNPROCESSABLE_ENTITY


@router.get("/bisections", operation_id="bisections")
def bisections(
    store: TheStore, limit: Annotated[int, Query(ge=1, le=100)] = 20, before: Before = None
) -> BisectionPage:
    """Bisections, newest first."""
    found = store.bisections(limit, before)
    return BisectionPage(
        bisections=[summary_of(store, known_of(store, one)) for one in found],
        next_before=found[-1].asked_at if len(found) >= limit else None,
    )


@router.get("/bisections/{bisection_id}", operation_id="bisection")
def bisection(store: TheStore, has_queue: HasQueue, bisection_id: str) -> BisectionDetail:
    """One bisection: its commits, what is known of each, its runs, and the answer once there is one."""
    return detail_of(store, _known(store, bisection_id), has_queue=has_queue)


@_asking.post("/bisections", operation_id="begin_bisection", status_code=201)
def begin_bisection(
    store: TheStore, supplies: TheQueueing, caller: TheCaller, wanted: BisectionWanted, response: Response
) -> BisectionSummary:
    """Search for the commit that changed what handshakes cost. The same question is the same bisection: asking again
    begins no other unless `anew` says so; more builds than before go on from what is known."""
    admit(caller, "submitter")
    asked = _asked(supplies, wanted, caller.name)
    with one_at_a_time:
        known = _begun(store, asked, wanted)
        summary = summary_of(store, known)
    response.headers["Location"] = f"/api/v1/bisections/{known.bisection.bisection_id}"
    return summary


@_asking.post("/bisections/{bisection_id}/cancel", operation_id="cancel_bisection", status_code=202)
def cancel_bisection(store: TheStore, supplies: TheQueueing, caller: TheCaller, bisection_id: str) -> BisectionSummary:
    """Ask for nothing more, and for the end of the run under way. What is measured by then is kept."""
    admit(caller, "submitter")
    with one_at_a_time:
        known = _allowed(store, bisection_id, "cancel")
        add_event(store, known, BisectionEventKind.CANCELLED, f"cancelled by {caller.name}")
        if known.last_run and known.last_run.progress.event.state.is_open:
            ask_for_end(store, supplies, known.last_run.progress.event, caller.name)
        return summary_of(store, _known(store, bisection_id))


@_asking.post("/bisections/{bisection_id}/resume", operation_id="resume_bisection", status_code=202)
def resume_bisection(store: TheStore, caller: TheCaller, bisection_id: str) -> BisectionSummary:
    """Go on from what is known: with the run that failed or was cancelled, or with the search for the commits."""
    admit(caller, "submitter")
    with one_at_a_time:
        known = _allowed(store, bisection_id, "resume")
        add_event(store, known, BisectionEventKind.RESUMED, f"resumed by {caller.name}")
        if known.last_run and known.last_run.waits:
            record(store, known.last_run.run.run_id, RunState.QUEUED, f"resumed by {caller.name}")
        return summary_of(store, _known(store, bisection_id))


@_asking.post("/bisections/advance", operation_id="advance_bisections")
def advance_bisections(store: TheStore, supplies: TheQueueing, caller: TheCaller) -> list[WantedLine]:
    """Queue the next run of every bisection that wants one; tells of which ones the commits are to be found first."""
    admit(caller, "dispatcher")
    return advance(store, supplies)


@_asking.put("/bisections/{bisection_id}/line", operation_id="put_line", status_code=204)
def put_line(store: TheStore, caller: TheCaller, bisection_id: str, line: Line) -> None:
    """Tell the commits that a bisection searches, oldest first. The first ones that are told stay."""
    admit(caller, "builder", run_id=bisection_id)
    _known(store, bisection_id)
    if line.bisection_id != bisection_id:
        raise ProblemError(_UNUSABLE, f"the line is of bisection {line.bisection_id}, not {bisection_id}")
    keep_line(store, line)


@_asking.post("/bisections/{bisection_id}/line-trouble", operation_id="line_trouble", status_code=204)
def line_trouble(store: TheStore, caller: TheCaller, bisection_id: str, trouble: LineTrouble) -> None:
    """Tell why the commits of a bisection were not found: it waits then until somebody resumes it."""
    admit(caller, "dispatcher")
    give_up_line(store, _known(store, bisection_id).bisection, trouble.series, trouble.reason)


def _asked(supplies: Supplies | LocalSupplies, wanted: BisectionWanted, who: str) -> Bisection:
    """The question as it is kept, its id that of its first asking. Raises a 422 problem with what is wrong."""
    cases = _cases(wanted)
    invocations = wanted.invocations or usual_invocations(cases)
    pool = _pool(supplies, wanted.pool)
    asked = Bisection(
        bisection_id="",
        asked_at=datetime.now(UTC),
        asked_by=who,
        library=wanted.library,
        address=wanted.repository,
        good=wanted.good,
        bad=wanted.bad,
        cases=cases,
        pool=pool,
        invocations=invocations,
    )
    try:
        ends = asked.ref(wanted.good), asked.ref(wanted.bad)
    except ValueError as error:
        raise ProblemError(_UNUSABLE, str(error)) from None
    for end, name in zip(ends, (wanted.good, wanted.bad), strict=True):
        if end.origin != end.source:
            raise ProblemError(_UNUSABLE, f"{name!r} is not a branch, tag or hash")
    if isinstance(supplies, Supplies):
        _is_known(wanted, supplies.repositories(wanted.library))
    if wanted.good == wanted.bad:
        raise ProblemError(_UNUSABLE, f"{wanted.good} is given as both ends", "name two commits")
    ends_alone = BisectionRun(ends, None, cases, invocations, pool=pool)
    planned_wish(supplies, ends_alone.wish, ends_alone.catalogue_text)  # so that nobody waits for a fault of it
    return asked


def _is_known(wanted: BisectionWanted, repositories: Collection[str]) -> None:
    """On a cluster others than who asks own the machines. Raises a 422 problem."""
    if wanted.repository not in repositories:
        named = f"has {', '.join(repositories)}" if repositories else "names none"
        detail = (
            f"'{wanted.repository}' is not among the catalogue's repositories of {wanted.library}, of which it {named}"
        )
        raise ProblemError(_UNUSABLE, detail, "have it added there: what is in a repository is run when it is built")


def _cases(wanted: BisectionWanted) -> tuple[Case, ...]:
    try:
        matrices = list(USUAL) if wanted.spec_text is None else read_matrices(wanted.spec_text, "spec.yaml")
    except DocumentError as error:
        raise ProblemError(_UNUSABLE, str(error), "correct the spec") from None
    found = chosen(matrices, wanted.cases)
    if not found:
        known = ", ".join(case.case_id for case in chosen(matrices, ())[:6])
        detail = f"no case is called {' or '.join(wanted.cases)}; there are {known} and others"
        raise ProblemError(_UNUSABLE, detail)
    return found


def _pool(supplies: Supplies | LocalSupplies, named: str | None) -> str:
    pools = sorted(supplies.architectures()) if isinstance(supplies, Supplies) else [LOCAL]
    if named is None and len(pools) == 1:
        return pools[0]
    if named not in pools:
        wrong = "a pool is not named" if named is None else f"there is no pool {named}"
        raise ProblemError(_UNUSABLE, f"{wrong}; there are {', '.join(pools)}", "name one of them")
    return named


def _begun(store: Store, asked: Bisection, wanted: BisectionWanted) -> Known:
    """The newest bisection of the question, begun where there is none, or where it is to be a new one."""
    question = [HARNESS_VERSION, asked.library, asked.address, asked.good, asked.bad, asked.pool, asked.invocations]
    case_ids = [case.case_id for case in asked.cases]
    newest: Known | None = None
    ids = (content_hash([*question, case_ids, number], length=20) for number in count())
    bisection_id = next(ids)
    while found := store.bisection(bisection_id):
        newest, bisection_id = known_of(store, found), next(ids)
    if newest is None or (wanted.anew and newest.has_ended):
        begun = asked.model_copy(update={"bisection_id": bisection_id})
        # As with runs: ended in between, an event of nothing is seen by nobody.
        add_event(store, Known(begun, [], []), BisectionEventKind.ASKED, builds=wanted.builds)
        store.add_bisection(begun)
        stirred.set()
        return known_of(store, begun)
    if wanted.builds and newest.wants_more(wanted.builds):
        add_event(store, newest, BisectionEventKind.ASKED, builds=wanted.builds)
    return known_of(store, newest.bisection)


def _allowed(store: Store, bisection_id: str, control: BisectionControl) -> Known:
    """Raises a 409 problem where a bisection is not as this asks for."""
    known = _known(store, bisection_id)
    state = summary_of(store, known).state
    if control not in controls_of(known, state):
        detail = f"bisection {bisection_id} is {state}: there is nothing to {control}"
        if (control, state) == ("resume", "cancelled"):
            detail = f"the run under way of bisection {bisection_id} is being cancelled still"
        raise ProblemError(HTTPStatus.CONFLICT, detail)
    return known


def _known(store: Store, bisection_id: str) -> Known:
    """Raises a 404 problem."""
    found = store.bisection(bisection_id)
    if found is None:
        detail = f"there is no bisection {bisection_id}"
        raise ProblemError(HTTPStatus.NOT_FOUND, detail, "GET /api/v1/bisections lists them")
    return known_of(store, found)


router.include_router(_asking)
