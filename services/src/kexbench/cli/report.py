"""The report of one run: the results, what has no number and why, and published tables beside them."""

from kexbench.api.run_models import RunDetail
from kexbench.cli.console import err, out
from kexbench.cli.step_tables import LEVEL_LEGEND, STEP_LEGEND, level_table, step_lines, step_tables
from kexbench.cli.tables import disturbance_lines, outcome_lines, reference_tables, swap_lines
from kexbench.client import ApiClient
from kexbench.domain.samples import Metric


def print_report(client: ApiClient, run_id: str) -> None:
    detail = client.run(run_id, Metric.CPU_NS)
    steps, levels = step_tables(detail), level_table(detail)
    for table in [*steps, *([levels] if levels else [])]:
        out.print(table)
        out.print()
    for legend in ([STEP_LEGEND] if steps else []) + ([LEVEL_LEGEND] if levels else []):
        out.print(legend, style="dim")
    for line in step_lines(detail) + outcome_lines(detail) + disturbance_lines(detail):
        out.print(line, markup=False, soft_wrap=True)
    if detail.reference:
        _print_reference(detail)
    if detail.discarded_batches or detail.preempted_batches:
        err.print(
            f"{detail.discarded_batches} batches were repeated because other processes took the core; "
            f"{detail.preempted_batches} such batches were kept",
            style="dim",
        )
    where = f"{client.page}{run_id}" if client.page else "kexbench serve shows it"
    err.print(f"run {run_id}: {where}", markup=False)


def _print_reference(detail: RunDetail) -> None:
    assert detail.reference is not None
    out.print()
    out.print(f"[bold]Beside {detail.reference.title}[/bold]")
    for table in reference_tables(detail, out.width):
        out.print(table)
    for line in swap_lines(detail):
        out.print(line, markup=False)
    if detail.reference.notes:
        out.print(detail.reference.notes, markup=False)
