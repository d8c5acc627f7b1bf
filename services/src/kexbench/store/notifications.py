"""The tables of notifications and of the attempts to send them."""

from collections.abc import Collection, Sequence
from datetime import datetime

from kexbench.domain.moments import LATEST
from kexbench.domain.notifications import Notification, Sending, SendingState
from kexbench.store import rows
from kexbench.store.connection import Connection


class NotificationTables(Connection):
    """The part of the store's port for notifications."""

    def add_notifications(self, notifications: Sequence[Notification]) -> None:
        columns = ("notification_id", "alert_id", "number", "created_at")
        self._insert("notifications", [rows.whole(notification, *columns) for notification in notifications])

    def notifications(self, limit: int, before: datetime | None = None) -> list[Notification]:
        return self._page(Notification, "notifications FINAL", ("created_at", "notification_id"), limit, before)

    def notified(self, notification_ids: Collection[str]) -> set[str]:
        selected = self._query(
            "SELECT DISTINCT notification_id FROM notifications WHERE notification_id IN {ids:Array(String)}",
            {"ids": list(notification_ids)},
        )
        return {row["notification_id"] for row in selected}

    def unnotified_events(self, since: datetime) -> list[tuple[str, int]]:
        selected = self._query(
            "SELECT alert_id, number FROM alert_events FINAL WHERE at >= {since:DateTime64(3, 'UTC')}"
            " AND (alert_id, number) NOT IN (SELECT alert_id, number FROM notifications) ORDER BY alert_id, number",
            {"since": since},
        )
        return [(row["alert_id"], row["number"]) for row in selected]

    def open_notifications(self, most_tries: int) -> list[Notification]:
        return self._read(
            Notification,
            "SELECT content FROM notifications FINAL WHERE notification_id NOT IN ("
            "SELECT id FROM (SELECT arrayJoin(notification_ids) AS id, message_id, at, state"
            " FROM sendings) GROUP BY id"
            " HAVING countIf(state = {sent:String}) > 0 OR uniqExact(message_id, at) >= {most:UInt32})"
            " ORDER BY created_at, notification_id",
            {"sent": str(SendingState.SENT), "most": most_tries},
        )

    def add_sending(self, sending: Sending) -> None:
        self._insert("sendings", [rows.whole(sending, "message_id", "at", "state", "notification_ids")])

    def sendings(self, notification_ids: Collection[str], since: datetime | None = None) -> list[Sending]:
        return self._read(
            Sending,
            "SELECT content FROM sendings FINAL WHERE at >= {since:DateTime64(3, 'UTC')}"
            " OR hasAny(notification_ids, {ids:Array(String)}) ORDER BY at, message_id",
            {"since": since or LATEST, "ids": list(notification_ids)},
        )
