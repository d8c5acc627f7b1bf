"""The Atom feed of upgrades and alerts (RFC 4287). Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from xml.etree.ElementTree import Element, SubElement, tostring

from kexbench.domain.alerts import Alert
from kexbench.domain.moments import Moment
from kexbench.domain.upgrades import UpgradeEnd
from kexbench.notify.words import line, subject_of, upgrade_page

PATH = "/feed.atom"
MEDIA_TYPE = "application/atom+xml"
_ATOM = "http://www.w3.org/2005/Atom"
_NEVER = datetime(1970, 1, 1, tzinfo=UTC)
"""A feed needs a time, even without entries."""


@dataclass(frozen=True)
class Entry:
    path: str
    """Of its page. With the address of the service it is the entry's id, which never changes."""
    title: str
    summary: str
    updated: Moment


def upgrade_entry(library: str, ends: tuple[UpgradeEnd, UpgradeEnd], measured_at: Moment, sentence: str) -> Entry:
    before, after = ends
    path = upgrade_page(library, before.subject, after.subject).path
    return Entry(path, f"{before.label} → {after.version}", sentence, measured_at)


def alert_entry(alert: Alert) -> Entry:
    return Entry(f"/alerts/{alert.alert_id}", f"Alert: {subject_of(alert)}", alert.sentence, alert.changed_at)


def atom(entries: Sequence[Entry], pages_url: str) -> str:
    """The feed, the last updated entries first. `pages_url`: where people reach the pages."""
    url = pages_url.rstrip("/")
    feed = Element("feed", xmlns=_ATOM)
    newest_first = sorted(entries, key=lambda entry: entry.updated, reverse=True)
    _add(feed, f"{url}{PATH}", "kexbench: upgrades and alerts", max((each.updated for each in entries), default=_NEVER))
    SubElement(feed, "link", rel="self", type=MEDIA_TYPE, href=f"{url}{PATH}")
    SubElement(feed, "link", rel="alternate", type="text/html", href=f"{url}/upgrades")
    SubElement(SubElement(feed, "author"), "name").text = "kexbench"
    for each in newest_first:
        entry = SubElement(feed, "entry")
        _add(entry, f"{url}{each.path}", line(each.title), each.updated)
        SubElement(entry, "link", rel="alternate", type="text/html", href=f"{url}{each.path}")
        SubElement(entry, "summary").text = line(each.summary, 2000)
    return tostring(feed, encoding="unicode", xml_declaration=False)


def _add(parent: Element, id: str, title: str, updated: Moment) -> None:
    SubElement(parent, "id").text = id
    SubElement(parent, "title").text = title
    SubElement(parent, "updated").text = updated.astimezone(UTC).isoformat()
