"""`kexbench catalogue`: what is tracked, and what could be."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from kexbench.cli.console import err, out, print_json, say
from kexbench.cli.plan import AsJson
from kexbench.domain.kits import SubjectRef
from kexbench.files import write_whole
from kexbench.kits import KitError, raise_all
from kexbench.planning.catalogue import tracked
from kexbench.planning.edits import edited, patch
from kexbench.planning.newer import Newer, newer, places_to_ask
from kexbench.settings import Settings
from kexbench.wiring import Installation

app = typer.Typer(help="The catalogue: the versions that are tracked.", no_args_is_help=True)

SOMETHING_NEW = 3


@app.command("list")
def list_tracked(as_json: AsJson = False) -> None:
    """List the tracked versions, when each was released and whether its kit is on the shelf.

    Examples:

        kexbench catalogue list
        kexbench catalogue list --json | jq '.[] | select(.kit == null).reference'
    """
    installation = Installation(Settings())
    shelf = installation.kits()
    rows = []
    for library, entry in tracked(installation.catalogue()):
        reference = SubjectRef(library=library, source=entry.source)
        kit = shelf.find(reference)
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
        words = [row["library"], row["version"] or "-", row["released"] or "-", row["kit"] or "not built yet"]
        table.add_row(*words, row["reference"])
    out.print(table)


@app.command("check")
def check(
    apply: Annotated[bool, typer.Option("--apply", help="Write the change into the catalogue.")] = False,
    refresh: Annotated[bool, typer.Option("--refresh", help="Ask even if that was done today.")] = False,
    as_json: AsJson = False,
) -> None:
    """Look for versions newer than the tracked ones; the change of the catalogue is printed as a patch.

    Told is the newest version of each minor series. Pre-releases are told where one of their series is tracked.
    Exit status: 0 nothing new, 3 there is something, 1 not every source could be asked.

    Examples:

        kexbench catalogue check
        kexbench catalogue check | git apply
        kexbench catalogue check --apply && echo nothing new
    """
    installation = Installation(Settings())
    path = installation.settings.catalogue.resolve()
    catalogue, text = installation.catalogue(), path.read_text(encoding="utf-8")
    workshop = installation.workshop()
    having: dict[SubjectRef, tuple[str, ...]] = {}
    failed: list[KitError] = []
    for reference in places_to_ask(catalogue):
        try:
            having[reference] = workshop.versions(reference, say, refresh=refresh)
        except KitError as error:
            failed.append(error)
    found = newer(catalogue, having)
    changed = edited(text, str(path), found) if found else text
    if apply and found:
        write_whole(path, changed.encode())
    difference = patch(text, changed, _path_in_checkout(path))
    if as_json:
        print_json({"newer": [vars(one) for one in found], "failed": [str(one) for one in failed], "patch": difference})
    else:
        for one in found:
            err.print(_words(one), markup=False)
        if apply:
            err.print(f"wrote {path}" if found else "nothing new", markup=False)
        else:
            print(difference, end="")
    raise_all(failed)
    raise typer.Exit(SOMETHING_NEW if found else 0)


def _words(one: Newer) -> str:
    if one.replaces:
        return f"{one.library}@{one.source} is now {one.version}, tracked as {one.replaces}"
    tracked_so_far = f"the newest tracked of its series is {one.behind}" if one.behind else "of a new series"
    return f"{one.library}@{one.source}: {tracked_so_far}"


def _path_in_checkout(path: Path) -> str:
    """As git names the file, which is where a patch is applied; the bare name outside a checkout."""
    checkout = next((folder for folder in path.parents if (folder / ".git").exists()), path.parent)
    return path.relative_to(checkout).as_posix()
