"""Notifications of events, and the channels that get them. Pure: the same event always gives the same
notifications."""

from collections.abc import Collection, Iterable
from datetime import datetime

from kexbench.domain.alerts import Alert, AlertEvent
from kexbench.domain.canonical import content_hash
from kexbench.domain.metrics import Metric
from kexbench.domain.notifications import AT_ONCE, ChannelRule, Happening, Notification, Wording, happening_of
from kexbench.domain.screenings import Screening
from kexbench.notify.words import improvement_wording, upgrade_words, wording_of


def notifications_of(event: AlertEvent, alert: Alert, rules: Collection[ChannelRule]) -> list[Notification]:
    """One for each channel to notify. `alert`: its state after the event."""
    happening = happening_of(event)
    wording = wording_of(event, alert)
    cause = alert.cause
    together = upgrade_words(cause.library, cause.before, cause.after) if event.finding and cause.library else ""
    return [
        _notification(name, happening, event.at, wording, event.alert_id, event.number, together=together)
        for name in _channels(alert.notify, rules, happening)
    ]


def improvements_of(screening: Screening, rules: Collection[ChannelRule]) -> list[Notification]:
    """Of a run's upgrades that made something faster. An upgrade is reported once, even if it is measured again, and
    with what became slower by it."""
    notifications = []
    for upgrade in screening.upgrades:
        if not upgrade.less:
            continue
        wording = improvement_wording(upgrade)
        metric = [] if upgrade.metric is Metric.CPU_NS else [upgrade.metric]
        cause = content_hash(["improved", upgrade.library, upgrade.before.subject, upgrade.after.subject, *metric])
        together = upgrade_words(upgrade.library, upgrade.before.version, upgrade.after.version)
        notifications += [
            _notification(name, Happening.IMPROVED, screening.at, wording, cause=cause, together=together)
            for name in _channels((), rules, Happening.IMPROVED)
        ]
    return notifications


def _notification(
    channel: str,
    happening: Happening,
    at: datetime,
    wording: Wording,
    alert_id: str = "",
    number: int = 0,
    cause: str = "",
    together: str = "",
) -> Notification:
    """For an event of an alert, or for a cause without an alert."""
    return Notification(
        notification_id=Notification.id_of(alert_id or cause, number, channel),
        channel=channel,
        happening=happening,
        alert_id=alert_id,
        number=number,
        together=together,
        created_at=at,
        **vars(wording),
    )


def _channels(notify: Iterable[str], rules: Collection[ChannelRule], happening: Happening) -> list[str]:
    """The channels that a spec names, or all if it names none. A channel that isn't configured is included, so that
    people see what waits for it."""
    events = {rule.name: rule.events for rule in rules}
    return [name for name in tuple(notify) or events if happening in events.get(name, AT_ONCE)]
