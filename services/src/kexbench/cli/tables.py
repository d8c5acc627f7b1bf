"""Tables of results for people. Costs are shown as rates: handshakes per CPU-second, both sides together."""

from collections.abc import Sequence
from typing import TypeVar

from rich import box
from rich.table import Table

from kexbench.api.models import Cell
from kexbench.api.reference_models import ReferenceRowView, SideCosts
from kexbench.api.run_models import RunDetail, RunSummary
from kexbench.cli.words import by_library, percent, rate_text
from kexbench.domain.library_commits import version_text

LEGEND = (
    "Handshakes per CPU-second, client and server together; ± is the 95% interval of the median.\n"
    "Below it: CPU cost against the version before it of the same library; ~ cannot be told from no change."
)
CASE_WIDTH, RATE_WIDTH, PUBLISHED_WIDTH, RATIO_WIDTH = 22, 14, 12, 20
"""Columns of a terminal that the widest content of a table's column takes."""
_Item = TypeVar("_Item")


def results_tables(detail: RunDetail, width: int) -> list[Table]:
    """Case x subject, with the change against the version before; as many tables as fit the width side by side."""
    found = {(cell.case_id, cell.subject): cell for cell in detail.cells}
    tables = []
    for subjects in _groups(detail.subjects, (width - CASE_WIDTH) // RATE_WIDTH):
        where = detail.host_kind.cpu_model if detail.host_kind else "no machine yet"
        table = _table(f"{detail.summary.spec_name} on {where}")
        for subject in subjects:
            version = version_text(subject.version, subject.commit)
            table.add_column(f"{subject.library}\n{version}", justify="right", no_wrap=True)
        for case in detail.cases:
            cells = [found.get((case.id, subject.subject)) for subject in subjects]
            table.add_row(case_text(case.title), *map(cell_text, cells))
        tables.append(table)
    return tables


def case_text(title: str) -> str:
    """A case's title on two lines: what is exchanged, and with which keys."""
    return title.replace(", ", "\n", 1)


def cell_text(cell: Cell | None) -> str:
    """`1,361 ±0.6%` over `-12.1%`, or the kind of outcome that stands in for a number."""
    if cell is None:
        return ""
    if cell.estimate is None:
        return str(cell.outcome.kind) if cell.outcome else ""
    text = rate_text(cell.estimate)
    if cell.change:
        text += "\n" + ("~" if cell.change.verdict == "unresolved" else percent(cell.change.ratio))
    return text


def outcome_lines(detail: RunDetail) -> list[str]:
    """Why cells have no number, each reason once with the subjects it befell."""
    titles = {case.id: case.title for case in detail.cases}
    names = {one.subject: f"{one.library} {version_text(one.version, one.commit)}" for one in detail.subjects}
    lines = []
    for cell in detail.cells:
        if cell.outcome:
            words = [str(cell.outcome.kind), cell.outcome.reason, cell.outcome.detail or ""]
            lines.append(f"{names[cell.subject]}, {titles[cell.case_id]}: " + ": ".join(filter(None, words)))
    return lines


def runs_table(runs: list[RunSummary]) -> Table:
    """A line a run; its time is the beginning of its id."""
    table = Table(box=None, header_style="bold")
    for column in ("run", "spec", "state", "stored", "subjects"):
        table.add_column(column, no_wrap=column in ("run", "state", "stored"), overflow="fold")
    for run in runs:
        stored = f"{run.invocations_stored}/{run.invocations_planned}"
        table.add_row(run.run_id, run.spec_name, str(run.state), stored, by_library(run.subjects))
    return table


def reference_tables(detail: RunDetail, width: int) -> list[Table]:
    """Each published table beside every subject: rate, ratio to the baseline and its interval."""
    assert detail.reference is not None
    titles = {case.id: case.title for case in detail.cases}
    names = {subject.subject: f"{subject.library}\n{subject.version}" for subject in detail.subjects}
    tables = []
    for published in detail.reference.tables:
        for columns in _groups(published.columns, (width - CASE_WIDTH - PUBLISHED_WIDTH) // RATIO_WIDTH):
            table = _table(published.title)
            table.add_column("published\n(ratio)", justify="right")
            for column in columns:
                table.add_column(names[column.subject], justify="right", no_wrap=True)
            for position, row in enumerate(columns[0].rows):
                measured = [reference_text(column.rows[position]) for column in columns]
                figure = f"{row.published_rate:,.0f}\n{row.published_ratio:.2f}"
                table.add_row(case_text(titles[row.case_id]), figure, *measured)
            tables.append(table)
    return tables


def reference_text(row: ReferenceRowView) -> str:
    """`1,903 ±0.4%` over `0.55 [0.54, 0.56]`."""
    if row.rate is None:
        return "none"
    text = f"{row.rate:,.0f}"
    if row.rate_low and row.rate_high:
        text += f" ±{(row.rate_high - row.rate_low) / 2 / row.rate:.1%}"
    if row.ratio is not None:
        text += f"\n{row.ratio:.2f}"
        if row.ratio_low is not None and row.ratio_high is not None and row.ratio_low < row.ratio_high:
            text += f" [{row.ratio_low:.2f}, {row.ratio_high:.2f}]"
    return text


def swap_lines(detail: RunDetail) -> list[str]:
    """A sentence for each pair of rows that stands the other way round than published, from what was measured."""
    assert detail.reference is not None
    titles = {case.id: case.title for case in detail.cases}
    names = {subject.subject: f"{subject.library} {subject.version}" for subject in detail.subjects}
    lines = [
        f"{names[column.subject]}: {titles[swap.faster_here]} is {swap.ratio:.2f} times as fast as "
        f"{titles[swap.slower_here]}, published the other way round: it costs "
        f"{costs_text(swap.faster_costs)} against {costs_text(swap.slower_costs)}"
        for table in detail.reference.tables
        for column in table.columns
        for swap in column.swaps
    ]
    return list(dict.fromkeys(lines))


def costs_text(costs: SideCosts) -> str:
    """`412 µs (client 204, server 208)`."""
    client, server = costs.client_cpu_ns / 1000, costs.server_cpu_ns / 1000
    return f"{client + server:,.0f} µs (client {client:,.0f}, server {server:,.0f})"


def _table(title: str) -> Table:
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), row_styles=["", "dim"])
    table.add_column("case", min_width=CASE_WIDTH - 2)
    return table


def _groups(items: Sequence[_Item], size: int) -> list[Sequence[_Item]]:
    step = max(1, size)
    return [items[start : start + step] for start in range(0, len(items), step)]
