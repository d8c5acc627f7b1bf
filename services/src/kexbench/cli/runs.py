"""`kexbench runs`: lists, shows, adds, cancels and resumes runs."""

from typing import Annotated

import typer
from rich.table import Table

from kexbench.answers.runs import RunPage, RunSummary
from kexbench.cli import adding, cluster
from kexbench.cli.console import out, print_json
from kexbench.cli.options import AsJson
from kexbench.cli.reaching import cluster_url, reach_api, warn_of_room
from kexbench.cli.words import by_library
from kexbench.domain.samples import Metric
from kexbench.settings import Settings

app = typer.Typer(help="List, show, add, cancel and resume runs.", no_args_is_help=True)
app.command("add")(adding.add)
app.command("cancel")(cluster.cancel)
app.command("resume")(cluster.resume)


@app.command("list")
def list_runs(
    limit: Annotated[int, typer.Option(min=1, max=200, help="Maximum number of runs.")] = 20, as_json: AsJson = False
) -> None:
    """List the runs of this machine, or of the cluster that KEXBENCH_API_URL names, newest first.

    Examples:

        kexbench runs list
        kexbench runs list --limit 100 --json | jq -r '.runs[] | select(.state == "failed") | .run_id'
        KEXBENCH_API_URL=https://kexbench.example.com KEXBENCH_TOKEN_FILE=token kexbench runs list
    """
    with reach_api() as api:
        warn_of_room(api)
        page = api.get(RunPage, f"/runs?limit={limit}")
    if as_json:
        print_json(page.model_dump(mode="json"))
    elif page.runs:
        out.print(_table(page.runs))
    else:
        is_cluster = cluster_url(Settings()) is not None
        command = "kexbench submit SPEC" if is_cluster else "kexbench run quickstart"
        out.print(f"no runs yet: {command}", markup=False)


def _table(runs: list[RunSummary]) -> Table:
    """One row a run. The id starts with the time."""
    table = Table(box=None, header_style="bold")
    for column in ("run", "spec", "state", "stored", "subjects"):
        table.add_column(column, no_wrap=column in ("run", "state", "stored"), overflow="fold")
    for run in runs:
        stored = f"{run.invocations_stored}/{run.invocations_planned}"
        table.add_row(run.run_id, run.spec_name, str(run.state), stored, by_library(run.subjects))
    return table


@app.command("show")
def show(
    run_id: cluster.RunId,
    metric: Annotated[
        Metric | None,
        typer.Option(
            help="Only this metric, in its own unit. By default, the one that the run's instrument decides by."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show the results of a run of this machine, or of the cluster that KEXBENCH_API_URL names.

    Examples:

        kexbench runs show 20260101-120000-0123abcd
        kexbench runs show 20260101-120000-0123abcd --metric server_held_bytes
        kexbench runs show 20260101-120000-0123abcd --metric server_cpu_ns --json
    """
    from kexbench.cli.report import print_report, run_detail  # noqa: PLC0415 (other verbs need none of it)

    with reach_api() as api:
        if as_json:
            print_json(run_detail(api, run_id, metric).model_dump(mode="json"))
        else:
            summary = print_report(api, run_id, metric).summary
            out.print(f"{summary.state}: {summary.detail}" if summary.detail else summary.state, markup=False)
