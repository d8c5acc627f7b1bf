"""`kexbench runs`: list runs and show one."""

from typing import Annotated

import typer

from kexbench.api.run_models import RunPage
from kexbench.cli import cluster
from kexbench.cli.console import out, print_json
from kexbench.cli.plan import AsJson
from kexbench.cli.reaching import cluster_url, reach_api
from kexbench.cli.report import print_report, run_detail
from kexbench.cli.tables import runs_table
from kexbench.domain.samples import Metric
from kexbench.settings import Settings

app = typer.Typer(help="Runs: list them, show one.", no_args_is_help=True)
app.command("cancel")(cluster.cancel)
app.command("resume")(cluster.resume)


@app.command("list")
def list_runs(
    limit: Annotated[int, typer.Option(min=1, max=200, help="How many, newest first.")] = 20, as_json: AsJson = False
) -> None:
    """List runs, newest first: this machine's, or those of the cluster that KEXBENCH_API_URL names.

    Examples:

        kexbench runs list
        kexbench runs list --limit 100 --json | jq -r '.runs[] | select(.state == "failed") | .run_id'
        KEXBENCH_API_URL=https://kexbench.example.com KEXBENCH_TOKEN_FILE=token kexbench runs list
    """
    with reach_api() as api:
        page = api.get(RunPage, f"/runs?limit={limit}")
    if as_json:
        print_json(page.model_dump(mode="json"))
    elif page.runs:
        out.print(runs_table(page.runs))
    else:
        there = cluster_url(Settings()) is not None
        begin = "kexbench submit SPEC" if there else "kexbench run bench-specs/quickstart.yaml"
        out.print(f"no runs yet: {begin}", markup=False)


@app.command("show")
def show(run_id: str, metric: Metric = Metric.CPU_NS, as_json: AsJson = False) -> None:
    """Show a run's results. KEXBENCH_API_URL names the cluster whose run it is; without it, it is this machine's.

    Examples:

        kexbench runs show 20260101-120000-0123abcd
        kexbench runs show 20260101-120000-0123abcd --metric server_cpu_ns --json
    """
    with reach_api() as api:
        if as_json:
            print_json(run_detail(api, run_id, metric).model_dump(mode="json"))
        else:
            print_report(api, run_id)
