"""The report of an upgrade as people read it in a terminal."""

from collections.abc import Iterable, Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from kexbench.api.upgrade_models import UpgradeView
from kexbench.cli.tables import case_text
from kexbench.cli.words import NS_PER_SECOND
from kexbench.domain.upgrades import CellVerdict, MissingCell, Move, UpgradeCell, UpgradeReport

HANDSHAKES = 10_000
LEGEND = (
    "Change of the CPU time of a handshake with its 95% interval: both sides together, then each. Cores: how many are\n"
    "busy with 10,000 handshakes a second, both sides together, before and after."
)
NAMED_CASES = 5
VERDICTS: dict[CellVerdict, str] = {
    "more": "costs more",
    "less": "costs less",
    "same": "the same",
    "unresolved": "cannot tell",
    "unlike": "not alike",
}


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
    title = Text(f"{cpu_model}, pool {pool}")  # as it is: a name in brackets is no markup
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), row_styles=["", "dim"])
    table.add_column("case", min_width=20)
    for column in ("change", "client", "server", "cores", "verdict"):
        table.add_column(column, justify="left" if column == "verdict" else "right")
    for cell in cells:
        texts = (change_text(cell.move), side_text(cell.client), side_text(cell.server))
        table.add_row(*map(Text, (case_text(cell.title), *texts, cores_text(cell), verdict_text(cell))))
    return table


def change_text(move: Move | None) -> str:
    """`+1.20%` over `[+0.91%, +1.49%]`."""
    return f"{side_text(move)}\n[{move.low - 1:+.2%}, {move.high - 1:+.2%}]" if move else side_text(move)


def side_text(move: Move | None) -> str:
    return f"{move.ratio - 1:+.2%}" if move else "none"


def cores_text(cell: UpgradeCell) -> str:
    """`4.00 → 4.08`."""
    if cell.before_ns is None or cell.after_ns is None:
        return "none"
    return f"{cores(cell.before_ns):.3g} → {cores(cell.after_ns):.3g}"


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
    lines += [f"{warning}: {_cases(titles, len(report.cells))}" for warning, titles in by_warning.items()]
    lines += _missing_lines(report.missing)
    lines += [f"changed default, {note}" for note in report.defaults]
    return lines + [f"mended, {note}" for note in report.security]


def _missing_lines(missing: Iterable[MissingCell]) -> list[str]:
    by_reason: dict[tuple[str, str], list[str]] = {}
    for cell in missing:
        by_reason.setdefault((cell.version, cell.reason), []).append(cell.title)
    return [f"{version}: {reason}: {_cases(titles)}" for (version, reason), titles in by_reason.items()]


def _cases(titles: Sequence[str], of_all: int | None = None) -> str:
    if len(titles) == of_all and of_all > 1:
        return "all"
    different = list(dict.fromkeys(titles))
    more = len(different) - NAMED_CASES
    return "; ".join(different[:NAMED_CASES]) + (f"; and {more:,} more" if more > 0 else "")


def upgrades_table(listed: Sequence[UpgradeView]) -> Table:
    table = Table(box=None, header_style="bold")
    for column in ("library", "before", "after", "cells", "measured"):
        table.add_column(column, justify="right" if column == "cells" else "left", overflow="fold")
    for one in listed:
        ends = (f"{end.version}\n{end.source}" for end in (one.before, one.after))
        table.add_row(*map(Text, (one.library, *ends, f"{one.cells:,}", f"{one.measured_at:%Y-%m-%d %H:%M}")))
    return table
