"""`kexbench runs`: list runs and show one."""

from typing import Annotated

import typer

from kexbench.cli import cluster
from kexbench.cli.console import out, print_json
from kexbench.cli.plan import AsJson
from kexbench.cli.report import print_report
from kexbench.cli.tables import runs_table
from kexbench.client import ApiClient
from kexbench.domain.samples import Metric
from kexbench.service import reach_service
from kexbench.settings import Settings
from kexbench.wiring import Installation

app = typer.Typer(help="Runs: list them, show one.", no_args_is_help=True)
app.command("cancel")(cluster.cancel)
app.command("resume")(cluster.resume)


@app.command("list")
def list_runs(
    limit: Annotated[int, typer.Option(min=1, max=200, help="How many, newest first.")] = 20, as_json: AsJson = False
) -> None:
    """List runs, newest first."""
    with reach_service(Installation(Settings())) as address:
        page = ApiClient(address).runs(limit)
    if as_json:
        print_json(page.model_dump(mode="json"))
    elif page.runs:
        out.print(runs_table(page.runs))
    else:
        out.print("no runs yet: kexbench run bench-specs/quickstart.yaml")


@app.command("show")
def show(run_id: str, metric: Metric = Metric.CPU_NS, as_json: AsJson = False) -> None:
    """Show a run's results.

    Examples:

        kexbench runs show 20260101-120000-0123abcd
        kexbench runs show 20260101-120000-0123abcd --metric server_cpu_ns --json
    """
    with reach_service(Installation(Settings())) as address:
        client = ApiClient(address)
        if as_json:
            print_json(client.run(run_id, metric).model_dump(mode="json"))
        else:
            print_report(client, run_id)
