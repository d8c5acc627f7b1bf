"""The wording of notifications about alerts, as plain text and as Markdown. Pure.

Text that others wrote (notes, names, reasons) is in code spans in the Markdown, as in comments on forges.
"""

from collections.abc import Callable, Sequence
from urllib.parse import quote

from kexbench.analysis.sentences import culprit_sentence
from kexbench.domain.alerts import Alert, AlertAction, AlertCell, AlertEvent, AlertKind, Cause
from kexbench.domain.intervals import Ratio
from kexbench.domain.libraries import LIBRARIES
from kexbench.domain.notifications import Link, Wording
from kexbench.domain.numbers import counted, percent
from kexbench.domain.screenings import ScreenedUpgrade
from kexbench.forges.markdown import code, one_line

ROWS_MAX = 8
"""The most cells that one notification lists."""
_LONGEST = 300
_SIDES = {"both": "both sides", "client": "client side", "server": "server side"}
"""The side that a change of the CPU time comes from."""
_LOOK_ALIKES = str.maketrans({"`": "'", "|": "¦", "<": "‹", ">": "›", "*": "∗", "[": "(", "]": ")"})
_BY_PEOPLE = {
    AlertAction.ACKNOWLEDGED: "{who} acknowledged: {subject}",
    AlertAction.CONFIRMED: "{who} confirmed: {subject}",
    AlertAction.IGNORED: "{who} ignored{until}: {subject}",
    AlertAction.WRONG: "{who} marked as a false positive: {subject}",
    AlertAction.REOPENED: "{who} reopened: {subject}",
    AlertAction.ASSIGNED: "{assigned}: {subject}",
    AlertAction.NOTED: "{who} commented: {subject}",
    AlertAction.DUE: "{due}: {subject}",
}
Foreign = Callable[[str], str]
"""How text that others wrote is shown."""


def line(text: str, most: int = _LONGEST) -> str:
    """The text on one line, without control characters, cut to `most` characters."""
    whole = one_line(text)
    return whole if len(whole) <= most else f"{whole[: most - 1]}…"


def wording_of(event: AlertEvent, alert: Alert) -> Wording:
    """`alert`: its state after the event."""
    links = (Link(text="Open the alert", path=f"/alerts/{alert.alert_id}"), *_upgrade_link(alert))
    return _wording(_title(event, alert), lambda foreign: _paragraphs(event, alert, foreign), links)


def improvement_wording(upgrade: ScreenedUpgrade) -> Wording:
    before, after = line(upgrade.before.label), line(upgrade.after.label)
    share = f"{upgrade.less:,} of {counted(upgrade.compared, 'comparison')}"
    slower = f" It looked slower in {upgrade.more:,}." if upgrade.more else ""
    text = f"{after} was faster than {before} in {share}.{slower} No action is needed."
    links = (upgrade_page(upgrade.library, upgrade.before.subject, upgrade.after.subject),)
    return _wording(f"{after} is faster than {before} in {share}", lambda _: [_prose(text)], links)


def _wording(title: str, paragraphs: Callable[[Foreign], Sequence[str]], links: tuple[Link, ...]) -> Wording:
    """The paragraphs as plain text and as Markdown, where text of others is code."""
    text, markdown = ("\n\n".join(paragraphs(foreign)) for foreign in (line, code))
    return Wording(title=line(title, 200), text=text, markdown=markdown, links=links)


def subject_of(alert: Alert) -> str:
    """The subject of an alert, in one line."""
    cause = alert.cause
    if cause.kind is AlertKind.STALE:
        return f"no new results for {_listed(alert.spec_names)}"
    return f"{_after(cause)} is slower than {line(cause.before)}"


def _title(event: AlertEvent, alert: Alert) -> str:
    if event.action in _BY_PEOPLE:
        return _BY_PEOPLE[event.action].format(
            who=line(event.author),
            subject=subject_of(alert),
            until=f" until {event.until:%Y-%m-%d %H:%M} UTC" if event.until else "",
            assigned=f"Assigned to {line(event.assignee)}" if event.assignee else "Unassigned",
            due=f"Due {event.due:%Y-%m-%d}" if event.due else "Due date removed",
        )
    return _title_of_stale(event, alert) if alert.cause.kind is AlertKind.STALE else _title_of_upgrade(event, alert)


def _title_of_stale(event: AlertEvent, alert: Alert) -> str:
    if event.action is AlertAction.FIXED:
        return f"New results again for {_listed(alert.spec_names)}"
    if event.action is AlertAction.GREW and event.finding:
        return f"No new results for {_listed(event.finding.spec_names)} either"
    return f"No new results for {_listed(alert.spec_names)}"


