"""Alerts as people handle them: listed, shown, and what is done to them; and what became of the runs they are of."""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from http import HTTPStatus
from re import fullmatch
from typing import Annotated, cast

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import ValidationError

from kexbench.alerts.analyst import Analyst
from kexbench.alerts.events import add_event, alerts_of, event_words, next_event
from kexbench.alerts.replaying import replay
from kexbench.api.access import TheCaller, admit, caller_of
from kexbench.api.alert_models import (
    AlertChange,
    AlertDetail,
    AlertPage,
    AlertSummary,
    JudgementPage,
    RuleDryRun,
    RuleWanted,
)
from kexbench.api.dependencies import TheAlertStore, TheJudgementStore, TheStore, queueing_of
from kexbench.api.gate import CountedRoute
from kexbench.api.problems import ProblemError
from kexbench.api.reading import Before, Libraries, known_run
from kexbench.api.uploading import router as uploads
from kexbench.domain.alerts import AlertEvent, AlertKind, Status, actions_in, alert_of, status_of
from kexbench.domain.judgements import Judgement
from kexbench.planning.documents import DocumentError
from kexbench.queue.runs import one_at_a_time
from kexbench.store.port import AlertRow, AlertStore

router = APIRouter(route_class=CountedRoute, tags=["alerts"], responses=uploads.responses)
SHORTEST_PREFIX = 4


@router.get("/alerts", operation_id="alerts")
def alerts(
    store: TheAlertStore,
    status: Annotated[list[Status] | None, Query(description="only these", max_length=6)] = None,
    library: Libraries = None,
    kind: Annotated[AlertKind | None, Query(description="only this one")] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    before: Before = None,
) -> AlertPage:
    """Alerts, those that were raised last first."""
    now = datetime.now(UTC)
    rows = [
        (row, status_of(row.steps, now))
        for row in store.alert_rows()
        if (not library or row.library in library) and kind in (None, row.kind)
    ]
    wanted = [
        row for row, found in rows if (not status or found in status) and (before is None or row.raised_at < before)
    ]
    page = _page(wanted, limit)
    return AlertPage(
        alerts=[AlertSummary.of(alert) for alert in alerts_of(store, [row.alert_id for row in page], now)],
        counts=dict(Counter(found for _, found in rows)),
        next_before=page[-1].raised_at if len(page) < len(wanted) else None,
    )


@router.get("/alerts/{alert_id}", operation_id="alert")
def alert(store: TheAlertStore, alert_id: str) -> AlertDetail:
    """One alert and everything that happened to it. The beginning of its id will do, where no other's begins so."""
    return _detail(_events(store, _whole_id(store, alert_id)))


@router.post("/alerts/{alert_id}/events", operation_id="change_alert", status_code=201)
def change_alert(
    store: TheStore, caller: TheCaller, alert_id: str, change: AlertChange, response: Response
) -> AlertDetail:
    """Do something to an alert: the state it comes to. Where something happened that the caller has not seen, nothing
    is done, and a 409 problem says what it was."""
    admit(caller, "submitter")
    with one_at_a_time:
        events = _events(store, alert_id)
        event = _event(events, caller.name, change)
        if not _repeats(events, change.saw, event):
            _as_seen(events, change.saw)
            _makes_sense(events, event)
            add_event(store, event)
            events = [*events, event]
    response.headers["Location"] = f"/api/v1/alerts/{alert_id}"
    return _detail(events)


@router.get("/judgements", operation_id="judgements")
def judgements(
    store: TheJudgementStore, limit: Annotated[int, Query(ge=1, le=200)] = 50, before: Before = None
) -> JudgementPage:
    """What was judged lately, newest first: upgrades with what became of each, and hosts that moved."""
    found = store.judgements(limit, before)
    return JudgementPage(judgements=found, next_before=found[-1].at if len(found) >= limit else None)


@router.get("/runs/{run_id}/judgement", operation_id="judgement")
def judgement(store: TheStore, run_id: str) -> Judgement:
    """What the analysis came to about a run."""
    found = store.judgement(run_id)
    if found is None:
        known_run(store, run_id)
        remedy = "runs are judged once they have ended, if their spec has `alerts:`"
        raise ProblemError(HTTPStatus.NOT_FOUND, f"run {run_id} was not judged", remedy)
    return found


def _page(rows: Sequence[AlertRow], limit: int) -> Sequence[AlertRow]:
    """More than `limit` where the last ones were raised at the same moment."""
    end = limit
    while 0 < end < len(rows) and rows[end].raised_at == rows[end - 1].raised_at:
        end += 1
    return rows[:end]


