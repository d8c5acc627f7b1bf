"""Alerts: listed, shown and changed. Also the screenings of runs that alerts come from."""

from datetime import UTC, datetime
from http import HTTPStatus
from typing import Annotated, cast

from fastapi import APIRouter, Depends, Query, Request, Response

from kexbench.alerts.analyst import Analyst
from kexbench.alerts.changing import AlertChange, change_alert
from kexbench.alerts.events import alerts_of
from kexbench.alerts.reading import (
    AlertDetail,
    AlertPage,
    alert_detail,
    alert_page,
    detail_of,
)
from kexbench.alerts.replaying import replay
from kexbench.answers.runs import known_run
from kexbench.answers.subjects import neighbours
from kexbench.answers.upgrade import stories_of
from kexbench.api.access import ADMITTED, TheCaller, caller_of
from kexbench.api.alert_models import RuleDryRun, ScreeningPage
from kexbench.api.caching import KeptRoute
from kexbench.api.dependencies import (
    MaybeSupplies,
    PagesUrl,
    TheScreeningStore,
    TheStore,
    queueing_of,
)
from kexbench.api.gate import CountedRoute, api_router
from kexbench.api.problems import ProblemError
from kexbench.api.reading import Before, Libraries
from kexbench.api.run_models import Submission
from kexbench.api.uploading import router as uploads
from kexbench.domain.alerts import AlertKind, Status
from kexbench.domain.samples import Metric
from kexbench.domain.screenings import Screening
from kexbench.notify.feed import MEDIA_TYPE, PATH, alert_entry, atom, upgrade_entry
from kexbench.planning.documents import DocumentError
from kexbench.store.port import AlertRow, Selection

router = api_router(route_class=CountedRoute, tags=["alerts"], responses=uploads.responses)
_kept = APIRouter(route_class=KeptRoute)
at_root = api_router(prefix="", route_class=KeptRoute, tags=["alerts"], responses=uploads.responses)
"""The feed has the address that pages link, without the API's prefix."""


IN_FEED = 20
"""Upgrades, and as many alerts. Feed readers ask often enough to miss none."""


@router.get("/alerts", operation_id="alerts")
def alerts(
    store: TheStore,
    supplies: MaybeSupplies,
    status: Annotated[list[Status] | None, Query(description="only these statuses", max_length=6)] = None,
    library: Libraries = None,
    kind: Annotated[AlertKind | None, Query(description="only this kind")] = None,
    metric: Annotated[list[Metric] | None, Query(description="only these metrics", max_length=len(Metric))] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    before: Before = None,
) -> AlertPage:
    """Alerts, the last raised first."""

    def is_wanted(row: AlertRow) -> bool:
        chosen = (not library or row.library in library) and (not metric or row.metric in metric)
        return chosen and kind in (None, row.kind)

    return alert_page(store, supplies, is_wanted, status or (), limit, before)


@router.get("/alerts/{alert_id}", operation_id="alert")
def alert(store: TheStore, alert_id: str) -> AlertDetail:
    """One alert and all its events. A unique beginning of its id is enough."""
    return alert_detail(store, alert_id)


@router.post("/alerts/{alert_id}/events", operation_id="change_alert", status_code=201)
def post_change(
    store: TheStore, caller: TheCaller, alert_id: str, change: AlertChange, response: Response
) -> AlertDetail:
    """Change an alert, and return its new state. If it has events that the caller has not seen, nothing changes, and a
    409 problem lists them."""
    events = change_alert(store, alert_id, caller.name, change)
    response.headers["Location"] = f"/api/v1/alerts/{alert_id}"
    return detail_of(events)


@at_root.get(
    PATH,
    operation_id="feed",
    response_class=Response,
    responses={200: {"content": {MEDIA_TYPE: {}}, "description": "the feed"}},
)
def feed(store: TheStore, pages_url: PagesUrl) -> Response:
    """The newest upgrades and alerts, as an Atom feed."""
    pairs = neighbours(store.measured_subjects(Selection(Metric.CPU_NS)))[:IN_FEED]
    stories = stories_of(store, [(pair.before, pair.after) for pair in pairs])
    entries = [
        upgrade_entry(pair.library, pair.ends, pair.measured_at, stories[pair.before, pair.after].told)
        for pair in pairs
    ]
    alert_ids = [row.alert_id for row in store.alert_rows()[:IN_FEED]]
    entries += map(alert_entry, alerts_of(store, alert_ids, datetime.now(UTC)))
    return Response(atom(entries, pages_url), media_type=MEDIA_TYPE)


@_kept.get("/screenings", operation_id="screenings")
def screenings(
    store: TheScreeningStore, limit: Annotated[int, Query(ge=1, le=200)] = 50, before: Before = None
) -> ScreeningPage:
    """Screenings, newest first: upgrades with their results, and machines that changed."""
    page = store.screenings(limit, before)
    return ScreeningPage(screenings=page, next_before=page[-1].at if len(page) >= limit else None)


@_kept.get("/runs/{run_id}/screening", operation_id="screening")
def screening(store: TheStore, run_id: str) -> Screening:
    """The screening of a run."""
    stored = store.screening(run_id)
    if stored is None:
        known_run(store, run_id)
        remedy = "runs are screened when they have ended, if their spec has `alerts:`"
        raise ProblemError(HTTPStatus.NOT_FOUND, f"run {run_id} was not screened", remedy)
    return stored


@router.post("/alerts/dry-run", operation_id="dry_run_alerts", dependencies=ADMITTED)
def dry_run_alerts(store: TheStore, rule: Submission) -> RuleDryRun:
    """What the rule of a spec would suspect in its stored runs. A spec with faults, or without a rule, is a 422 problem
    that lists the faults with their places."""
    try:
        result = replay(store, rule.spec_text, rule.spec_file)
    except DocumentError as error:
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, str(error), "correct the spec") from None
    return RuleDryRun(
        spec_name=result.spec_name, runs=result.runs, upgrades=result.upgrades, suspected=list(result.suspected)
    )


def _analyst(request: Request) -> Analyst:
    return cast(Analyst, request.app.state.analyst)


@router.post(
    "/alerts/advance",
    operation_id="advance_alerts",
    status_code=204,
    dependencies=[Depends(caller_of), Depends(queueing_of)],
)
def advance_alerts(analyst: Annotated[Analyst, Depends(_analyst)]) -> None:
    """Screen ended runs, queue confirmation runs, raise alerts, and mark fixed and stale ones. Does nothing while this
    is already running."""
    analyst.advance()


router.include_router(_kept)
