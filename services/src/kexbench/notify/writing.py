"""Which channels are told of what happened, and the notifications of it. Pure: the same happening is the same
notifications, however often they are written."""

from collections.abc import Collection, Iterable
from datetime import datetime

from kexbench.domain.alerts import Alert, AlertEvent
from kexbench.domain.canonical import content_hash
from kexbench.domain.judgements import Judgement
from kexbench.domain.notifications import AT_ONCE, ChannelRule, Happening, Notification, happening_of
from kexbench.notify.words import Told, told_of, told_of_improvement


def notifications_of(event: AlertEvent, alert: Alert, rules: Collection[ChannelRule]) -> list[Notification]:
    """One for each channel that wants to be told; `alert` as the event left it."""
    happening = happening_of(event)
    told = told_of(event, alert)
    return [
        _notification(name, happening, event.at, told, event.alert_id, event.number)
        for name in _channels(alert.notify, rules, happening)
    ]


def improvements_of(judgement: Judgement, rules: Collection[ChannelRule]) -> list[Notification]:
    """Of the upgrades of a run that made something cheaper. An upgrade is told of once, however often it is
    measured."""
    found = []
    for upgrade in judgement.upgrades:
        if not upgrade.less:
            continue
        told = told_of_improvement(upgrade)
        cause = content_hash(["improved", upgrade.library, upgrade.before.subject, upgrade.after.subject])
        found += [
            _notification(name, Happening.IMPROVED, judgement.at, told, cause=cause)
            for name in _channels((), rules, Happening.IMPROVED)
        ]
    return found


def _notification(
    channel: str, happening: Happening, at: datetime, told: Told, alert_id: str = "", number: int = 0, cause: str = ""
) -> Notification:
    """Of an alert's event, or else of a cause."""
    return Notification(
        notification_id=Notification.id_of(alert_id or cause, number, channel),
        channel=channel,
        happening=happening,
        alert_id=alert_id,
        number=number,
        created_at=at,
        **vars(told),
    )


def _channels(notify: Iterable[str], rules: Collection[ChannelRule], happening: Happening) -> list[str]:
    """Those that a spec's rule names; all where it names none. One that isn't configured is told of what everybody is
    told of: so people see that something waits for it."""
    known = {rule.name: rule.events for rule in rules}
    return [name for name in tuple(notify) or known if happening in known.get(name, AT_ONCE)]