def _detail(events: Sequence[AlertEvent]) -> AlertDetail:
    found = alert_of(events, datetime.now(UTC))
    return AlertDetail.model_validate({"alert": found, "events": list(events), "actions": actions_in(found.status)})


def _events(store: AlertStore, alert_id: str) -> list[AlertEvent]:
    """Raises a 404 problem."""
    events = store.alert_events(alert_id)
    if not events:
        raise ProblemError(HTTPStatus.NOT_FOUND, f"there is no alert {alert_id}", "GET /api/v1/alerts lists them")
    return events


def _whole_id(store: AlertStore, given: str) -> str:
    """Raises a 409 problem where it may be several."""
    found = store.alerts_beginning_with(given) if fullmatch(rf"[0-9a-f]{{{SHORTEST_PREFIX},}}", given) else []
    if len(found) > 1:
        detail = f"{len(found)} alerts begin with {given}: {', '.join(found[:10])}"
        raise ProblemError(HTTPStatus.CONFLICT, detail, "give more of the id")
    return found[0] if found else given


def _event(events: Sequence[AlertEvent], author: str, change: AlertChange) -> AlertEvent:
    """What is to happen. Raises a 422 problem where that is nothing whole."""
    try:
        event = next_event(events, change.action, author, **change.model_dump(exclude={"action", "saw"}))
    except ValidationError as error:
        said = "; ".join(one["msg"].removeprefix("Value error, ") for one in error.errors())
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, said) from None
    if event.until and event.until <= event.at:
        detail = f"{event.until:%Y-%m-%d %H:%M} UTC has passed: it would be open again at once"
        raise ProblemError(
            HTTPStatus.UNPROCESSABLE_ENTITY, detail, "give a moment to come, or none to ignore it for good"
        )
    return event


def _repeats(events: Sequence[AlertEvent], saw: int, event: AlertEvent) -> bool:
    """Whether the same author did just this, having seen as much: the answer to it was lost on its way."""
    done = next((one for one in events if one.number == saw + 1), None)
    fields = {"number", "at"}
    return done is not None and done.model_dump(exclude=fields) == event.model_dump(exclude=fields)


def _as_seen(events: Sequence[AlertEvent], saw: int) -> None:
    """Raises a 409 problem with what happened meanwhile."""
    newest = events[-1].number
    if saw > newest:
        detail = f"event {saw} of it has not happened: its newest is {newest}"
        raise ProblemError(HTTPStatus.CONFLICT, detail, "read it again, then say which event you saw last")
    if missed := [event for event in events if event.number > saw]:
        detail = f"meanwhile {'; '.join(event_words(event) for event in missed)}"
        remedy = f"read it again; if that changes nothing, ask again and say that you saw event {newest}"
        raise ProblemError(HTTPStatus.CONFLICT, detail, remedy)


def _makes_sense(events: Sequence[AlertEvent], event: AlertEvent) -> None:
    """Raises a 409 problem where an alert is not as its action asks for."""
    found = alert_of(events, event.at)
    if event.action not in actions_in(found.status):
        may = ", ".join(actions_in(found.status))
        since = f" in {found.fixed_in}" if found.fixed_in else ""
        detail = f"alert {found.alert_id} is {found.status}{since}: it cannot be {event.action}"
        raise ProblemError(HTTPStatus.CONFLICT, detail, f"it may be {may}")


@router.post("/alerts/dry-run", operation_id="dry_run_alerts")
def dry_run_alerts(store: TheStore, caller: TheCaller, wanted: RuleWanted) -> RuleDryRun:
    """What the rule of a spec suspects in the stored runs of that spec. A spec with faults, or without a rule, is a 422
    problem that names them with their places."""
    admit(caller, "submitter")
    try:
        found = replay(store, wanted.spec_text, wanted.spec_file)
    except DocumentError as error:
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, str(error), "correct the spec") from None
    return RuleDryRun(spec_name=found.spec_name, runs=found.runs, upgrades=found.upgrades, told=list(found.told))


def _analyst(request: Request) -> Analyst:
    return cast(Analyst, request.app.state.analyst)


@router.post(
    "/alerts/advance",
    operation_id="advance_alerts",
    status_code=204,
    dependencies=[Depends(caller_of), Depends(queueing_of)],
)
def advance_alerts(analyst: Annotated[Analyst, Depends(_analyst)], caller: TheCaller) -> None:
    """Judge the runs that ended, queue those that have to confirm a suspicion, raise alerts, and mark what is fixed or
    stale. While that is done already it does nothing."""
    admit(caller, "dispatcher")
    analyst.advance()
