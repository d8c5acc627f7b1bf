"""Alerts: listed, shown and changed. Also the screenings of runs that alerts come from."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from http import HTTPStatus
from re import fullmatch
from typing import Annotated, cast

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import ValidationError

from kexbench.alerts.analyst import Analyst
from kexbench.alerts.events import add_event, alerts_in, alerts_of, event_words, next_event
from kexbench.alerts.replaying import replay
from kexbench.answers.runs import known_run
from kexbench.answers.subjects import neighbours
from kexbench.answers.upgrade import stories_of
from kexbench.api.access import TheCaller, admit, caller_of
from kexbench.api.alert_models import (
    AlertChange,
    AlertDetail,
    AlertPage,
    AlertSummary,
    RuleDryRun,
    ScreeningPage,
    UnderConfirmation,
)
from kexbench.api.answers import KeptRoute
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
from kexbench.domain.alerts import AlertAction, AlertEvent, AlertKind, Status, actions_in, alert_of, status_of
from kexbench.domain.samples import Metric
from kexbench.domain.screenings import Screening
from kexbench.notify.feed import MEDIA_TYPE, PATH, alert_entry, atom, upgrade_entry
from kexbench.planning.documents import DocumentError
from kexbench.queue.progress import expected_end_at
from kexbench.queue.runs import done_of, one_at_a_time, open_runs, takes
from kexbench.queue.supplies import LocalSupplies, Supplies
from kexbench.store.port import AlertRow, AlertStore, Selection, Store

router = api_router(route_class=CountedRoute, tags=["alerts"], responses=uploads.responses)
_kept = APIRouter(route_class=KeptRoute)
at_root = api_router(prefix="", route_class=KeptRoute, tags=["alerts"], responses=uploads.responses)
"""The feed has the address that pages link, without the API's prefix."""
SHORTEST_PREFIX = 4
IN_FEED = 20
"""Upgrades, and as many alerts. Feed readers ask often enough to miss none."""


@router.get("/alerts", operation_id="alerts")
def alerts(
    store: TheStore,
    supplies: MaybeSupplies,
    status: Annotated[list[Status] | None, Query(description="only these statuses", max_length=6)] = None,
    library: Libraries = None,
    kind: Annotated[AlertKind | None, Query(description="only this kind")] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    before: Before = None,
) -> AlertPage:
    """Alerts, the last raised first."""
    now = datetime.now(UTC)
    rows = [
        (row, status_of(row.steps, now))
        for row in store.kept_until_stored("alert rows", store.alert_rows)
        if (not library or row.library in library) and kind in (None, row.kind)
    ]
    matching = [
        row for row, current in rows if (not status or current in status) and (before is None or row.raised_at < before)
    ]
    page = _page(matching, limit)
    alert_ids = tuple(row.alert_id for row in page)
    events = store.kept_until_stored(("events of alerts", alert_ids), lambda: store.events_of_alerts(alert_ids))
    return AlertPage(
        alerts=[AlertSummary.of(alert) for alert in alerts_in(events, alert_ids, now)],
        confirming=_under_confirmation(store, supplies, now),
        counts=dict(Counter(current for _, current in rows)),
        next_before=page[-1].raised_at if len(page) < len(matching) else None,
    )


def _under_confirmation(
    store: Store, supplies: Supplies | LocalSupplies | None, now: datetime
) -> list[UnderConfirmation]:
    """Each confirmation run once, although several screenings may wait for it."""
    waiting = store.kept_until_stored("waiting screenings", store.waiting_screenings)
    if not waiting:
        return []
    (rows, stored), takes_s = open_runs(store), takes(store)
    by_run = {
        row.run_id: UnderConfirmation(
            **upgrade.model_dump(include={"library", "before", "after"}),
            spec_name=screening.spec_name,
            cells=len(upgrade.suspected),
            screened_run=screening.run_id,
            confirmation_run=row.run_id,
            state=row.event.state,
            expected_end_at=expected_end_at(
                takes_s(row.spec_name, row.estimated_s),
                row.invocations,
                done_of(store, supplies, row.run_id, row.event, stored[row.run_id].invocations_stored),
                now,
            ),
        )
        for screening in reversed(waiting)
        for upgrade in screening.upgrades
        if upgrade.confirmation_run and (row := rows.get(upgrade.confirmation_run))
    }
    return list(by_run.values())


@router.get("/alerts/{alert_id}", operation_id="alert")
def alert(store: TheStore, alert_id: str) -> AlertDetail:
    """One alert and all its events. A unique beginning of its id is enough."""
    key = ("events of an alert", alert_id)
    return _detail(store.kept_until_stored(key, lambda: _events(store, _whole_id(store, alert_id))))


@router.post("/alerts/{alert_id}/events", operation_id="change_alert", status_code=201)
def change_alert(
    store: TheStore, caller: TheCaller, alert_id: str, change: AlertChange, response: Response
) -> AlertDetail:
    """Change an alert, and return its new state. If it has events that the caller has not seen, nothing changes, and a
    409 problem lists them."""
    admit(caller, "submitter")
    with one_at_a_time:
        events = _events(store, alert_id)
        event = _requested_event(events, caller.name, change)
        if not _repeats(events, change.saw, event):
            _check_seen(events, change.saw)
            _check_action(events, event)
            add_event(store, event)
            events = [*events, event]
    response.headers["Location"] = f"/api/v1/alerts/{alert_id}"
    return _detail(events)


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
        upgrade_entry(pair.library, pair.ends, pair.measured_at, stories[pair.before, pair.after].sentence)
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


