"""The report of a run: results, reasons for missing numbers, and published tables next to the results."""

from collections.abc import Iterator
from urllib.parse import quote, urlencode

from kexbench.answers.run import RunDetail
from kexbench.cli.connection_tables import connection_legend, connection_tables
from kexbench.cli.console import err, out
from kexbench.cli.metric_table import metric_legend, metric_table
from kexbench.cli.step_tables import level_legend, level_table, step_legend, step_lines, step_tables
from kexbench.cli.tables import disturbance_lines, outcome_lines, ratio_tables, reference_tables, swap_lines
from kexbench.client import ApiClient
from kexbench.domain.cases import NOTHING
from kexbench.domain.hosts import HostKind
from kexbench.domain.instruments import Instrument
from kexbench.domain.plans import left_out
from kexbench.domain.samples import DISTURBED_SHARE, Metric


def run_detail(api: ApiClient, run_id: str, metric: Metric | None = None, kind: HostKind | None = None) -> RunDetail:
    """Without a metric, the service takes the one that the run's instrument decides by; without a host kind, the one
    measured last."""
    choices = {"metric": str(metric)} if metric else {}
    if kind:
        choices |= {"pool": kind.pool, "cpu_model": kind.cpu_model}
    query = f"?{urlencode(choices)}" if choices else ""
    return api.get(RunDetail, f"/runs/{quote(run_id, safe='')}{query}")


def print_report(api: ApiClient, run_id: str, metric: Metric | None = None) -> RunDetail:
    """Print the metric, or by default what the run's instrument decides by, times as rates, on each host kind."""
    detail = run_detail(api, run_id, metric)
    is_timed = not metric and not detail.measure.instrument.counts
    others = [kind for kind in detail.host_kinds if kind != detail.host_kind]
    for shown in [detail, *(run_detail(api, run_id, metric, kind) for kind in others)]:
        if shown is not detail:
            out.print()
        if is_timed:
            _print_times(shown)
        else:
            _print_metric(shown)
    if is_timed:
        _print_disturbed_batches(detail)
    for line in left_out(detail.measure, detail.cases):
        out.print(line, markup=False, soft_wrap=True)
    where = f"{api.page}{run_id}" if api.page else "to see it in a browser, start kexbench serve"
    err.print(f"run {run_id}: {where}", markup=False)
    for line in _further(detail):
        err.print(line, markup=False)
    return detail


def _further(detail: RunDetail) -> Iterator[str]:
    """The commands that show what the report of a run leaves out."""
    if any(case.path != NOTHING for case in detail.cases):
        yield "what a user waits for over its paths: kexbench paths"
    measure = detail.measure
    if measure.starts or measure.age or measure.instrument in (Instrument.ALLOCATIONS, Instrument.ATOMICS):
        yield "its starts, ages, allocations or atomic operations, by version: kexbench life"


def _print_metric(detail: RunDetail) -> None:
    if not detail.cells:
        out.print(f"no case of this run has a value of {detail.metric}", markup=False, soft_wrap=True)
        return
    out.print(metric_table(detail))
    out.print()
    out.print(metric_legend(detail), style="dim")
    disturbances = disturbance_lines(detail) if not detail.measure.instrument.counts else []
    for line in outcome_lines(detail) + disturbances:
        out.print(line, markup=False, soft_wrap=True)


def _print_times(detail: RunDetail) -> None:
    steps, levels = step_tables(detail), level_table(detail)
    for table in [*steps, *([levels] if levels else [])]:
        out.print(table)
        out.print()
    for legend in ([step_legend(detail)] if steps else []) + ([level_legend(detail)] if levels else []):
        out.print(legend, style="dim")
    for line in dict.fromkeys(step_lines(detail) + outcome_lines(detail) + disturbance_lines(detail)):
        out.print(line, markup=False, soft_wrap=True)
    if detail.connections:
        for table in connection_tables(detail, out.width):
            out.print()
            out.print(table)
        out.print(connection_legend(detail), style="dim")
    if detail.reference:
        _print_reference(detail)


def _print_disturbed_batches(detail: RunDetail) -> None:
    """Counts of the whole run."""
    if detail.discarded_batches or detail.preempted_batches:
        cause = f"other programs took over {DISTURBED_SHARE:.0%} of their CPU time"
        err.print(
            f"{detail.discarded_batches:,} batches were repeated because "
            f"{cause if detail.others_measured else 'their threads were interrupted'}; "
            f"{detail.preempted_batches:,} such batches were kept",
            style="dim",
        )


def _print_reference(detail: RunDetail) -> None:
    assert detail.reference is not None
    out.print()
    out.print(f"[bold]Compared with {detail.reference.title}[/bold]")
    for table in reference_tables(detail, out.width):
        out.print(table)
    for line in swap_lines(detail):
        out.print(line, markup=False)
    for table in ratio_tables(detail, out.width):
        out.print()
        out.print(table)
    if detail.reference.notes:
        out.print(detail.reference.notes, markup=False)


def is_lost(detail: RunDetail, base: tuple[str, str], other: tuple[str, str]) -> bool:
    """Whether only the first of two ends has a number; each is the unique name of a subject and the id of a case."""
    measured = {(cell.subject, cell.case_id) for cell in detail.cells if cell.estimate}
    return base in measured and other not in measured
