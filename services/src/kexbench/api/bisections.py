"""Bisections: started, shown, cancelled and resumed. The dispatcher and pods with git report the commits and faults of
bisections."""

from collections.abc import Collection
from datetime import UTC, datetime
from http import HTTPStatus
from itertools import count
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Response

from kexbench.api.access import TheCaller, caller_of, check_bounds
from kexbench.api.caching import KeptRoute
from kexbench.api.dependencies import HasQueue, TheQueueing, TheStore, queueing_of
from kexbench.api.gate import CountedRoute, api_router
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
from kexbench.domain.instruments import Instrument
from kexbench.domain.plans import HARNESS_VERSION
from kexbench.domain.pools import LOCAL
from kexbench.domain.runs import RunState
from kexbench.planning.bisection import BisectionRun, usual_invocations
from kexbench.planning.compose import USUAL, chosen, usual_cases
from kexbench.planning.documents import DocumentError
from kexbench.planning.plan import read_matrices
from kexbench.queue.cancelling import ask_for_end
from kexbench.queue.runs import one_at_a_time, planned_wish, record, stirred
from kexbench.queue.supplies import LocalSupplies, Supplies
from kexbench.store.port import Store

router = api_router(route_class=KeptRoute, tags=["bisections"], responses=uploads.responses)
_writing = APIRouter(route_class=CountedRoute, dependencies=[Depends(caller_of), Depends(queueing_of)])
"""Unknown callers are refused before anything else."""
_UNUSABLE = HTTPStatus.UNPROCESSABLE_ENTITY


@router.get("/bisections", operation_id="bisections")
def bisections(
    store: TheStore, limit: Annotated[int, Query(ge=1, le=100)] = 20, before: Before = None
) -> BisectionPage:
    """Bisections, newest first."""
    page = store.bisections(limit, before)
    return BisectionPage(
        bisections=[summary_of(store, known_of(store, bisection)) for bisection in page],
        next_before=page[-1].asked_at if len(page) >= limit else None,
    )


@router.get("/bisections/{bisection_id}", operation_id="bisection")
def bisection(store: TheStore, has_queue: HasQueue, bisection_id: str) -> BisectionDetail:
    """One bisection: its commits and their results, its runs, and the answer once there is one."""
    return detail_of(store, _known(store, bisection_id), has_queue=has_queue)


@_writing.post("/bisections", operation_id="begin_bisection", status_code=201)
def begin_bisection(
    store: TheStore, supplies: TheQueueing, caller: TheCaller, request: BisectionWanted, response: Response
) -> BisectionSummary:
    """Search for the commit that changed the cost of handshakes. The same request returns the same bisection, unless
    `anew` is set. More builds than before continue from the known results."""
    bisection = _bisection_of(supplies, request, caller.name)
    with one_at_a_time:
        known = _begin(store, bisection, request)
        summary = summary_of(store, known)
    response.headers["Location"] = f"/api/v1/bisections/{known.bisection.bisection_id}"
    return summary


@_writing.post("/bisections/{bisection_id}/cancel", operation_id="cancel_bisection", status_code=202)
def cancel_bisection(store: TheStore, supplies: TheQueueing, caller: TheCaller, bisection_id: str) -> BisectionSummary:
    """Queue nothing more, and cancel the current run. Results so far are kept."""
    with one_at_a_time:
        known = _allowed(store, bisection_id, "cancel")
        add_event(store, known, BisectionEventKind.CANCELLED, f"cancelled by {caller.name}")
        if known.last_run and known.last_run.progress.event.state.is_open:
            ask_for_end(store, supplies, [known.last_run.progress.event], caller.name)
        return summary_of(store, _known(store, bisection_id))


@_writing.post("/bisections/{bisection_id}/resume", operation_id="resume_bisection", status_code=202)
def resume_bisection(store: TheStore, caller: TheCaller, bisection_id: str) -> BisectionSummary:
    """Continue with the run that failed or was cancelled, or with the search for the commits."""
    with one_at_a_time:
        known = _allowed(store, bisection_id, "resume")
        add_event(store, known, BisectionEventKind.RESUMED, f"resumed by {caller.name}")
        if known.last_run and known.last_run.waits:
            record(store, known.last_run.run.run_id, RunState.QUEUED, f"resumed by {caller.name}")
        return summary_of(store, _known(store, bisection_id))


@_writing.post("/bisections/advance", operation_id="advance_bisections")
def advance_bisections(store: TheStore, supplies: TheQueueing) -> list[WantedLine]:
    """Queue the next run of every bisection that needs one. Returns those whose commits are still unknown."""
    return advance(store, supplies)


@_writing.put("/bisections/{bisection_id}/line", operation_id="put_line", status_code=204)
def put_line(store: TheStore, caller: TheCaller, bisection_id: str, line: Line) -> None:
    """Report the commits that a bisection searches, oldest first. Only the first report counts."""
    check_bounds(caller, run_id=bisection_id)
    _known(store, bisection_id)
    if line.bisection_id != bisection_id:
        raise ProblemError(_UNUSABLE, f"the commits are of bisection {line.bisection_id}, not {bisection_id}")
    keep_line(store, line)


@_writing.post("/bisections/{bisection_id}/line-trouble", operation_id="line_trouble", status_code=204)
def line_trouble(store: TheStore, bisection_id: str, trouble: LineTrouble) -> None:
    """Report why the commits of a bisection were not found. It then waits until somebody resumes it."""
    give_up_line(store, _known(store, bisection_id).bisection, trouble.series, trouble.reason)


