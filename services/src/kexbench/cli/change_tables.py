"""How costs changed from one end to another, for a terminal: one table a machine, with what its cells have to say."""

from collections.abc import Iterable, Sequence

from rich.table import Table
from rich.text import Text

from kexbench.cli.step_tables import (
    NO_RESULT,
    SIDE_COLUMNS,
    along_text,
    case_table,
    case_text,
    move_text,
    spread_text,
    unresolved_legend,
    verdict_words,
)
from kexbench.cli.words import NS_PER_SECOND, cases_text, host_text
from kexbench.domain.intervals import Estimate
from kexbench.domain.samples import TOO_FEW_BATCHES
from kexbench.domain.upgrades import VERDICT_WORDS, MissingCell, UpgradeCell
from kexbench.domain.waits import Wait, Waits

CONNECTIONS = 10_000
LEGEND = "Change of the CPU time of a handshake with its 95% interval: both sides together, then each side."
CORES_LEGEND = "Cores: what a server needs for 10,000 connections a second, before and after."
DISTURBED_SIDES = f"some invocations have no separate numbers of the client and the server: {TOO_FEW_BATCHES}"


def cores(cpu_ns: float) -> float:
    """Cores that a server needs for 10,000 connections a second."""
    return cpu_ns * CONNECTIONS / NS_PER_SECOND


def change_tables(cells: Sequence[UpgradeCell]) -> list[Table]:
    """One table for each host kind, in the order of the cells."""
    return [
        _table(host_text(kind), [cell for cell in cells if cell.host_kind == kind])
        for kind in dict.fromkeys(cell.host_kind for cell in cells)
    ]


def _table(machine: str, cells: Sequence[UpgradeCell]) -> Table:
    along = along_text(change for cell in cells for change in cell.components)
    table = case_table(f"{machine}{along}", SIDE_COLUMNS)
    for cell in cells:
        sides = (
            move_text(side, VERDICT_WORDS[side.verdict]) if side else NO_RESULT for side in (cell.client, cell.server)
        )
        total = move_text(cell.move, verdict_text(cell))
        table.add_row(*map(Text, (f"{case_text(cell.title)}\n{cores_text(cell)}".rstrip(), total, *sides)))
    return table


def legend(cells: Sequence[UpgradeCell]) -> str:
    """What the tables show; nothing of what no cell has."""
    lines = []
    if any(cell.move or cell.client or cell.server for cell in cells):
        lines.append(LEGEND)
    if any(map(cores_text, cells)):
        lines.append(CORES_LEGEND)
    return "\n".join([*lines, *unresolved_legend(cells)])


def cores_text(cell: UpgradeCell) -> str:
    """`4.00 → 4.08 cores`; empty if whole connections were not measured."""
    if cell.server_before_ns is None or cell.server_after_ns is None:
        return ""
    return f"{cores(cell.server_before_ns):.3g} → {cores(cell.server_after_ns):.3g} cores"


def verdict_text(cell: UpgradeCell) -> str:
    """The verdict; an unresolved one with the resolution, or why there is none."""
    if not cell.invocations:
        return NO_RESULT
    if cell.verdict == "unresolved" and cell.resolves is None:
        return f"{VERDICT_WORDS[cell.verdict]}:\ntoo few invocations"
    return verdict_words(cell.verdict, cell.resolves)


def wait_lines(waits: Waits) -> list[str]:
    """What changed over paths, then each case with its round trips and times."""
    return [*filter(None, [waits.sentence]), *map(_wait_line, waits.cases)]


def _wait_line(wait: Wait) -> str:
    before, after = map(milliseconds, (wait.handshake_before_ns, wait.handshake_after_ns))
    return f"{wait.title}, over {wait.path_words}: {wait.sentence}; handshake {before} → {after} ms"


def milliseconds(time_ns: Estimate) -> str:
    """`62.1 [62, 62.2]`"""
    bounds = (
        "" if time_ns.low is None or time_ns.high is None else f" [{time_ns.low / 1e6:,.4g}, {time_ns.high / 1e6:,.4g}]"
    )
    return f"{time_ns.value / 1e6:,.4g}{bounds}"


def change_lines(cells: Sequence[UpgradeCell]) -> list[str]:
    """What weakens comparisons, and which costs vary otherwise than before."""
    by_warning: dict[str, list[str]] = {}
    for cell in cells:
        for warning in cell.warnings:
            by_warning.setdefault(warning, []).append(cell.title)
    lines = [f"{warning}: {cases_text(titles, len(cells))}" for warning, titles in by_warning.items()]
    if disturbed := [cell.title for cell in cells if cell.disturbed]:
        lines.append(f"{DISTURBED_SIDES}: {cases_text(disturbed, len(cells))}")
    return lines + [f"{cell.title}: {words}" for cell in cells if (words := spread_text(cell.spread))]


def missing_lines(missing: Iterable[MissingCell]) -> list[str]:
    by_reason: dict[tuple[str, str], list[str]] = {}
    for cell in missing:
        by_reason.setdefault((cell.version, cell.reason), []).append(cell.title)
    return [f"{version}: {reason}: {cases_text(titles)}" for (version, reason), titles in by_reason.items()]
