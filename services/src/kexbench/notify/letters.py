"""Notifications as the message that people get: with links to the pages, and the key that it is known by. Pure."""

from collections import Counter
from collections.abc import Sequence

from kexbench.domain.notifications import Happening, Notification
from kexbench.forges.markdown import code
from kexbench.notify.port import Letter

SHOWN_MAX = 50
"""Of several in one message."""
_KINDS = {
    Happening.RAISED: "slower",
    Happening.GREW: "slower elsewhere too",
    Happening.FIXED: "fixed",
    Happening.STALE: "no longer measured",
    Happening.IMPROVED: "faster",
}
_OTHER = "other news"


def letter_of(key: str, notifications: Sequence[Notification], pages_url: str) -> Letter:
    """One notification as it was written; several as a list of their titles."""
    pages = pages_url.rstrip("/")
    if len(notifications) == 1:
        (only,) = notifications
        text = "\n".join(f"{link.text}: {pages}{link.path}" for link in only.links)
        markdown = "\n".join(f"- [{link.text}](<{pages}{link.path}>)" for link in only.links)
        return _signed(key, only.title, [only.text, text], [only.markdown, markdown])
    shown = notifications[:SHOWN_MAX]
    more = len(notifications) - len(shown)
    rest = [f"And {more:,} more: {pages}/alerts"] if more else []
    text = "\n".join(f"- {one.title}\n  {pages}{_path(one)}" for one in shown)
    markdown = "\n".join(f"- {code(one.title)} [more](<{pages}{_path(one)}>)" for one in shown)
    head = "What happened, oldest first:"
    return _signed(key, f"kexbench: {_summary(notifications)}", [head, text, *rest], [head, markdown, *rest])


def trial_letter(key: str, channel: str) -> Letter:
    said = f"This is a test of kexbench's channel {channel}. Nothing happened, and nobody has to do anything."
    return _signed(key, "kexbench: a test, nothing happened", [said], [said])


def _summary(notifications: Sequence[Notification]) -> str:
    """`2 slower, 1 fixed`"""
    counted = Counter(_KINDS.get(one.happening, _OTHER) for one in notifications)
    return ", ".join(f"{counted[kind]:,} {kind}" for kind in (*_KINDS.values(), _OTHER) if counted[kind])


def _path(notification: Notification) -> str:
    return next((link.path for link in notification.links), "/alerts")


def _signed(key: str, title: str, text: Sequence[str], markdown: Sequence[str]) -> Letter:
    signature = f"kexbench, message {key}. Should it come twice, it is the same one."
    plain, marked = ("\n\n".join(part for part in (*parts, signature) if part) for parts in (text, markdown))
    return Letter(key, title, plain, marked)
