"""The tables of notifications and of what was tried to send them."""

from collections.abc import Collection, Sequence
from datetime import datetime

from kexbench.domain.moments import EARLIEST, LATEST
from kexbench.domain.notifications import Notification, Sending, SendingState
from kexbench.store.connection import Connection


class NotificationTables(Connection):
    """The part of the store's port that tells of notifications."""

    def add_notifications(self, notifications: Sequence[Notification]) -> None:
        self._insert(
            "notifications",
            [
                {
                    "notification_id": one.notification_id,
                    "alert_id": one.alert_id,
                    "number": one.number,
                    "created_at": one.created_at,
                    "content": one.model_dump_json(),
                }
                for one in notifications
            ],
        )

    def notifications(self, limit: int, before: datetime | None = None) -> list[Notification]:
        found = self._query(
            "SELECT content FROM notifications FINAL WHERE created_at < {before:DateTime64(3, 'UTC')}"
            " ORDER BY created_at DESC LIMIT {limit:UInt32} WITH TIES",
            {"before": min(max(before or LATEST, EARLIEST), LATEST), "limit": limit},
        )
        notifications = [Notification.model_validate_json(row["content"]) for row in found]
        return sorted(notifications, key=lambda one: (one.created_at, one.notification_id), reverse=True)

    def notified(self, notification_ids: Collection[str]) -> set[str]:
        found = self._query(
            "SELECT DISTINCT notification_id FROM notifications WHERE notification_id IN {ids:Array(String)}",
            {"ids": list(notification_ids)},
        )
        return {row["notification_id"] for row in found}

    def untold_events(self, since: datetime) -> list[tuple[str, int]]:
        found = self._query(
            "SELECT alert_id, number FROM alert_events FINAL WHERE at >= {since:DateTime64(3, 'UTC')}"
            " AND (alert_id, number) NOT IN (SELECT alert_id, number FROM notifications) ORDER BY alert_id, number",
            {"since": since},
        )
        return [(row["alert_id"], row["number"]) for row in found]

    def open_notifications(self, most_tries: int) -> list[Notification]:
        found = self._query(
            "SELECT content FROM notifications FINAL WHERE notification_id NOT IN ("
            "SELECT id FROM (SELECT arrayJoin(notification_ids) AS id, message_id, at, state"
            " FROM sendings) GROUP BY id"
            " HAVING countIf(state = {sent:String}) > 0 OR uniqExact(message_id, at) >= {most:UInt32})"
            " ORDER BY created_at, notification_id",
            {"sent": str(SendingState.SENT), "most": most_tries},
        )
        return [Notification.model_validate_json(row["content"]) for row in found]

    def add_sending(self, sending: Sending) -> None:
        self._insert(
            "sendings",
            [
                {
                    "message_id": sending.message_id,
                    "at": sending.at,
                    "state": str(sending.state),
                    "notification_ids": list(sending.notification_ids),
                    "content": sending.model_dump_json(),
                }
            ],
        )

    def sendings(self, notification_ids: Collection[str], since: datetime | None = None) -> list[Sending]:
        found = self._query(
            "SELECT content FROM sendings FINAL WHERE at >= {since:DateTime64(3, 'UTC')}"
            " OR hasAny(notification_ids, {ids:Array(String)}) ORDER BY at, message_id",
            {"since": since or LATEST, "ids": list(notification_ids)},
        )
        return [Sending.model_validate_json(row["content"]) for row in found]
