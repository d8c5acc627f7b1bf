"""Tables of results for people. Costs are shown as rates: handshakes per CPU-second, both sides together."""

from rich.table import Table

from kexbench.api.models import Cell, ReferenceRowView, RunDetail, RunSummary, SideCosts
from kexbench.cli.words import percent, rate_text

LEGEND = (
    "Handshakes per CPU-second, client and server together; ± is the 95% interval of the median.\n"
    "In brackets: CPU cost against the version before it of the same library; ~ cannot be told from no change."
)


def results_table(detail: RunDetail) -> Table:
    """Case x subject, with the change against the version before."""
    table = Table(title=f"{detail.summary.spec_name} on {detail.host.cpu_model}", title_justify="left")
    table.add_column("case")
    for subject in detail.subjects:
        table.add_column(f"{subject.library}\n{subject.version}", justify="right", no_wrap=True)
    found = {(cell.case_id, cell.subject): cell for cell in detail.cells}
    for case in detail.cases:
        cells = [found.get((case.id, subject.subject)) for subject in detail.subjects]
        table.add_row(case.title, *map(cell_text, cells))
    return table


def cell_text(cell: Cell | None) -> str:
    """`1,361 ±0.6% (-12.1%)`, or the kind of outcome that stands in for a number."""
    if cell is None:
        return ""
    if cell.estimate is None:
        return str(cell.outcome.kind) if cell.outcome else ""
    text = rate_text(cell.estimate)
    if cell.change:
        text += f" ({'~' if cell.change.verdict == 'unresolved' else percent(cell.change.ratio)})"
    return text


def outcome_lines(detail: RunDetail) -> list[str]:
    """Why cells have no number, each reason once with the subjects it befell."""
    titles = {case.id: case.title for case in detail.cases}
    names = {subject.subject: f"{subject.library} {subject.version}" for subject in detail.subjects}
    lines = []
    for cell in detail.cells:
        if cell.outcome:
            words = [str(cell.outcome.kind), cell.outcome.reason, cell.outcome.detail or ""]
            lines.append(f"{names[cell.subject]}, {titles[cell.case_id]}: " + ": ".join(filter(None, words)))
    return lines


def runs_table(runs: list[RunSummary]) -> Table:
    table = Table(box=None, header_style="bold")
    for column in ("run", "spec", "state", "created", "subjects", "invocations"):
        table.add_column(column, no_wrap=column == "run", overflow="fold")
    for run in runs:
        table.add_row(
            run.run_id,
            run.spec_name,
            str(run.state),
            f"{run.created_at:%Y-%m-%d %H:%M} UTC",
            ", ".join(run.subjects),
            f"{run.invocations_stored}/{run.invocations_planned}",
        )
    return table


def reference_tables(detail: RunDetail) -> list[Table]:
    """Each published table with a column for every subject: rate, ratio to the baseline and its interval."""
    assert detail.reference is not None
    titles = {case.id: case.title for case in detail.cases}
    names = {subject.subject: f"{subject.library} {subject.version}" for subject in detail.subjects}
    tables = []
    for published in detail.reference.tables:
        table = Table(title=published.title, title_justify="left")
        table.add_column("case")
        table.add_column("published\nper second\nratio", justify="right")
        for column in published.columns:
            table.add_column(names[column.subject].replace(" ", "\n") + "\nratio", justify="right", no_wrap=True)
        for position, row in enumerate(published.columns[0].rows if published.columns else ()):
            measured = [reference_text(column.rows[position]) for column in published.columns]
            table.add_row(titles[row.case_id], f"{row.published_rate:,.0f}\n{row.published_ratio:.2f}", *measured)
            table.add_section()
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
        if row.ratio_low is not None and row.ratio_high is not None:
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
