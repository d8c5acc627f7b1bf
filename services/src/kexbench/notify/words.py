"""What people read of what happened to an alert, without the pages beside it. Plain text and Markdown, pure.

What others wrote (notes, names, reasons) stands in code spans in the Markdown, as in comments at forges.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from kexbench.domain.alerts import Alert, AlertAction, AlertCell, AlertEvent, AlertKind, Cause
from kexbench.domain.judgements import JudgedUpgrade
from kexbench.domain.libraries import LIBRARIES
from kexbench.domain.notifications import Link
from kexbench.domain.upgrades import Move
from kexbench.forges.markdown import code, counted, one_line

ROWS_MAX = 8
"""Of the cells in one notification."""
_LONGEST = 300
_SIDES = {"both": "both sides together", "client": "on the client's side", "server": "on the server's side"}
"""Which side a change of both sides together comes from."""
_LOOK_ALIKES = str.maketrans({"`": "'", "|": "¦", "<": "‹", ">": "›", "*": "∗", "[": "(", "]": ")"})
_BY_PEOPLE = {
    AlertAction.ACKNOWLEDGED: "{who} has seen that {subject}",
    AlertAction.CONFIRMED: "{who} confirms that {subject}",
    AlertAction.IGNORED: "{who} ignores{until} that {subject}",
    AlertAction.WRONG: "{who} says it is wrong that {subject}",
    AlertAction.REOPENED: "{who} opened again that {subject}",
    AlertAction.ASSIGNED: "{assigned}: {subject}",
    AlertAction.NOTED: "{who} notes: {subject}",
    AlertAction.DUE: "{due}: {subject}",
}
Foreign = Callable[[str], str]
"""How text of others is shown."""


@dataclass(frozen=True)
class Told:
    title: str
    text: str
    markdown: str
    links: tuple[Link, ...]


def line(text: str, most: int = _LONGEST) -> str:
    """On one line, without control characters, of some length."""
    found = one_line(text)
    return found if len(found) <= most else f"{found[: most - 1]}…"


def told_of(event: AlertEvent, alert: Alert) -> Told:
    """`alert` as the event left it."""
    links = (Link(text="The alert", path=f"/alerts/{alert.alert_id}"), *_upgrade_link(alert))
    return _told(_title(event, alert), lambda foreign: _paragraphs(event, alert, foreign), links)


def told_of_improvement(upgrade: JudgedUpgrade) -> Told:
    before, after = line(upgrade.before.label), line(upgrade.after.label)
    cells = counted(upgrade.less, "comparison")
    more = f" {counted(upgrade.more, 'other')} looked slower." if upgrade.more else ""
    said = (
        f"Of {counted(upgrade.compared, 'comparison')} of a case on a kind of CPU, {cells} came out cheaper with"
        f" {after} than with {before}.{more} Nobody has to do anything."
    )
    links = (_upgrade_page(upgrade.library, upgrade.before.subject, upgrade.after.subject),)
    title = f"{after} is faster than {before} in {upgrade.less:,} of {counted(upgrade.compared, 'comparison')}"
    return _told(title, lambda _: [_prose(said)], links)


def _told(title: str, paragraphs: Callable[[Foreign], Sequence[str]], links: tuple[Link, ...]) -> Told:
    """The same paragraphs twice, with text of others shown as it is, and as code."""
    text, markdown = ("\n\n".join(paragraphs(foreign)) for foreign in (line, code))
    return Told(line(title, 200), text, markdown, links)


def subject_of(alert: Alert) -> str:
    """What an alert is about, in one line."""
    cause = alert.cause
    if cause.kind is AlertKind.STALE:
        return f"nothing new is measured of {_listed(alert.spec_names)}"
    return f"{_after(cause)} is slower than {line(cause.before)}"


def _title(event: AlertEvent, alert: Alert) -> str:
    if event.action in _BY_PEOPLE:
        return _BY_PEOPLE[event.action].format(
            who=line(event.author),
            subject=subject_of(alert),
            until=f" until {event.until:%Y-%m-%d %H:%M} UTC" if event.until else "",
            assigned=f"{line(event.assignee)} is to look at it"
            if event.assignee
            else "Nobody is to look at it any more",
            due=f"To be settled by {event.due:%Y-%m-%d}" if event.due else "No day is set any more",
        )
    return _title_of_stale(event, alert) if alert.cause.kind is AlertKind.STALE else _title_of_upgrade(event, alert)


def _title_of_stale(event: AlertEvent, alert: Alert) -> str:
    if event.action is AlertAction.FIXED:
        return f"Measured again: {_listed(alert.spec_names)}"
    if event.action is AlertAction.GREW and event.finding:
        return f"Nothing new is measured of {_listed(event.finding.spec_names)} either"
    return f"Nothing new is measured of {_listed(alert.spec_names)}"


def _title_of_upgrade(event: AlertEvent, alert: Alert) -> str:
    cause = alert.cause
    if event.action is AlertAction.FIXED:
        version = f"{_name(cause)} {line(event.fixed_in)}" if event.fixed_in else f"A later {_name(cause)}"
        return f"{version} is no slower than {line(cause.before)} any more"
    if event.action is AlertAction.GREW and event.finding:
        return f"{subject_of(alert)} elsewhere too: {_extent(event.finding.cells)}"
    return f"{subject_of(alert)}: {_extent(alert.cells)}"


def _paragraphs(event: AlertEvent, alert: Alert, foreign: Foreign) -> list[str]:
    cause, found = alert.cause, event.finding
    note = [f"Note: {foreign(event.note)}"] if event.note.strip() else []
    if cause.kind is AlertKind.STALE:
        if found:
            return [_prose(found.sentence), f"What broke it: {foreign(cause.after)}", *note]
        return note or [f"What had broken it: {foreign(cause.after)}"]
    if found:
        costs = f"With {_after(cause)} a TLS handshake costs more CPU time than with {line(cause.before)}"
        confirmed = "A longer run of its own confirmed it."
        return [_prose(f"{costs}. {confirmed}"), _prose(found.sentence), *_cells(found.cells, foreign), *note]
    if event.action is AlertAction.FIXED:
        return [
            _prose(f"What cost more with {_after(cause)} costs what it did with {line(cause.before)}, or less."),
            *note,
        ]
    return [*note, *_cells(alert.cells, foreign)]


def _cells(cells: Sequence[AlertCell], foreign: Foreign) -> list[str]:
    """The largest moves, and where they were measured."""
    shown = sorted(cells, key=lambda cell: (-cell.move.ratio, cell.case_id, cell.pool))
    rows = [f"- {foreign(cell.title)}: {_moved(cell.move)}, {_SIDES[cell.side]}" for cell in shown[:ROWS_MAX]]
    more = [f"- and {len(shown) - ROWS_MAX:,} more"] if len(shown) > ROWS_MAX else []
    if not rows:
        return []
    places = dict.fromkeys((cell.cpu_model, cell.pool) for cell in shown)
    measured = "; ".join(f"{foreign(cpu)}, pool {foreign(pool)}" for cpu, pool in places)
    head = "What costs more: CPU time of client and server together, with its 95% confidence interval:"
    return ["\n".join([head, "", *rows, *more]), f"Measured on {measured}."]


def _moved(move: Move) -> str:
    return f"{_percent(move.ratio)} ({_percent(move.low)} to {_percent(move.high)})"


def _extent(cells: Sequence[AlertCell]) -> str:
    """`up to +7.5%, on the server's side, 3 cases`"""
    if not cells:
        return "see the alert"
    worst = max(cells, key=lambda cell: cell.move.ratio)
    cases = counted(len({cell.case_id for cell in cells}), "case")
    most = "up to " if len(cells) > 1 else ""
    return f"{most}{_percent(worst.move.ratio)}, {_SIDES[worst.side]}, {cases}"


def _percent(ratio: float) -> str:
    return f"{ratio - 1:+.1%}"


def _after(cause: Cause) -> str:
    return f"{_name(cause)} {line(cause.after)}"


def _name(cause: Cause) -> str:
    return LIBRARIES[cause.library].title if cause.library else ""


def _upgrade_link(alert: Alert) -> tuple[Link, ...]:
    cause = alert.cause
    if cause.kind is not AlertKind.UPGRADE or cause.library is None:
        return ()
    before, after = alert.subjects or (cause.before, cause.after)
    return (_upgrade_page(cause.library, before, after),)


def _upgrade_page(library: str, before: str, after: str) -> Link:
    parts = "/".join(quote(part, safe="") for part in (library, before, after))
    return Link(text="Everything about this upgrade", path=f"/upgrades/{parts}")


def _prose(text: str) -> str:
    """A sentence of our own that names versions, and may quote others."""
    return line(text, 1500).translate(_LOOK_ALIKES)


def _listed(names: Sequence[str]) -> str:
    shown = [line(name, 80) for name in names[:3]]
    return ", ".join(shown) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
