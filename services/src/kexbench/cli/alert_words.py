"""What the command line tells of alerts."""

from rich.table import Table
from rich.text import Text

from kexbench.alerts.events import moment_words
from kexbench.api.alert_models import AlertSummary
from kexbench.cli.words import percent
from kexbench.domain.alerts import Alert, AlertCell
from kexbench.domain.judgements import ReplayedUpgrade

SHORT_ID = 8
"""As much of an id as is printed in a list."""


def alerts_table(alerts: list[AlertSummary]) -> Table:
    """An alert a row: how it stands beside what it is."""
    table = Table(box=None, header_style="bold")
    for column in ("alert", "raised", "status", "what"):
        table.add_column(column, no_wrap=column in ("alert", "raised"), overflow="fold")
    for one in alerts:
        words = [one.sentence, *standing(one)]
        table.add_row(one.alert_id[:SHORT_ID], f"{one.raised_at:%Y-%m-%d}", one.status, Text("\n".join(words)))
    return table


def replayed_table(upgrades: list[ReplayedUpgrade]) -> Table:
    """An upgrade a row: what became of the suspicion beside what it is."""
    table = Table(box=None, header_style="bold")
    for column in ("measured", "cells", "outcome", "what"):
        table.add_column(column, no_wrap=column != "what", overflow="fold")
    for one in upgrades:
        cells = f"{one.cells} of {one.compared}"
        table.add_row(f"{one.measured_at:%Y-%m-%d}", cells, one.outcome, Text(one.sentence))
    return table


def standing(alert: AlertSummary | Alert) -> list[str]:
    """What is said of an alert beside its status, a line each."""
    found = []
    if alert.ignored_until:
        found.append(f"open again on {moment_words(alert.ignored_until)}")
    if alert.fixed_in:
        found.append(f"fixed in {alert.fixed_in}")
    if alert.assignee:
        found.append(f"assigned to {alert.assignee}")
    if alert.due:
        found.append(f"due {alert.due:%Y-%m-%d}")
    return found


def cells_table(cells: tuple[AlertCell, ...]) -> Table:
    """Those that cost most more first."""
    table = Table(box=None, header_style="bold")
    table.add_column("case", overflow="fold")
    table.add_column("on", overflow="fold")
    for column in ("side", "costs", "95% interval"):
        table.add_column(column, no_wrap=True, justify="right")
    for cell in sorted(cells, key=lambda cell: -cell.move.ratio):
        move = cell.move
        where = Text(f"{cell.cpu_model}, {cell.pool}")
        interval = f"{percent(move.low)} to {percent(move.high)}"
        table.add_row(Text(cell.title), where, cell.side, percent(move.ratio), interval)
    return table
