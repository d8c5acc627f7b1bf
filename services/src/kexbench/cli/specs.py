"""`kexbench specs`: the specs that come with kexbench, to run by name or to copy."""

from pathlib import Path
from typing import Annotated

import typer
import yaml
from rich.table import Table

from kexbench.cli.console import out, print_json
from kexbench.cli.options import AsJson
from kexbench.files import write_whole
from kexbench.shipped import shipped_file, shipped_mixes, shipped_specs

app = typer.Typer(help="List the specs that come with kexbench, and copy one to edit.", no_args_is_help=True)


@app.command("list")
def list_specs(as_json: AsJson = False) -> None:
    """List the specs that come with kexbench: their names stand for files in every command that takes a spec.

    Examples:

        kexbench specs list
        kexbench run quickstart
        kexbench specs list --json | jq -r '.[].name'
    """
    rows = [
        {"name": name, "description": _description(path), "path": str(path)} for name, path in shipped_specs().items()
    ]
    if as_json:
        print_json(rows)
        return
    table = Table("name", "description", box=None, header_style="bold")
    for row in rows:
        table.add_row(row["name"], row["description"])
    out.print(table)
    out.print(f"Mixes for kexbench capacity: {', '.join(shipped_mixes())}", markup=False)


@app.command("copy")
def copy(
    name: Annotated[str, typer.Argument(help="Such as quickstart.", show_default=False)],
    to: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="Default: its name in this folder.", show_default=False)
    ] = None,
) -> None:
    """Copy a spec to edit it. A file that exists is kept.

    Examples:

        kexbench specs copy quickstart
        kexbench specs copy articles/zero-rtt my-spec.yaml
    """
    shipped = shipped_file(name)
    if shipped is None:
        raise typer.BadParameter(f"no spec {name} comes with kexbench; kexbench specs list shows those that do")
    target = to or Path(shipped.name)
    if target.exists():
        raise typer.BadParameter(f"{target} exists; name another file")
    write_whole(target, _with_schema(shipped).encode())
    out.print(f"{target}; next: kexbench plan {target}", markup=False, soft_wrap=True)


def _description(path: Path) -> str:
    return " ".join(yaml.safe_load(path.read_text(encoding="utf-8"))["metadata"]["description"].split())


def _with_schema(path: Path) -> str:
    """The text of a spec, whose first line names its schema for editors: a path beside it, here that path from
    anywhere."""
    first, _, rest = path.read_text(encoding="utf-8").partition("\n")
    start, key, schema = first.partition("$schema=")
    return f"{start}{key}{(path.parent / schema).resolve()}\n{rest}" if key else f"{first}\n{rest}"
