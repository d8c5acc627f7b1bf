"""The report of an upgrade as people read it in a terminal."""

from collections.abc import Iterable, Sequence

from rich.table import Table
from rich.text import Text

from kexbench.api.models import UpgradeView
from kexbench.cli.step_tables import NO_NUMBER, SIDE_COLUMNS, VERDICTS, along_text, case_table, case_text, move_text
from kexbench.cli.words import NS_PER_SECOND, cases_text
from kexbench.domain.samples import DISTURBED_REASON
from kexbench.domain.upgrades import MissingCell, UpgradeCell, UpgradeReport

HANDSHAKES = 10_000
LEGEND = (
    "Change of the CPU time of a handshake with its 95% interval: both sides together, then each. Cores: how many are "
    "busy with 10,000 handshakes a second, both sides together, before and after."
)
DISTURBED_SIDES = f"some invocations do not tell the client and the server apart: {DISTURBED_REASON}"


def cores(cpu_ns: float) -> float:
    """How many cores 10,000 handshakes a second keep busy."""
    return cpu_ns * HANDSHAKES / NS_PER_SECOND


def report_tables(report: UpgradeReport) -> list[Table]:
    """One for each host kind, in the order of the matrix."""
    kinds = dict.fromkeys((cell.pool, cell.cpu_model) for cell in report.cells)
    return [
        _table(pool, cpu_model, [cell for cell in report.cells if (cell.pool, cell.cpu_model) == (pool, cpu_model)])
        for pool, cpu_model in kinds
    ]


def _table(pool: str, cpu_model: str, cells: Sequence[UpgradeCell]) -> Table:
    along = along_text(change for cell in cells for change in cell.components)
    table = case_table(f"{cpu_model}, pool {pool}{along}", SIDE_COLUMNS)
    for cell in cells:
        without = "disturbed" if cell.disturbed else NO_NUMBER
        sides = (move_text(side, VERDICTS[side.verdict]) if side else without for side in (cell.client, cell.server))
        total = move_text(cell.move, verdict_text(cell))
        table.add_row(*map(Text, (f"{case_text(cell.title)}\n{cores_text(cell)}", total, *sides)))
    return table


def cores_text(cell: UpgradeCell) -> str:
    """`4.00 → 4.08 cores`."""
    if cell.before_ns is None or cell.after_ns is None:
        return NO_NUMBER
    return f"{cores(cell.before_ns):.3g} → {cores(cell.after_ns):.3g} cores"


def verdict_text(cell: UpgradeCell) -> str:
    """What cannot be told with what could be."""
    if cell.verdict != "unresolved":
        return VERDICTS[cell.verdict]
    if cell.resolves is None:
        return f"{VERDICTS[cell.verdict]}:\ntoo few invocations"
    return f"cannot resolve\nbelow {cell.resolves:.1%}"


def report_lines(report: UpgradeReport) -> list[str]:
    """What the cells are not alike in, which are missing, and what else came with the versions."""
    lines = []
    by_warning: dict[str, list[str]] = {}
    for cell in report.cells:
        for warning in cell.warnings:
            by_warning.setdefault(warning, []).append(cell.title)
    lines += [f"{warning}: {cases_text(titles, len(report.cells))}" for warning, titles in by_warning.items()]
    if disturbed := [cell.title for cell in report.cells if cell.disturbed]:
        lines.append(f"{DISTURBED_SIDES}: {cases_text(disturbed, len(report.cells))}")
    lines += _missing_lines(report.missing)
    lines += [f"changed default, {note}" for note in report.defaults]
    return lines + [f"mended, {note}" for note in report.security]


def _missing_lines(missing: Iterable[MissingCell]) -> list[str]:
    by_reason: dict[tuple[str, str], list[str]] = {}
    for cell in missing:
        by_reason.setdefault((cell.version, cell.reason), []).append(cell.title)
    return [f"{version}: {reason}: {cases_text(titles)}" for (version, reason), titles in by_reason.items()]


def upgrades_table(listed: Sequence[UpgradeView]) -> Table:
    table = Table(box=None, header_style="bold")
    for column in ("library", "before", "after", "cells", "measured"):
        table.add_column(column, justify="right" if column == "cells" else "left", overflow="fold")
    for one in listed:
        ends = (f"{end.version}\n{end.source}" for end in (one.before, one.after))
        table.add_row(*map(Text, (one.library, *ends, f"{one.cells:,}", f"{one.measured_at:%Y-%m-%d %H:%M}")))
    return table
