"""Tables of results for people. Costs are shown as rates: handshakes per CPU-second, both sides together."""

from collections.abc import Sequence
from typing import TypeVar

from rich.table import Table

from kexbench.api.models import ReferenceRowView, SideCosts
from kexbench.api.run_models import RunDetail, RunSummary
from kexbench.cli.step_tables import case_table, case_text
from kexbench.cli.words import by_library
from kexbench.comparison.models import Cell, OutcomeView
from kexbench.domain.library_commits import version_text

CASE_WIDTH, PUBLISHED_WIDTH, RATIO_WIDTH = 22, 12, 20
"""Columns of a terminal that the widest content of a table's column takes."""
_Item = TypeVar("_Item")


def outcome_lines(detail: RunDetail) -> list[str]:
    """Why cells have no number, each reason once with the subjects it befell."""
    titles = {case.id: case.title for case in detail.cases}
    names = {one.subject: f"{one.library} {version_text(one.version, one.commit)}" for one in detail.subjects}
    lines = []
    for cell in detail.cells:
        place = f"{names[cell.subject]}, {titles[cell.case_id]}"
        for what, outcome in ((place, cell.outcome), (f"{place}, client and server apart", cell.sides_outcome)):
            if outcome:
                words = [str(outcome.kind), _times_text(outcome, cell), outcome.reason, outcome.detail or ""]
                lines.append(f"{what}: " + ": ".join(filter(None, words)))
    return lines


def _times_text(outcome: OutcomeView, cell: Cell) -> str:
    """In how many invocations, where others have a number."""
    return f"in {outcome.invocations} of {cell.estimate.invocations} invocations" if cell.estimate else ""


def disturbance_lines(detail: RunDetail) -> list[str]:
    """What ran beside the measuring, where it was enough to be in the numbers."""
    lines = []
    if detail.steal and detail.steal.disturbs:
        lines.append(
            f"The hypervisor gave {detail.steal.share:.1%} of the CPU time to others: it may be in the numbers"
        )
    if detail.sibling and detail.sibling.disturbs:
        share = f"{detail.sibling.busy_share:.0%}"
        lines.append(f"The other thread of the measuring core was busy for {share} of the time, which slows handshakes")
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
            table = case_table(published.title, ())
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


def costs_text(costs: SideCosts | None) -> str:
    """`412 µs (client 204, server 208)`."""
    if costs is None:
        return "an unknown amount, client and server not told apart"
    client, server = costs.client_cpu_ns / 1000, costs.server_cpu_ns / 1000
    return f"{client + server:,.0f} µs (client {client:,.0f}, server {server:,.0f})"


def _groups(items: Sequence[_Item], size: int) -> list[Sequence[_Item]]:
    step = max(1, size)
    return [items[start : start + step] for start in range(0, len(items), step)]
