"""Tables of what connections cost, part by part and for each side."""

from rich import box
from rich.table import Table
from rich.text import Text

from kexbench.answers.connection import ConnectionCosts, PartCost, PartView
from kexbench.answers.run import RunDetail
from kexbench.cli.step_tables import NO_RESULT, has_reach
from kexbench.cli.tables import groups_of
from kexbench.domain.intervals import Estimate
from kexbench.domain.library_commits import version_text

_DIFFERENCES = ("verification", "tickets", "context", "trust anchors")
SIDES = ("client", "server")
LABEL_WIDTH, COST_WIDTH = 52, 12
"""Widths of the widest content, in characters."""


def connection_tables(detail: RunDetail, width: int) -> list[Table]:
    """One table for each kind of handshake and as many subjects as fit."""
    names = {each.name: f"{each.library}\n{version_text(each.version, each.commit)}" for each in detail.subjects}
    fitting = (width - LABEL_WIDTH) // COST_WIDTH
    return [
        _table(connection, {subject: names[subject] for subject in columns})
        for connection in detail.connections
        for columns in groups_of(list(names), fitting)
    ]


def connection_legend(detail: RunDetail) -> str:
    """What the numbers and rows of the tables mean; nothing of what they do not have."""
    parts = [part for connection in detail.connections for part in connection.parts]
    kinds = {part.kind for part in parts}
    costs = [
        getattr(cost, side) for part in parts for cost in part.costs for side in _sides_of(part) if getattr(cost, side)
    ]
    lines = ["µs of CPU time; of a transfer, MB per CPU-second." if "transfer" in kinds else "µs of CPU time."]
    if any(map(has_reach, costs)):
        lines.append("± is half the 95% interval.")
    if not all(map(has_reach, costs)):
        lines.append("n: the number of invocations, too few for an interval.")
    if differences := [kind for kind in _DIFFERENCES if kind in kinds]:
        lines.append(f"Differences between two cases: {', '.join(differences)}.")
    if "context" in kinds:
        lines.append("Each connection's context is loaded from files.")
    if any("wall" in _sides_of(part) for part in parts):
        lines.append("Wall: time per handshake, all threads together.")
    return " ".join(lines)


def _sides_of(part: PartView) -> tuple[str, ...]:
    return (*SIDES, "wall") if part.kind in ("handshake", "threads") else SIDES


def _table(connection: ConnectionCosts, names: dict[str, str]) -> Table:
    table = Table(
        title=Text(f"What a connection costs: {connection.title}"),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        padding=(0, 1, 0, 0),
    )
    table.add_column("part", max_width=LABEL_WIDTH - len("client") - 2)
    table.add_column("side")
    for name in names.values():
        table.add_column(name, justify="right", no_wrap=True)
    for part in connection.parts:
        costs = {cost.subject: cost for cost in part.costs}
        for side in _sides_of(part):
            label = _label(part) if side == "client" else ""
            table.add_row(label, side, *(_cost_text(part, costs.get(subject), side) for subject in names))
    return table


def _label(part: PartView) -> str:
    return f"{part.label}, MB/s" if part.kind == "transfer" else part.label


def _cost_text(part: PartView, cost: PartCost | None, side: str) -> str:
    estimate: Estimate | None = getattr(cost, side) if cost else None
    if estimate is None:
        return NO_RESULT
    bounds = _bounds(estimate)
    shown = [part.transfer_bytes * 1e3 / ns if part.kind == "transfer" else ns / 1e3 for ns in bounds]
    return _with_reach(*shown) if len(shown) > 1 else f"{_with_reach(*shown)} n={estimate.invocations}"


def _bounds(estimate: Estimate) -> tuple[float, ...]:
    if estimate.low is None or estimate.high is None:
        return (estimate.value,)
    return estimate.value, estimate.low, estimate.high


def _with_reach(value: float, *interval: float) -> str:
    digits = 0 if abs(value) >= 100 else 1
    reach = f" ±{abs(interval[1] - interval[0]) / 2:,.{digits}f}" if interval else ""
    return f"{value:,.{digits}f}{reach}"
