"""The table of alerts: sequences of events."""

from collections.abc import Collection, Iterator
from itertools import groupby
from typing import Any

from kexbench.domain.alerts import DECIDING, AlertAction, AlertEvent, AlertKind
from kexbench.domain.metrics import Metric
from kexbench.store import rows
from kexbench.store.connection import Connection
from kexbench.store.port import AlertRow


class AlertTables(Connection):
    """The part of the store's port for alerts."""

    def add_alert_event(self, event: AlertEvent) -> None:
        cause = {
            "kind": str(event.cause.kind) if event.cause else "",
            "library": (event.cause.library if event.cause else None) or "",
            "metric": (event.cause.metric if event.cause else None) or "",
        }
        self._insert("alert_events", [rows.whole(event, "alert_id", "number", "at", "action", "until", **cause)])

    def alert_events(self, alert_id: str) -> list[AlertEvent]:
        return self.events_of_alerts([alert_id])

    def events_of_alerts(self, alert_ids: Collection[str]) -> list[AlertEvent]:
        return self._read(
            AlertEvent,
            "SELECT content FROM alert_events FINAL WHERE alert_id IN {alert_ids:Array(String)}"
            " ORDER BY alert_id, number",
            {"alert_ids": list(alert_ids)},
        )

    def alert_rows(self) -> list[AlertRow]:
        events = self._query(
            "SELECT alert_id, at, action, until, kind, library, metric FROM alert_events FINAL"
            " WHERE action IN {deciding:Array(String)} ORDER BY alert_id, number",
            {"deciding": [str(action) for action in DECIDING]},
        )
        by_alert = groupby(events, key=lambda row: str(row["alert_id"]))
        alerts = [_alert_row(alert_id, steps) for alert_id, steps in by_alert]
        return sorted(alerts, key=lambda alert: (alert.raised_at, alert.alert_id), reverse=True)

    def alerts_beginning_with(self, prefix: str) -> list[str]:
        ids = self._query(
            "SELECT DISTINCT alert_id FROM alert_events WHERE startsWith(alert_id, {prefix:String}) ORDER BY alert_id",
            {"prefix": prefix},
        )
        return [row["alert_id"] for row in ids]


def _alert_row(alert_id: str, steps: Iterator[dict[str, Any]]) -> AlertRow:
    """The first step is the one that raised the alert."""
    events = list(steps)
    return AlertRow(
        alert_id=alert_id,
        kind=AlertKind(events[0]["kind"]),
        library=events[0]["library"] or None,
        metric=Metric(events[0]["metric"]) if events[0]["metric"] else None,
        raised_at=events[0]["at"],
        steps=tuple((AlertAction(step["action"]), step["until"]) for step in events),
    )
