"""`kexbench kits`: add, list and show the kits on this machine's shelf. Others of its verbs are in kit_checks."""

from pathlib import Path
from textwrap import shorten
from typing import Annotated

import typer
from rich.table import Table

from kexbench.cli import kit_checks
from kexbench.cli.console import err, out, print_json, say
from kexbench.cli.kit_checks import KIT_HELP, found_kit, kept_probe
from kexbench.cli.plan import AsJson
from kexbench.cli.references import typed_reference
from kexbench.domain.kits import KitManifest, SubjectRef
from kexbench.domain.probes import DEFAULTS, KitProbe
from kexbench.kits import KitError, raise_all, read_probe
from kexbench.planning.catalogue import tracked
from kexbench.planning.documents import DocumentError, Fault
from kexbench.settings import Settings
from kexbench.wiring import Installation

app = typer.Typer(help="Kits: self-contained builds of a library with the worker linked to it.", no_args_is_help=True)

_PROFILE_WIDTH = 40


@app.command("add")
def add(
    references: Annotated[
        list[str] | None,
        typer.Argument(
            help="Such as openssl@system, gnutls@debian/trixie or openssl@prefix:DIR; with --tracked, libraries.",
            show_default=False,
        ),
    ] = None,
    all_tracked: Annotated[
        bool, typer.Option("--tracked", help="Those that the catalogue tracks, of all libraries or of those named.")
    ] = False,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, help="How many are built at once; two, and more from 12 CPUs on.", show_default=False),
    ] = None,
    refresh: Annotated[
        bool, typer.Option("--refresh", help="Look for a newer version even if that was done today.")
    ] = False,
    architecture: Annotated[
        str | None, typer.Option(help="Build for another architecture than this machine's, such as aarch64.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Build the kits of some subjects; what is built already is kept.

    One that can't be built stops no other; what failed is told at the end, with exit status 1. Ctrl-C ends all
    builds; the same command goes on with what is missing.

    Examples:

        kexbench kits add openssl@system gnutls@debian/trixie
        kexbench kits add openssl@prefix:~/src/openssl
        kexbench kits add openssl@git:~/src/openssl#master
        kexbench kits add openssl@tarball:openssl-3.5.5.tar.gz+no-asm
        kexbench kits add --tracked
        kexbench kits add --tracked gnutls --jobs 1
        kexbench kits add --architecture aarch64 openssl@crate/3.5.5
    """
    installation = Installation(Settings())
    words = references or []
    if not words and not all_tracked:
        raise typer.BadParameter("name what to add, such as openssl@system, or say --tracked")
    wanted = [typed_reference(word) for word in words if "@" in word or not all_tracked]
    if all_tracked:
        wanted = [*_tracked(installation, [word for word in words if "@" not in word]), *wanted]
    results = installation.kits().add_all(wanted, say, refresh=refresh, at_once=jobs, architecture=architecture)
    kits = [result for result in results.values() if isinstance(result, KitManifest)]
    if as_json:
        print_json([kit.model_dump(mode="json") for kit in kits])
    for kit in () if as_json else kits:
        out.print(f"{kit.ref}  {kit.version}  {kit.kit_id}", markup=False)
    raise_all([result for result in results.values() if isinstance(result, KitError)])


def _tracked(installation: Installation, libraries: list[str]) -> list[SubjectRef]:
    """What the catalogue tracks of the libraries; of all of them where none is named."""
    catalogue = installation.catalogue()
    for library in libraries:
        if library not in catalogue.libraries:
            raise typer.BadParameter(
                f"the catalogue tracks no version of {library!r}; it has {', '.join(catalogue.libraries)}"
            )
    return [
        SubjectRef(library=library, source=entry.source)
        for library, entry in tracked(catalogue)
        if not libraries or library in libraries
    ]


@app.command("list")
def list_kits(as_json: AsJson = False) -> None:
    """List the kits on the shelf."""
    shelf = Installation(Settings()).kits()
    kits = shelf.list()
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
    table.add_column("features", no_wrap=True)
    table.add_column("kit", no_wrap=True)
    for kit in kits:
        architecture = kit.build_profile.architecture
        words = kit.build_profile.label.removesuffix(architecture)
        profile = shorten(words, _PROFILE_WIDTH, placeholder=" …")
        features = _count(shelf.folder(kit.kit_id))
        table.add_row(kit.library, kit.version, kit.source, architecture, profile, features, kit.kit_id)
    out.print(table)


def _count(folder: Path) -> str:
    """`24 of 30`: what is supported of what was tried."""
    try:
        probe = read_probe(folder)
    except ValueError:
        return "unreadable"
    return f"{sum(found.supported for found in probe.features)} of {len(probe.features)}" if probe else "unknown"


@app.command("show")
def show(kit: Annotated[str, typer.Argument(help=KIT_HELP, show_default=False)]) -> None:
    """Show a kit's manifest, what it was found to support, and whether its files are unchanged.

    Examples:

        kexbench kits show openssl@debian/trixie
    """
    shelf = Installation(Settings()).kits()
    found = found_kit(shelf, kit)
    print_json(found.model_dump(mode="json"))
    if probe := kept_probe(shelf, found):
        for line in _features(probe):
            err.print(line, markup=False)
    components = ", ".join(f"{name} {version}" for name, version in found.components.items())
    err.print(f"stands on: {components or 'not known'}", markup=False)
    differences = shelf.verify(found.kit_id)
    for difference in differences:
        err.print(f"damaged: {difference}", markup=False)
    err.print("files: " + ("damaged" if differences else "unchanged"), f"in {shelf.folder(found.kit_id)}")
    if differences:
        raise typer.Exit(1)


def _features(probe: KitProbe) -> list[str]:
    """What a person wants to know first: what it can, what it can't and why, what it does by default."""
    able = ", ".join(found.label for found in probe.features if found.supported)
    unable = [f"not supported: {found.label}: {found.why}" for found in probe.features if not found.supported]
    names = {case.case_id: case.label for case in DEFAULTS}
    chosen = [
        f"{names.get(found.case_id, found.case_id)}: {told.protocol}, {told.group}, {told.cipher}, {told.signature}"
        for found in probe.defaults
        if (told := found.negotiated)
    ]
    return [f"supported: {able}", *unable, *chosen]


app.command("diff")(kit_checks.diff)
app.command("verify")(kit_checks.verify)


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
    kit = shelf.sentinel(SubjectRef.parse(catalogue.sentinel), say, freeze_again=freeze_again)
    frozen = shelf.frozen()
    assert frozen is not None, "it was just read or written"
    if as_json:
        print_json(frozen.model_dump(mode="json"))
    else:
        out.print(f"{frozen.reference}  {kit.version}  {kit.kit_id}  frozen {frozen.frozen_at:%Y-%m-%d %H:%M} UTC")