def _page(rows: Sequence[AlertRow], limit: int) -> Sequence[AlertRow]:
    """At most `limit` rows, or more if the last ones were raised at the same moment."""
    end = limit
    while 0 < end < len(rows) and rows[end].raised_at == rows[end - 1].raised_at:
        end += 1
    return rows[:end]


def _detail(events: Sequence[AlertEvent]) -> AlertDetail:
    current = alert_of(events, datetime.now(UTC))
    return AlertDetail.model_validate({"alert": current, "events": list(events), "actions": actions_in(current.status)})


def _events(store: AlertStore, alert_id: str) -> list[AlertEvent]:
    """Raises a 404 problem."""
    events = store.alert_events(alert_id)
    if not events:
        raise ProblemError(HTTPStatus.NOT_FOUND, f"there is no alert {alert_id}", "kexbench alerts list lists them")
    return events


def _whole_id(store: AlertStore, prefix: str) -> str:
    """Raises a 409 problem if several alerts match."""
    matches = store.alerts_beginning_with(prefix) if fullmatch(rf"[0-9a-f]{{{SHORTEST_PREFIX},}}", prefix) else []
    if len(matches) > 1:
        detail = f"{len(matches)} alerts begin with {prefix}: {', '.join(matches[:10])}"
        raise ProblemError(HTTPStatus.CONFLICT, detail, "give more of the id")
    return matches[0] if matches else prefix


def _requested_event(events: Sequence[AlertEvent], author: str, change: AlertChange) -> AlertEvent:
    """The requested event. Raises a 422 problem if it is not valid."""
    try:
        event = next_event(events, change.action, author, **change.model_dump(exclude={"action", "saw"}))
    except ValidationError as error:
        faults = "; ".join(fault["msg"].removeprefix("Value error, ") for fault in error.errors())
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, faults) from None
    if event.until and event.until <= event.at:
        detail = f"{event.until:%Y-%m-%d %H:%M} UTC has passed: the alert would be open again at once"
        raise ProblemError(
            HTTPStatus.UNPROCESSABLE_ENTITY, detail, "give a future time, or none to ignore it permanently"
        )
    return event


def _repeats(events: Sequence[AlertEvent], saw: int, event: AlertEvent) -> bool:
    """Whether the same author already did this, having seen as much: the answer was lost."""
    next_event = next(_unseen(events, saw), None)
    fields = {"number", "at"}
    return next_event is not None and next_event.model_dump(exclude=fields) == event.model_dump(exclude=fields)


def _unseen(events: Sequence[AlertEvent], saw: int) -> Iterator[AlertEvent]:
    """Those that a person has to know before a change. Counts of instructions come on their own and decide nothing."""
    return (event for event in events if event.number > saw and event.action is not AlertAction.EXPLAINED)


def _check_seen(events: Sequence[AlertEvent], saw: int) -> None:
    """Raises a 409 problem with the events since then."""
    newest = events[-1].number
    if saw > newest:
        detail = f"there is no event {saw} of this alert: the newest is {newest}"
        raise ProblemError(HTTPStatus.CONFLICT, detail, "read it again, then send the number of its last event")
    if missed := list(_unseen(events, saw)):
        detail = f"meanwhile {'; '.join(event_words(event) for event in missed)}"
        remedy = f"read it again; to repeat the change, send {newest} as the last event seen"
        raise ProblemError(HTTPStatus.CONFLICT, detail, remedy)


def _check_action(events: Sequence[AlertEvent], event: AlertEvent) -> None:
    """Raises a 409 problem if the status of the alert does not allow the action."""
    current = alert_of(events, event.at)
    if event.action not in actions_in(current.status):
        possible = ", ".join(actions_in(current.status))
        since = f" in {current.fixed_in}" if current.fixed_in else ""
        detail = f"alert {current.alert_id} is {current.status}{since}: it cannot be {event.action}"
        raise ProblemError(HTTPStatus.CONFLICT, detail, f"it can be {possible}")


@router.post("/alerts/dry-run", operation_id="dry_run_alerts")
def dry_run_alerts(store: TheStore, caller: TheCaller, rule: Submission) -> RuleDryRun:
    """What the rule of a spec would suspect in its stored runs. A spec with faults, or without a rule, is a 422 problem
    that lists the faults with their places."""
    admit(caller, "submitter")
    try:
        result = replay(store, rule.spec_text, rule.spec_file)
    except DocumentError as error:
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, str(error), "correct the spec") from None
    return RuleDryRun(
        spec_name=result.spec_name, runs=result.runs, upgrades=result.upgrades, told=list(result.suspected)
    )


def _analyst(request: Request) -> Analyst:
    return cast(Analyst, request.app.state.analyst)


@router.post(
    "/alerts/advance",
    operation_id="advance_alerts",
    status_code=204,
    dependencies=[Depends(caller_of), Depends(queueing_of)],
)
def advance_alerts(analyst: Annotated[Analyst, Depends(_analyst)], caller: TheCaller) -> None:
    """Screen ended runs, queue confirmation runs, raise alerts, and mark fixed and stale ones. Does nothing while this
    is already running."""
    admit(caller, "dispatcher")
    analyst.advance()


router.include_router(_kept)
