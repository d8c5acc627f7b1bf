"""The tables of alerts and of judgements."""

from collections.abc import Collection, Iterator
from datetime import datetime
from itertools import groupby
from typing import Any

from kexbench.domain.alerts import DECIDING, AlertAction, AlertEvent, AlertKind
from kexbench.domain.judgements import Judgement
from kexbench.domain.moments import EARLIEST, LATEST
from kexbench.store.connection import Connection
from kexbench.store.port import AlertRow


class AlertTables(Connection):
    """The part of the store's port that tells of alerts and judgements."""

    def add_alert_event(self, event: AlertEvent) -> None:
        self._insert(
            "alert_events",
            [
                {
                    "alert_id": event.alert_id,
                    "number": event.number,
                    "at": event.at,
                    "action": str(event.action),
                    "until": event.until,
                    "kind": str(event.cause.kind) if event.cause else "",
                    "library": (event.cause.library if event.cause else None) or "",
                    "content": event.model_dump_json(),
                }
            ],
        )

    def alert_events(self, alert_id: str) -> list[AlertEvent]:
        return self.events_of_alerts([alert_id])

    def events_of_alerts(self, alert_ids: Collection[str]) -> list[AlertEvent]:
        found = self._query(
            "SELECT content FROM alert_events FINAL WHERE alert_id IN {alert_ids:Array(String)}"
            " ORDER BY alert_id, number",
            {"alert_ids": list(alert_ids)},
        )
        return [AlertEvent.model_validate_json(row["content"]) for row in found]

    def alert_rows(self) -> list[AlertRow]:
        found = self._query(
            "SELECT alert_id, at, action, until, kind, library FROM alert_events FINAL"
            " WHERE action IN {deciding:Array(String)} ORDER BY alert_id, number",
            {"deciding": [str(action) for action in DECIDING]},
        )
        by_alert = groupby(found, key=lambda row: str(row["alert_id"]))
        alerts = [_alert_row(alert_id, steps) for alert_id, steps in by_alert]
        return sorted(alerts, key=lambda alert: (alert.raised_at, alert.alert_id), reverse=True)

    def alerts_beginning_with(self, prefix: str) -> list[str]:
        found = self._query(
            "SELECT DISTINCT alert_id FROM alert_events WHERE startsWith(alert_id, {prefix:String}) ORDER BY alert_id",
            {"prefix": prefix},
        )
        return [row["alert_id"] for row in found]

    def add_judgement(self, judgement: Judgement) -> None:
        self._insert(
            "judgements",
            [{"run_id": judgement.run_id, "at": judgement.at, "content": judgement.model_dump_json()}],
        )

    def judgement(self, run_id: str) -> Judgement | None:
        found = self._query(
            "SELECT content FROM judgements FINAL WHERE run_id = {run_id:String} ORDER BY at DESC LIMIT 1",
            {"run_id": run_id},
        )
        return next((Judgement.model_validate_json(row["content"]) for row in found), None)

    def judgements(self, limit: int, before: datetime | None = None) -> list[Judgement]:
        # A run is told with its newest judgement, and no page knows an older one of it.
        found = self._query(
            "SELECT content FROM (SELECT content, at FROM judgements FINAL ORDER BY at DESC LIMIT 1 BY run_id)"
            " WHERE at < {before:DateTime64(3, 'UTC')} ORDER BY at DESC LIMIT {limit:UInt32} WITH TIES",
            {"before": min(max(before or LATEST, EARLIEST), LATEST), "limit": limit},
        )
        judgements = [Judgement.model_validate_json(row["content"]) for row in found]
        return sorted(judgements, key=lambda one: (one.at, one.run_id), reverse=True)

    def judged(self, run_ids: Collection[str]) -> set[str]:
        found = self._query(
            "SELECT DISTINCT run_id FROM judgements WHERE run_id IN {run_ids:Array(String)}",
            {"run_ids": list(run_ids)},
        )
        return {row["run_id"] for row in found}


def _alert_row(alert_id: str, steps: Iterator[dict[str, Any]]) -> AlertRow:
    """Its first step is the one that raised it."""
    found = list(steps)
    return AlertRow(
        alert_id=alert_id,
        kind=AlertKind(found[0]["kind"]),
        library=found[0]["library"] or None,
        raised_at=found[0]["at"],
        steps=tuple((AlertAction(step["action"]), step["until"]) for step in found),
    )
