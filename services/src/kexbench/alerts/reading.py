"""Alerts as people read them: those of a page, and one with all its events."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Sequence
from datetime import UTC, date, datetime
from re import fullmatch
from typing import Literal

from pydantic import Field

from kexbench.alerts.events import alerts_in
from kexbench.domain.alerts import (
    Alert,
    AlertAction,
    AlertEvent,
    Cause,
    Status,
    actions_in,
    alert_of,
    status_of,
)
from kexbench.domain.frozen import Frozen
from kexbench.domain.intervals import Ratio
from kexbench.domain.kits import Library
from kexbench.domain.metrics import Metric
from kexbench.domain.refusals import Refusal, RefusalReason
from kexbench.domain.runs import RunState
from kexbench.domain.screenings import ScreenedUpgrade, Screening
from kexbench.domain.upgrades import UpgradeEnd
from kexbench.queue.progress import expected_end_at
from kexbench.queue.runs import done_of, open_runs, takes
from kexbench.queue.supplies import LocalSupplies, Supplies
from kexbench.store.port import AlertRow, AlertStore, Store

PeoplesAction = Literal[
    AlertAction.ACKNOWLEDGED,
    AlertAction.CONFIRMED,
    AlertAction.IGNORED,
    AlertAction.WRONG,
    AlertAction.REOPENED,
    AlertAction.ASSIGNED,
    AlertAction.NOTED,
    AlertAction.DUE,
]


SHORTEST_PREFIX = 4


class AlertSummary(Frozen):
    """An alert without its cells, which may be hundreds."""

    alert_id: str
    cause: Cause
    status: Status
    version: int = Field(description="the number of its last event")
    raised_at: datetime
    changed_at: datetime
    sentence: str
    spec_names: list[str]
    cells: int
    cpu_models: list[str] = Field(description="the CPU models that it was found on")
    most: Ratio | None = Field(description="of the cell that changed most; null without cells, or if it was 0 before")
    before: float | None = Field(description="of the same cell, in the unit of the metric; null where unknown")
    after: float | None
    assignee: str = Field(description="empty for nobody")
    due: date | None
    ignored_until: datetime | None = Field(description="if it is ignored; null means permanently")
    fixed_in: str = Field(description="if it is fixed: the version that fixed it")

    @classmethod
    def of(cls, alert: Alert) -> "AlertSummary":
        worst = max(alert.cells, key=lambda cell: cell.size, default=None)
        return cls(
            **alert.model_dump(exclude={"cause", "cells", "run_ids", "notify", "subjects", "culprits"}),
            cause=alert.cause,
            cells=len(alert.cells),
            cpu_models=list(dict.fromkeys(cell.cpu_model for cell in alert.cells)),
            most=worst.move if worst else None,
            before=worst.before if worst else None,
            after=worst.after if worst else None,
        )


class UnderConfirmation(Frozen):
    """A suspicion that a run of its own is to confirm. It may become an alert."""

    library: Library
    metrics: list[Metric] = Field(description="what is to be confirmed")
    before: UpgradeEnd
    after: UpgradeEnd
    spec_name: str
    cells: int = Field(description="cells in which they look higher")
    screened_run: str = Field(description="the run that raised the suspicion")
    confirmation_run: str
    state: RunState = Field(description="of the confirmation run")
    expected_end_at: datetime | None = Field(description="of the confirmation run; null unless it is being measured")


class AlertPage(Frozen):
    alerts: list[AlertSummary]
    confirming: list[UnderConfirmation] = Field(description="suspicions under way, whatever is filtered by")
    counts: dict[Status, int] = Field(description="the number of alerts by status, of this library and kind")
    next_before: datetime | None = Field(description="pass as `before` for the next page; null at the end")


class AlertDetail(Frozen):
    """An alert in its current state, and all its events."""

    alert: Alert
    events: list[AlertEvent] = Field(description="in order")
    actions: list[PeoplesAction] = Field(description="what can be done to it now")


def _under_confirmation(
    store: Store, supplies: Supplies | LocalSupplies | None, now: datetime
) -> list[UnderConfirmation]:
    """Each confirmation run once, although several screenings may wait for it."""
    waiting = store.kept_until_stored("waiting screenings", store.waiting_screenings)
    if not waiting:
        return []
    (rows, stored), takes_s = open_runs(store), takes(store)
    waiting_for: dict[str, tuple[Screening, list[ScreenedUpgrade]]] = {}
    for screening in reversed(waiting):
        of_run: dict[str, list[ScreenedUpgrade]] = defaultdict(list)
        for upgrade in screening.upgrades:
            if upgrade.confirmation_run in rows:
                of_run[upgrade.confirmation_run].append(upgrade)
        waiting_for |= {run_id: (screening, upgrades) for run_id, upgrades in of_run.items()}
    return [
        UnderConfirmation(
            **upgrades[0].model_dump(include={"library", "before", "after"}),
            metrics=[upgrade.metric for upgrade in upgrades],
            spec_name=screening.spec_name,
            cells=len({name for upgrade in upgrades for name in upgrade.suspected}),
            screened_run=screening.run_id,
            confirmation_run=run_id,
            state=rows[run_id].event.state,
            expected_end_at=expected_end_at(
                takes_s(rows[run_id].spec_name, rows[run_id].estimated_s),
                rows[run_id].invocations,
                done_of(store, supplies, run_id, rows[run_id].event, stored[run_id].invocations_stored),
                now,
            ),
        )
        for run_id, (screening, upgrades) in waiting_for.items()
    ]


def _page(rows: Sequence[AlertRow], limit: int) -> Sequence[AlertRow]:
    """At most `limit` rows, or more if the last ones were raised at the same moment."""
    end = limit
    while 0 < end < len(rows) and rows[end].raised_at == rows[end - 1].raised_at:
        end += 1
    return rows[:end]


def detail_of(events: Sequence[AlertEvent]) -> AlertDetail:
    current = alert_of(events, datetime.now(UTC))
    return AlertDetail.model_validate({"alert": current, "events": list(events), "actions": actions_in(current.status)})


def events_of(store: AlertStore, alert_id: str) -> list[AlertEvent]:
    """Raises Refusal."""
    events = store.alert_events(alert_id)
    if not events:
        raise Refusal(RefusalReason.MISSING, f"there is no alert {alert_id}", "kexbench alerts list lists them")
    return events


def _whole_id(store: AlertStore, prefix: str) -> str:
    """Raises Refusal if several alerts match."""
    matches = store.alerts_beginning_with(prefix) if fullmatch(rf"[0-9a-f]{{{SHORTEST_PREFIX},}}", prefix) else []
    if len(matches) > 1:
        detail = f"{len(matches)} alerts begin with {prefix}: {', '.join(matches[:10])}"
        raise Refusal(RefusalReason.CONFLICT, detail, "give more of the id")
    return matches[0] if matches else prefix


def alert_page(
    store: Store,
    supplies: Supplies | LocalSupplies | None,
    is_wanted: Callable[[AlertRow], bool],
    statuses: Collection[Status],
    limit: int,
    before: datetime | None = None,
) -> AlertPage:
    """The last raised first. All that are wanted are counted, whatever their status."""
    now = datetime.now(UTC)
    rows = [
        (row, status_of(row.steps, now))
        for row in store.kept_until_stored("alert rows", store.alert_rows)
        if is_wanted(row)
    ]
    matching = [
        row
        for row, current in rows
        if (not statuses or current in statuses) and (before is None or row.raised_at < before)
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


def alert_detail(store: Store, prefix: str) -> AlertDetail:
    """By a unique beginning of its id. Raises Refusal."""
    key = ("events of an alert", prefix)
    return detail_of(store.kept_until_stored(key, lambda: events_of(store, _whole_id(store, prefix))))
