"""Messages made from notifications, with links to pages and the message's key. Pure."""

from collections import Counter
from collections.abc import Sequence

from kexbench.domain.notifications import Happening, Notification
from kexbench.forges.markdown import code
from kexbench.notify.port import Letter

SHOWN_MAX = 50
"""The most notifications that one message lists."""
_KINDS = {
    Happening.RAISED: "regressions",
    Happening.GREW: "regressions in more cases",
    Happening.EXPLAINED: "explained",
    Happening.FIXED: "fixed",
    Happening.STALE: "without new results",
    Happening.IMPROVED: "improvements",
}
_OTHER = "other"


def letter_of(key: str, notifications: Sequence[Notification], pages_url: str) -> Letter:
    """One notification in full; several as a list of their titles."""
    pages = pages_url.rstrip("/")
    if len(notifications) == 1:
        (notification,) = notifications
        text = "\n".join(f"{link.text}: {pages}{link.path}" for link in notification.links)
        markdown = "\n".join(f"- [{link.text}](<{pages}{link.path}>)" for link in notification.links)
        return _signed(key, notification.title, [notification.text, text], [notification.markdown, markdown])
    shown = notifications[:SHOWN_MAX]
    more = len(notifications) - len(shown)
    footer = [f"And {more:,} more: {pages}/alerts"] if more else []
    text = "\n".join(f"- {row.title}\n  {pages}{_path(row)}" for row in shown)
    markdown = "\n".join(f"- {code(row.title)} [more](<{pages}{_path(row)}>)" for row in shown)
    head = "Oldest first:"
    about = {notification.together for notification in notifications}
    subject = "".join(about) if len(about) == 1 else ""
    title = f"{subject}: {_summary(notifications)}" if subject else f"kexbench: {_summary(notifications)}"
    return _signed(key, title, [head, text, *footer], [head, markdown, *footer])


def trial_letter(key: str, channel: str) -> Letter:
    text = f"This is a test of the kexbench channel {channel}. No action is needed."
    return _signed(key, "kexbench: test message", [text], [text])


def _summary(notifications: Sequence[Notification]) -> str:
    """`2 slower, 1 fixed`"""
    counts = Counter(_KINDS.get(row.happening, _OTHER) for row in notifications)
    return ", ".join(f"{counts[kind]:,} {kind}" for kind in (*_KINDS.values(), _OTHER) if counts[kind])


def _path(notification: Notification) -> str:
    return next((link.path for link in notification.links), "/alerts")


def _signed(key: str, title: str, text: Sequence[str], markdown: Sequence[str]) -> Letter:
    signature = f"kexbench message {key}. A second copy with this key is the same message."
    plain, marked = ("\n\n".join(part for part in (*parts, signature) if part) for parts in (text, markdown))
    return Letter(key, title, plain, marked)