def _title_of_upgrade(event: AlertEvent, alert: Alert) -> str:
    cause = alert.cause
    if event.action is AlertAction.FIXED:
        version = f"{_name(cause)} {line(event.fixed_in)}" if event.fixed_in else f"A later {_name(cause)}"
        return f"{version} is no longer slower than {line(cause.before)}"
    if event.action is AlertAction.EXPLAINED:
        function = f"mostly in {line(event.culprits[0].function)}" if event.culprits else "not more instructions"
        return f"Why {subject_of(alert)}: {function}"
    if event.action is AlertAction.GREW and event.finding:
        return f"{subject_of(alert)} in more cases: {_extent(event.finding.cells)}"
    return f"{subject_of(alert)}: {_extent(alert.cells)}"


def _paragraphs(event: AlertEvent, alert: Alert, foreign: Foreign) -> list[str]:
    cause, finding = alert.cause, event.finding
    note = [f"Note: {foreign(event.note)}"] if event.note.strip() else []
    if cause.kind is AlertKind.STALE:
        if finding:
            return [_prose(finding.sentence), f"Cause: {foreign(cause.after)}", *note]
        return note or [f"The cause was: {foreign(cause.after)}"]
    if finding:
        costs = f"TLS handshakes cost more CPU time with {_after(cause)} than with {line(cause.before)}"
        return [
            _prose(f"{costs}. A longer run confirmed this."),
            _prose(finding.sentence),
            *_cells(finding.cells, foreign),
            *note,
        ]
    if event.action is AlertAction.FIXED:
        return [
            _prose(f"The cases that {_after(cause)} made slower now cost no more than with {line(cause.before)}."),
            *note,
        ]
    if event.action is AlertAction.EXPLAINED:
        return [*_explanation(event, foreign), *note]
    return [*note, *_cells(alert.cells, foreign)]


def _explanation(event: AlertEvent, foreign: Foreign) -> list[str]:
    """The functions that counted instructions name."""
    if not event.culprits:
        return ["A count of instructions found no more of them in these cases. The time has another cause."]
    rows = [f"- {foreign(culprit_sentence(culprit))}" for culprit in event.culprits]
    return ["\n".join(["Counted instructions:", "", *rows])]


def _cells(cells: Sequence[AlertCell], foreign: Foreign) -> list[str]:
    """The largest changes, and where they were measured."""
    shown = sorted(cells, key=lambda cell: (-cell.move.ratio, cell.case_id, cell.pool))
    rows = [f"- {foreign(cell.title)}: {_moved(cell.move)}, {_SIDES[cell.side]}" for cell in shown[:ROWS_MAX]]
    more = [f"- and {len(shown) - ROWS_MAX:,} more"] if len(shown) > ROWS_MAX else []
    if not rows:
        return []
    places = dict.fromkeys((cell.cpu_model, cell.pool) for cell in shown)
    measured = "; ".join(f"{foreign(cpu)}, pool {foreign(pool)}" for cpu, pool in places)
    head = "Slower cases (CPU time of client and server together, 95% confidence interval):"
    return ["\n".join([head, "", *rows, *more]), f"Measured on {measured}."]


def _moved(move: Ratio) -> str:
    return f"{percent(move.ratio)} ({percent(move.low)} to {percent(move.high)})"


def _extent(cells: Sequence[AlertCell]) -> str:
    """`up to +7.5%, server side, 3 cases`"""
    if not cells:
        return "see the alert"
    worst = max(cells, key=lambda cell: cell.move.ratio)
    cases = counted(len({cell.case_id for cell in cells}), "case")
    most = "up to " if len(cells) > 1 else ""
    return f"{most}{percent(worst.move.ratio)}, {_SIDES[worst.side]}, {cases}"


def _after(cause: Cause) -> str:
    return f"{_name(cause)} {line(cause.after)}"


def _name(cause: Cause) -> str:
    return LIBRARIES[cause.library].title if cause.library else ""


def _upgrade_link(alert: Alert) -> tuple[Link, ...]:
    cause = alert.cause
    if cause.kind is not AlertKind.UPGRADE or cause.library is None:
        return ()
    before, after = alert.subjects or (cause.before, cause.after)
    return (upgrade_page(cause.library, before, after),)


def upgrade_page(library: str, before: str, after: str) -> Link:
    parts = "/".join(quote(part, safe="") for part in (library, before, after))
    return Link(text="Open the upgrade", path=f"/upgrades/{parts}")


def _prose(text: str) -> str:
    """Our own sentence, which may contain text of others."""
    return line(text, 1500).translate(_LOOK_ALIKES)


def _listed(names: Sequence[str]) -> str:
    shown = [line(name, 80) for name in names[:3]]
    return ", ".join(shown) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
