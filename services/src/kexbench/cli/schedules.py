"""`kexbench schedules`: specs that a cluster or this machine measures regularly."""

from pathlib import Path
from typing import Annotated
from urllib.parse import quote

import typer
from rich.table import Table

from kexbench.api.run_models import ScheduleView, Submission
from kexbench.cli.console import out, print_json
from kexbench.cli.options import AsJson, spec_argument
from kexbench.cli.reaching import reach_api
from kexbench.planning.documents import read_spec

app = typer.Typer(help="Add, list and remove schedules of a cluster or of this machine.", no_args_is_help=True)


@app.command("add")
def add(
    spec: Annotated[Path, spec_argument("It has `schedule:`.")],
    as_json: AsJson = False,
) -> None:
    """Add a schedule: measure a spec at the times of its `schedule:`, in UTC.

    Replaces a schedule of the same name. On this machine, runs start only while `kexbench serve` runs.

    Examples:

        kexbench schedules add nightly.yaml
    """
    with reach_api() as api:
        schedule = api.post(ScheduleView, "/schedules", Submission(spec_text=read_spec(spec), spec_file=str(spec)))
    if as_json:
        print_json(schedule.model_dump(mode="json"))
    else:
        out.print(f"{schedule.name}  {schedule.cron}", markup=False)


@app.command("list")
def list_schedules(as_json: AsJson = False) -> None:
    """List the schedules, by name.

    Examples:

        kexbench schedules list --json | jq -r '.[].name'
    """
    with reach_api() as api:
        schedules = api.get(list[ScheduleView], "/schedules")
    if as_json:
        print_json([schedule.model_dump(mode="json") for schedule in schedules])
    elif schedules:
        table = Table("name", "times in UTC", "since", "by", box=None, header_style="bold")
        for schedule in schedules:
            table.add_row(schedule.name, schedule.cron, f"{schedule.changed_at:%Y-%m-%d %H:%M}", schedule.changed_by)
        out.print(table)
    else:
        out.print("no schedules yet: kexbench schedules add SPEC")


@app.command("remove")
def remove(name: Annotated[str, typer.Argument(help="As `kexbench schedules list` prints it.")]) -> None:
    """Remove a schedule. Its queued and running runs continue.

    Examples:

        kexbench schedules remove nightly
    """
    with reach_api() as api:
        api.send("DELETE", f"/schedules/{quote(name, safe='')}")
    out.print(f"removed {name}", markup=False)