def _bisection_of(supplies: Supplies | LocalSupplies, request: BisectionWanted, who: str) -> Bisection:
    """The requested bisection, still without an id. Raises a 422 problem with the faults."""
    cases = _cases(request)
    invocations = request.invocations or usual_invocations(cases, request.instrument)
    pool = _pool(supplies, request.pool)
    bisection = Bisection(
        bisection_id="",
        asked_at=datetime.now(UTC),
        asked_by=who,
        library=request.library,
        address=request.repository,
        good=request.good,
        bad=request.bad,
        cases=cases,
        pool=pool,
        invocations=invocations,
        instrument=request.instrument,
    )
    try:
        ends = bisection.ref(request.good), bisection.ref(request.bad)
    except ValueError as error:
        raise ProblemError(_UNUSABLE, str(error)) from None
    for end, name in zip(ends, (request.good, request.bad), strict=True):
        if end.origin != end.source:
            raise ProblemError(_UNUSABLE, f"{name!r} is not a branch, tag or hash")
    if isinstance(supplies, Supplies):
        _check_repository(request, supplies.repositories(request.library))
    if request.good == request.bad:
        raise ProblemError(_UNUSABLE, f"{request.good} is given as both ends", "name two commits")
    ends_alone = BisectionRun(ends, None, cases, invocations, pool=pool, instrument=request.instrument)
    planned_wish(supplies, ends_alone.wish, ends_alone.catalogue_text)  # reports faults at once
    return bisection


def _check_repository(request: BisectionWanted, repositories: Collection[str]) -> None:
    """On a cluster, the caller does not own the machines. Raises a 422 problem."""
    if request.repository not in repositories:
        listing = ", ".join(repositories) or "none"
        detail = f"'{request.repository}' is not a repository of {request.library} in the catalogue; it lists {listing}"
        raise ProblemError(_UNUSABLE, detail, "add it to the catalogue: a build runs the code of its repository")


def _cases(request: BisectionWanted) -> tuple[Case, ...]:
    try:
        matrices = list(USUAL) if request.spec_text is None else read_matrices(request.spec_text, "spec.yaml")
    except DocumentError as error:
        raise ProblemError(_UNUSABLE, str(error), "correct the spec") from None
    cases = usual_cases(USUAL, request.cases) if request.spec_text is None else chosen(matrices, request.cases)
    if not cases:
        examples = ", ".join(case.case_id for case in chosen(matrices, ())[:6])
        detail = f"no case is called {' or '.join(request.cases)}; there are {examples} and others"
        raise ProblemError(_UNUSABLE, detail)
    return cases


def _pool(supplies: Supplies | LocalSupplies, name: str | None) -> str:
    pools = sorted(supplies.architectures()) if isinstance(supplies, Supplies) else [LOCAL]
    if name is None and len(pools) == 1:
        return pools[0]
    if name not in pools:
        fault = "no pool is named" if name is None else f"there is no pool {name}"
        raise ProblemError(_UNUSABLE, f"{fault}; there are {', '.join(pools)}", "name one of them")
    return name


def _begin(store: Store, draft: Bisection, request: BisectionWanted) -> Known:
    """The newest bisection of the request. It is created if there is none, or if `anew` is set."""
    question = [HARNESS_VERSION, draft.library, draft.address, draft.good, draft.bad, draft.pool, draft.invocations]
    if draft.instrument is not Instrument.TIME:
        question.append(draft.instrument)
    case_ids = [case.case_id for case in draft.cases]
    newest: Known | None = None
    ids = (content_hash([*question, case_ids, number], length=20) for number in count())
    bisection_id = next(ids)
    while stored := store.bisection(bisection_id):
        newest, bisection_id = known_of(store, stored), next(ids)
    if newest is None or (request.anew and newest.has_ended):
        new = draft.model_copy(update={"bisection_id": bisection_id})
        # As with runs: nobody sees an event without a bisection.
        add_event(store, Known(new, [], []), BisectionEventKind.ASKED, builds=request.builds)
        store.add_bisection(new)
        stirred.set()
        return known_of(store, new)
    if request.builds and newest.wants_more(request.builds):
        add_event(store, newest, BisectionEventKind.ASKED, builds=request.builds)
    return known_of(store, newest.bisection)


def _allowed(store: Store, bisection_id: str, control: BisectionControl) -> Known:
    """Raises a 409 problem if the state of the bisection does not allow it."""
    known = _known(store, bisection_id)
    state = summary_of(store, known).state
    if control not in controls_of(known, state):
        detail = f"bisection {bisection_id} is {state}: there is nothing to {control}"
        if (control, state) == ("resume", "cancelled"):
            detail = f"the current run of bisection {bisection_id} is still being cancelled"
        raise ProblemError(HTTPStatus.CONFLICT, detail)
    return known


def _known(store: Store, bisection_id: str) -> Known:
    """Raises a 404 problem."""
    bisection = store.bisection(bisection_id)
    if bisection is None:
        detail = f"there is no bisection {bisection_id}"
        raise ProblemError(HTTPStatus.NOT_FOUND, detail, "kexbench bisections list lists them")
    return known_of(store, bisection)


router.include_router(_writing)
