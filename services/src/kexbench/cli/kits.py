"""`kexbench kits`: add, list and show the kits on this machine's shelf."""

from textwrap import shorten
from typing import Annotated

import typer
from rich.table import Table

from kexbench.cli.console import err, out, print_json
from kexbench.cli.plan import AsJson
from kexbench.cli.references import typed_reference
from kexbench.domain.kits import SubjectRef
from kexbench.planning.documents import DocumentError, Fault
from kexbench.settings import Settings
from kexbench.wiring import Installation

app = typer.Typer(help="Kits: self-contained builds of a library with the worker linked to it.", no_args_is_help=True)

_PROFILE_WIDTH = 40


def _say(text: str) -> None:
    err.print(text, style="dim", markup=False)


@app.command("add")
def add(
    references: Annotated[
        list[str], typer.Argument(help="Such as openssl@system, gnutls@debian/trixie or openssl@prefix:DIR.")
    ],
    refresh: Annotated[
        bool, typer.Option("--refresh", help="Look for a newer version even if that was done today.")
    ] = False,
    architecture: Annotated[
        str | None, typer.Option(help="Build for another architecture than this machine's, such as aarch64.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Build the kits of some subjects; what is built already is kept.

    Examples:

        kexbench kits add openssl@system gnutls@debian/trixie
        kexbench kits add openssl@prefix:~/src/openssl
        kexbench kits add --architecture aarch64 openssl@crate/3.5.5
    """
    shelf = Installation(Settings()).kits()
    kits = [
        shelf.add(reference, _say, refresh=refresh, architecture=architecture)
        for reference in [typed_reference(text) for text in references]
    ]
    if as_json:
        print_json([kit.model_dump(mode="json") for kit in kits])
    for kit in () if as_json else kits:
        out.print(f"{kit.ref}  {kit.version}  {kit.kit_id}", markup=False)


@app.command("list")
def list_kits(as_json: AsJson = False) -> None:
    """List the kits on the shelf."""
    kits = Installation(Settings()).kits().list()
    if as_json:
        print_json([kit.model_dump(mode="json") for kit in kits])
        return
    if not kits:
        out.print("no kits yet: kexbench kits add openssl@system")
        return
    table = Table(box=None, header_style="bold")
    for column in ("library", "version"):
        table.add_column(column, no_wrap=True)
    table.add_column("source", overflow="fold")  # whole and with its variants, so that it can be copied
    table.add_column("architecture", no_wrap=True)
    table.add_column("build profile")
    table.add_column("kit", no_wrap=True)
    for kit in kits:
        architecture = kit.build_profile.architecture
        words = kit.build_profile.label.removesuffix(architecture)
        profile = shorten(words, _PROFILE_WIDTH, placeholder=" …")
        table.add_row(kit.library, kit.version, kit.source, architecture, profile, kit.kit_id)
    out.print(table)


@app.command("show")
def show(kit: Annotated[str, typer.Argument(help="A kit id, or a reference such as openssl@system.")]) -> None:
    """Show a kit's manifest, and whether its files are unchanged.

    Examples:

        kexbench kits show openssl@debian/trixie
    """
    shelf = Installation(Settings()).kits()
    found = shelf.find(typed_reference(kit)) if "@" in kit else shelf.get(kit)
    if found is None:
        raise typer.BadParameter(f"there is no kit {kit}; kexbench kits list shows those there are")
    print_json(found.model_dump(mode="json"))
    differences = shelf.verify(found.kit_id)
    for difference in differences:
        err.print(f"damaged: {difference}", markup=False)
    err.print("files: " + ("damaged" if differences else "unchanged"), f"in {shelf.folder(found.kit_id)}")
    if differences:
        raise typer.Exit(1)


@app.command("sentinel")
def sentinel(
    freeze_again: Annotated[
        bool, typer.Option("--freeze-again", help="Freeze what the catalogue's reference means now.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show the sentinel, the kit that stays as it is; the first time it is made and frozen.

    What changes along with a new sentinel can't be told from a change of the machine.

    Examples:

        kexbench kits sentinel
        kexbench kits sentinel --freeze-again
    """
    installation = Installation(Settings())
    catalogue = installation.catalogue()
    if catalogue.sentinel is None:
        place = str(installation.settings.catalogue)
        raise DocumentError(
            place, [Fault(1, 1, "sentinel", "is not given: name one, such as sentinel: openssl@system")]
        )
    shelf = installation.kits()
    kit = shelf.sentinel(SubjectRef.parse(catalogue.sentinel), _say, freeze_again=freeze_again)
    frozen = shelf.frozen()
    assert frozen is not None, "it was just read or written"
    if as_json:
        print_json(frozen.model_dump(mode="json"))
    else:
        out.print(f"{frozen.reference}  {kit.version}  {kit.kit_id}  frozen {frozen.frozen_at:%Y-%m-%d %H:%M} UTC")
