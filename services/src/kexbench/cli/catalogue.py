"""`kexbench catalogue`: lists the tracked versions and finds newer ones."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from kexbench.cli.console import err, out, print_json, say
from kexbench.cli.options import AsJson
from kexbench.domain.kits import SubjectRef
from kexbench.files import write_whole
from kexbench.kits import KitError, raise_all
from kexbench.planning.catalogue import tracked
from kexbench.planning.edits import edited, patch
from kexbench.planning.newer import Newer, newer, places_to_ask
from kexbench.settings import Settings
from kexbench.wiring import Installation

app = typer.Typer(help="List the tracked versions and look for newer ones.", no_args_is_help=True)

SOMETHING_NEW = 3


@app.command("list")
def list_tracked(as_json: AsJson = False) -> None:
    """List the tracked versions with their release dates and kits.

    Examples:

        kexbench catalogue list
        kexbench catalogue list --json | jq '.[] | select(.kit == null).reference'
    """
    installation = Installation(Settings())
    kit_store = installation.kits()
    rows = []
    for library, entry in tracked(installation.catalogue()):
        reference = SubjectRef(library=library, source=entry.source)
        kit = kit_store.find(reference)
        row = {"library": library, "reference": str(reference), **entry.model_dump(mode="json")}
        rows.append({**row, "kit": kit.kit_id if kit else None})
    if as_json:
        print_json(rows)
        return
    table = Table(box=None, header_style="bold")
    for column in ("library", "version", "released", "kit"):
        table.add_column(column, no_wrap=True)
    table.add_column("reference", overflow="fold")
    for row in rows:
        texts = [row["library"], row["version"] or "-", row["released"] or "-", row["kit"] or "not built yet"]
        table.add_row(*texts, row["reference"])
    out.print(table)


@app.command("check")
def check(
    apply: Annotated[bool, typer.Option("--apply", help="Write the changes to the catalogue.")] = False,
    refresh: Annotated[bool, typer.Option("--refresh", help="Query the sources even if that was done today.")] = False,
    as_json: AsJson = False,
) -> None:
    """Look for versions newer than the tracked ones and print the changes of the catalogue as a patch.

    Lists the newest version of each minor series, and pre-releases only of series that track a pre-release.

    Examples:

        kexbench catalogue check
        kexbench catalogue check | git apply
        kexbench catalogue check --apply && echo nothing new
    """
    installation = Installation(Settings())
    path = installation.settings.catalogue.resolve()
    catalogue, text = installation.catalogue(), path.read_text(encoding="utf-8")
    workshop = installation.workshop()
    versions: dict[SubjectRef, tuple[str, ...]] = {}
    failed: list[KitError] = []
    for reference in places_to_ask(catalogue):
        try:
            versions[reference] = workshop.versions(reference, say, refresh=refresh)
        except KitError as error:
            failed.append(error)
    releases = newer(catalogue, versions)
    changed = edited(text, str(path), releases) if releases else text
    if apply and releases:
        write_whole(path, changed.encode())
    difference = patch(text, changed, _path_in_checkout(path))
    if as_json:
        rows, errors = [vars(release) for release in releases], [str(error) for error in failed]
        print_json({"newer": rows, "failed": errors, "patch": difference})
    else:
        for release in releases:
            err.print(_words(release), markup=False)
        if apply:
            err.print(f"wrote {path}" if releases else "nothing new", markup=False)
        else:
            print(difference, end="")
    raise_all(failed)
    raise typer.Exit(SOMETHING_NEW if releases else 0)


def _words(release: Newer) -> str:
    if release.replaces:
        return f"{release.library}@{release.source} is now {release.version}, tracked as {release.replaces}"
    tracked_so_far = f"newest tracked version of its series: {release.behind}" if release.behind else "new series"
    return f"{release.library}@{release.source}: {tracked_so_far}"


def _path_in_checkout(path: Path) -> str:
    """The path that a git patch names; outside a checkout the bare file name."""
    checkout = next((folder for folder in path.parents if (folder / ".git").exists()), path.parent)
    return path.relative_to(checkout).as_posix()
