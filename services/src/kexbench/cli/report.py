"""The report of one run: the results, what has no number and why, and published tables beside them."""

from urllib.parse import quote

from kexbench.api.run_models import RunDetail
from kexbench.cli.console import err, out
from kexbench.cli.step_tables import LEVEL_LEGEND, STEP_LEGEND, level_table, step_lines, step_tables
from kexbench.cli.tables import disturbance_lines, outcome_lines, reference_tables, swap_lines
from kexbench.client import ApiClient
from kexbench.domain.samples import Metric


def run_detail(api: ApiClient, run_id: str, metric: Metric = Metric.CPU_NS) -> RunDetail:
    return api.get(RunDetail, f"/runs/{quote(run_id, safe='')}?metric={metric}")


def print_report(api: ApiClient, run_id: str) -> None:
    detail = run_detail(api, run_id)
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
    where = f"{api.page}{run_id}" if api.page else "kexbench serve shows it"
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
