"""How the command line prints alerts."""

from datetime import datetime

from rich.table import Table
from rich.text import Text

from kexbench.alerts.events import moment_words
from kexbench.alerts.reading import AlertSummary, UnderConfirmation
from kexbench.domain.alerts import Alert, AlertCell
from kexbench.domain.metrics import Metric
from kexbench.domain.numbers import amounts_words, counted, duration_words, listed, percent
from kexbench.domain.screenings import ReplayedUpgrade

SHORT_ID = 8
"""Characters of an id in a list."""


def alerts_table(alerts: list[AlertSummary]) -> Table:
    """One row an alert."""
    table = Table(box=None, header_style="bold")
    for column in ("alert", "raised", "status", "what"):
        table.add_column(column, no_wrap=column in ("alert", "raised"), overflow="fold")
    for alert in alerts:
        lines = [alert.sentence, *standing(alert)]
        table.add_row(alert.alert_id[:SHORT_ID], f"{alert.raised_at:%Y-%m-%d}", alert.status, Text("\n".join(lines)))
    return table


def suspicion_text(suspicion: UnderConfirmation, now: datetime) -> str:
    """`openssl 3.5.6 → 3.5.7 looks slower in 3 cases of spec: run once-… decides, running, about 4 min left`."""
    metrics = listed([metric.words for metric in suspicion.metrics])
    versions = " → ".join(end.version for end in (suspicion.before, suspicion.after))
    where = f"{counted(suspicion.cells, 'case')} of {suspicion.spec_name}"
    ends = suspicion.expected_end_at
    left = f", about {duration_words(max(0.0, (ends - now).total_seconds()))} left" if ends else ""
    looks = "slower" if suspicion.metrics == [Metric.CPU_NS] else f"like more {metrics}"
    what = f"{suspicion.library} {versions} looks {looks} in {where}"
    return f"{what}: run {suspicion.confirmation_run} decides, {suspicion.state}{left}"


def replayed_table(upgrades: list[ReplayedUpgrade]) -> Table:
    """One row an upgrade."""
    table = Table(box=None, header_style="bold")
    for column in ("measured", "metric", "cells", "outcome", "what"):
        table.add_column(column, no_wrap=column != "what", overflow="fold")
    for upgrade in upgrades:
        cells = f"{upgrade.cells} of {upgrade.compared}"
        measured = f"{upgrade.measured_at:%Y-%m-%d}"
        table.add_row(measured, upgrade.metric, cells, upgrade.outcome, Text(upgrade.sentence))
    return table


def standing(alert: AlertSummary | Alert) -> list[str]:
    """Further facts of an alert, one line each."""
    lines = []
    if alert.ignored_until:
        lines.append(f"reopens on {moment_words(alert.ignored_until)}")
    if alert.fixed_in:
        lines.append(f"fixed in {alert.fixed_in}")
    if alert.assignee:
        lines.append(f"assigned to {alert.assignee}")
    if alert.due:
        lines.append(f"due {alert.due:%Y-%m-%d}")
    return lines


def cells_table(alert: Alert) -> Table:
    """The largest increase first. Exact values have no interval, and only CPU time has a side."""
    metric = alert.cause.metric or Metric.CPU_NS
    is_time = metric is Metric.CPU_NS
    table = Table(box=None, header_style="bold")
    table.add_column("case", overflow="fold")
    table.add_column("on", overflow="fold")
    others = (*(() if metric.row.exact else ("95% interval",)), *(("side",) if is_time else ()))
    for column in (metric.words, *others):
        table.add_column(column, no_wrap=True, justify="right")
    for cell in sorted(alert.cells, key=lambda cell: -cell.size):
        row = [cell.title, f"{cell.cpu_model}, {cell.pool}", _change(cell, metric)]
        interval = f"{percent(cell.move.low)} to {percent(cell.move.high)}" if cell.move else ""
        row += [*(() if metric.row.exact else (interval,)), *((cell.side,) if is_time else ())]
        table.add_row(*map(Text, row))
    return table


def _change(cell: AlertCell, metric: Metric) -> str:
    """`1,482 → 2,663 B (+79.7%)`; of an alert of an earlier release the change alone."""
    if cell.before is None or cell.after is None:
        return percent(cell.move.ratio) if cell.move else ""
    return amounts_words(cell.before, cell.after, metric.unit)
