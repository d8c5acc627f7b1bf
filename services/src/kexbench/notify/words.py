"""The wording of notifications about alerts, as plain text and as Markdown. Pure.

Text that others wrote (notes, names, reasons) is in code spans in the Markdown, as in comments on forges.
"""

from collections.abc import Callable, Sequence
from urllib.parse import quote

from kexbench.analysis.sentences import culprit_sentence
from kexbench.domain.alerts import Alert, AlertAction, AlertCell, AlertEvent, AlertKind, Cause
from kexbench.domain.libraries import LIBRARIES, Library
from kexbench.domain.metrics import Metric
from kexbench.domain.notifications import Link, Wording
from kexbench.domain.numbers import amounts_words, counted, percent
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
_FEWER = {"ns": "less", "bytes": "fewer", "count": "fewer", "ppm": "less"}
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
    before, after, metric = line(upgrade.before.label), line(upgrade.after.label), upgrade.metric
    share = f"{upgrade.less:,} of {counted(upgrade.compared, 'comparison')}"
    links = (upgrade_page(upgrade.library, upgrade.before.subject, upgrade.after.subject),)
    if metric is Metric.CPU_NS:
        slower = f" It looked slower in {upgrade.more:,}." if upgrade.more else ""
        text = f"{after} was faster than {before} in {share}.{slower} No action is needed."
        title = f"{after} is faster than {before} in {share}"
    else:
        others = f" There were more in {upgrade.more:,}." if upgrade.more else ""
        title = f"{after} has {_FEWER[metric.unit]} {metric.words} than {before} in {share}"
        text = f"{title}.{others} No action is needed."
    return _wording(title, lambda _: [_prose(text)], links)


def _wording(title: str, paragraphs: Callable[[Foreign], Sequence[str]], links: tuple[Link, ...]) -> Wording:
    """The paragraphs as plain text and as Markdown, where text of others is code."""
    text, markdown = ("\n\n".join(paragraphs(foreign)) for foreign in (line, code))
    return Wording(title=line(title, 200), text=text, markdown=markdown, links=links)


def subject_of(alert: Alert) -> str:
    """The subject of an alert, in one line."""
    cause = alert.cause
    if cause.kind is AlertKind.STALE:
        return f"no new results for {_listed(alert.spec_names)}"
    if _metric(cause) is Metric.CPU_NS:
        return f"{_after(cause)} is slower than {line(cause.before)}"
    return f"{_after(cause)} has more {_metric(cause).words} than {line(cause.before)}"


def upgrade_words(library: Library, before: str, after: str) -> str:
    """`OpenSSL 3.4.1 → 3.5.0`"""
    return f"{LIBRARIES[library].title} {line(before)} → {line(after)}"


def _metric(cause: Cause) -> Metric:
    """Of an upgrade."""
    assert cause.metric is not None
    return cause.metric


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
        more = "slower" if _metric(cause) is Metric.CPU_NS else f"with more {_metric(cause).words}"
        return f"{version} is no longer {more} than {line(cause.before)}"
    if event.action is AlertAction.EXPLAINED:
        function = f"mostly in {line(event.culprits[0].function)}" if event.culprits else "counts name no function"
        return f"Why {subject_of(alert)}: {function}"
    if event.action is AlertAction.GREW and event.finding:
        return f"{subject_of(alert)} in more cases: {_extent(event.finding.cells, _metric(cause))}"
    return f"{subject_of(alert)}: {_extent(alert.cells, _metric(cause))}"


def _paragraphs(event: AlertEvent, alert: Alert, foreign: Foreign) -> list[str]:
    cause, finding = alert.cause, event.finding
    note = [f"Note: {foreign(event.note)}"] if event.note.strip() else []
    if cause.kind is AlertKind.STALE:
        if finding:
            return [_prose(finding.sentence), f"Cause: {foreign(cause.after)}", *note]
        return note or [f"The cause was: {foreign(cause.after)}"]
    metric = _metric(cause)
    if finding:
        costs = f"TLS handshakes cost more {metric.words} with {_after(cause)} than with {line(cause.before)}"
        sure = "All invocations of both show this." if metric.row.exact else "A longer run confirmed this."
        return [
            _prose(f"{costs}. {sure}"),
            _prose(finding.sentence),
            *_cells(finding.cells, metric, foreign),
            *note,
        ]
    if event.action is AlertAction.FIXED:
        made = "made slower now cost" if metric is Metric.CPU_NS else f"gave more {metric.words} now have"
        return [_prose(f"The cases that {_after(cause)} {made} no more than with {line(cause.before)}."), *note]
    if event.action is AlertAction.EXPLAINED:
        return [*_explanation(event, foreign), *note]
    return [*note, *_cells(alert.cells, metric, foreign)]


def _explanation(event: AlertEvent, foreign: Foreign) -> list[str]:
    """The functions that counts name."""
    if not event.culprits:
        return ["A count by function found no more in these cases. The change has another cause."]
    rows = [f"- {foreign(culprit_sentence(culprit))}" for culprit in event.culprits]
    return ["\n".join([f"Counted {event.culprits[0].instrument}:", "", *rows])]


def _cells(cells: Sequence[AlertCell], metric: Metric, foreign: Foreign) -> list[str]:
    """The largest changes, and where they were measured."""
    shown = sorted(cells, key=lambda cell: (-cell.size, cell.case_id, cell.pool))
    rows = [f"- {foreign(cell.title)}: {_moved(cell, metric)}" for cell in shown[:ROWS_MAX]]
    more = [f"- and {len(shown) - ROWS_MAX:,} more"] if len(shown) > ROWS_MAX else []
    if not rows:
        return []
    places = dict.fromkeys((cell.cpu_model, cell.pool) for cell in shown)
    measured = "; ".join(f"{foreign(cpu)}, pool {foreign(pool)}" for cpu, pool in places)
    head = f"Cases with more {metric.words}:"
    if metric is Metric.CPU_NS:
        head = "Slower cases (CPU time of client and server together, 95% confidence interval):"
    return ["\n".join([head, "", *rows, *more]), f"Measured on {measured}."]


def _moved(cell: AlertCell, metric: Metric) -> str:
    """`+7.5% (+7.4% to +7.6%), server side` of a time, `1,482 → 2,663 B (+79.7%)` of an exact metric."""
    if metric.row.exact or cell.move is None:
        return amounts_words(cell.before or 0.0, cell.after or 0.0, metric.unit)
    move = cell.move
    return f"{percent(move.ratio)} ({percent(move.low)} to {percent(move.high)}){_side(cell, metric)}"


def _side(cell: AlertCell, metric: Metric) -> str:
    """Only the time of both sides together is split."""
    return f", {_SIDES[cell.side]}" if metric is Metric.CPU_NS else ""


def _extent(cells: Sequence[AlertCell], metric: Metric) -> str:
    """`up to +7.5%, server side, 3 cases`, `up to 1,482 → 2,663 B (+79.7%), 3 cases`"""
    if not cells:
        return "see the alert"
    worst = max(cells, key=lambda cell: cell.size)
    cases = counted(len({cell.case_id for cell in cells}), "case")
    most = "up to " if len(cells) > 1 else ""
    if metric.row.exact or worst.move is None:
        return f"{most}{amounts_words(worst.before or 0.0, worst.after or 0.0, metric.unit)}, {cases}"
    return f"{most}{percent(worst.move.ratio)}{_side(worst, metric)}, {cases}"


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
