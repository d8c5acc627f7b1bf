"""`kexbench kits`: adds, lists and shows the kits of this machine. `kit_checks` has two more of its verbs."""

from pathlib import Path
from textwrap import shorten
from typing import Annotated

import typer
from rich.table import Table

from kexbench.cli import kit_checks
from kexbench.cli.console import err, out, print_json, say
from kexbench.cli.kit_checks import KIT_HELP, found_kit, kept_probe
from kexbench.cli.options import AsJson
from kexbench.cli.references import typed_reference
from kexbench.domain.dimensions import Server
from kexbench.domain.kits import KitManifest, SubjectRef
from kexbench.domain.probes import DEFAULTS, KitProbe
from kexbench.kits import KitError, raise_all, read_probe
from kexbench.planning.catalogue import tracked
from kexbench.planning.documents import DocumentError, Fault
from kexbench.settings import Settings
from kexbench.wiring import Installation

app = typer.Typer(
    help="Manage kits: self-contained builds of a library with a worker linked to it.", no_args_is_help=True
)

_PROFILE_WIDTH = 40
WEB_SERVERS = ", ".join(server for server in Server if server is not Server.NONE)


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
        bool, typer.Option("--tracked", help="Add the tracked versions of all or of the named libraries.")
    ] = False,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, help="Parallel builds. Default: two, more with 12 CPUs or more.", show_default=False),
    ] = None,
    refresh: Annotated[
        bool, typer.Option("--refresh", help="Check for a newer version even if that was done today.")
    ] = False,
    architecture: Annotated[str | None, typer.Option(help="Build for another architecture, such as aarch64.")] = None,
    server: Annotated[
        Server,
        typer.Option(
            help=f"Also build this web server with each kit, {WEB_SERVERS}; OpenSSL only.",
            metavar="SERVER",
            show_default=False,
        ),
    ] = Server.NONE,
    as_json: AsJson = False,
) -> None:
    """Build the kits of one or more subjects. Existing kits are kept.

    If a build fails, the others continue; the failures are printed at the end. Ctrl-C ends all builds. The same
    command again builds the missing kits.

    Examples:

        kexbench kits add openssl@system gnutls@debian/trixie
        kexbench kits add openssl@prefix:~/src/openssl
        kexbench kits add openssl@git:~/src/openssl#master
        kexbench kits add openssl@tarball:openssl-3.5.5.tar.gz+no-asm
        kexbench kits add --tracked
        kexbench kits add --tracked gnutls --jobs 1
        kexbench kits add --architecture aarch64 openssl@crate/3.5.5
        kexbench kits add openssl@crate/3.5.5 --server httpd
    """
    installation = Installation(Settings())
    names = references or []
    if not names and not all_tracked:
        raise typer.BadParameter("name a subject, such as openssl@system, or use --tracked")
    subjects = [typed_reference(name) for name in names if "@" in name or not all_tracked]
    if all_tracked:
        subjects = [*_tracked(installation, [name for name in names if "@" not in name]), *subjects]
    results = installation.kits().add_all(subjects, say, refresh=refresh, at_once=jobs, architecture=architecture)
    if server is not Server.NONE:
        results = {ref: _with_server(installation, server, ref, result) for ref, result in results.items()}
    kits = [result for result in results.values() if isinstance(result, KitManifest)]
    if as_json:
        print_json([kit.model_dump(mode="json") for kit in kits])
    for kit in () if as_json else kits:
        out.print(f"{kit.ref}  {kit.version}  {kit.kit_id}", markup=False)
    raise_all([result for result in results.values() if isinstance(result, KitError)])


def _with_server(
    installation: Installation, server: Server, ref: SubjectRef, kit: KitManifest | KitError
) -> KitManifest | KitError:
    """The kit, which has the web server then, or the error."""
    if isinstance(kit, KitManifest):
        try:
            installation.servers().add(server, ref, kit, say)
        except KitError as error:
            return error
    return kit


def _tracked(installation: Installation, libraries: list[str]) -> list[SubjectRef]:
    """The tracked versions of the libraries; of all libraries if none is named."""
    catalogue = installation.catalogue()
    for library in libraries:
        if library not in catalogue.libraries:
            raise typer.BadParameter(
                f"the catalogue does not track {library!r}; it tracks {', '.join(catalogue.libraries)}"
            )
    return [
        SubjectRef(library=library, source=entry.source)
        for library, entry in tracked(catalogue)
        if not libraries or library in libraries
    ]


@app.command("list")
def list_kits(as_json: AsJson = False) -> None:
    """List the kits in the kit store, with their web servers.

    Examples:

        kexbench kits list
        kexbench kits list --json | jq -r '.[].kit_id'
    """
    installation = Installation(Settings())
    kit_store = installation.kits()
    kits = kit_store.list()
    servers = {kit.kit_id: list(installation.servers().of_kit(kit.kit_id)) for kit in kits}
    if as_json:
        print_json([{**kit.model_dump(mode="json"), "servers": servers[kit.kit_id]} for kit in kits])
        return
    if not kits:
        out.print("no kits yet: kexbench kits add openssl@system")
        return
    table = Table(box=None, header_style="bold")
    for column in ("library", "version"):
        table.add_column(column, no_wrap=True)
    table.add_column("source", overflow="fold")  # complete, so that it can be copied
    table.add_column("architecture", no_wrap=True)
    table.add_column("build profile")
    table.add_column("features", no_wrap=True)
    table.add_column("servers", no_wrap=True)
    table.add_column("kit", no_wrap=True)
    for kit in kits:
        architecture = kit.build_profile.architecture
        label = kit.build_profile.label.removesuffix(architecture)
        profile = shorten(label, _PROFILE_WIDTH, placeholder=" …")
        features = _count(kit_store.folder(kit.kit_id))
        built = "\n".join(servers[kit.kit_id]) or "-"
        table.add_row(kit.library, kit.version, kit.source, architecture, profile, features, built, kit.kit_id)
    out.print(table)


def _count(folder: Path) -> str:
    """`24 of 30`: supported features of those tried."""
    try:
        probe = read_probe(folder)
    except ValueError:
        return "unreadable"
    return f"{sum(feature.supported for feature in probe.features)} of {len(probe.features)}" if probe else "unknown"


@app.command("show")
def show(kit: Annotated[str, typer.Argument(help=KIT_HELP, show_default=False)]) -> None:
    """Show a kit's manifest and supported features, and check its files.

    Examples:

        kexbench kits show openssl@debian/trixie
    """
    kit_store = Installation(Settings()).kits()
    manifest = found_kit(kit_store, kit)
    print_json(manifest.model_dump(mode="json"))
    if probe := kept_probe(kit_store, manifest):
        for line in _features(probe):
            err.print(line, markup=False)
    components = ", ".join(f"{name} {version}" for name, version in manifest.components.items())
    err.print(f"components: {components or 'unknown'}", markup=False)
    differences = kit_store.verify(manifest.kit_id)
    for difference in differences:
        err.print(f"damaged: {difference}", markup=False)
    err.print("files: " + ("damaged" if differences else "unchanged"), f"in {kit_store.folder(manifest.kit_id)}")
    if differences:
        raise typer.Exit(1)


def _features(probe: KitProbe) -> list[str]:
    """Supported features, unsupported features with the reason, and defaults."""
    supported = ", ".join(feature.label for feature in probe.features if feature.supported)
    others = [feature for feature in probe.features if not feature.supported]
    names = {case.case_id: case.label for case in DEFAULTS}
    defaults = [
        f"{names.get(each.case_id, each.case_id)}: {used.protocol}, {used.group}, {used.cipher}, {used.signature}"
        for each in probe.defaults
        if (used := each.negotiated)
    ]
    unsupported = (f"not supported: {feature.label}: {feature.why}" for feature in others)
    return [f"supported: {supported}", *unsupported, *defaults]


app.command("diff")(kit_checks.diff)
app.command("verify")(kit_checks.verify)


@app.command("sentinel")
def sentinel(
    freeze_again: Annotated[
        bool, typer.Option("--freeze-again", help="Freeze the current build of the catalogue's reference.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show the sentinel, a kit that never changes. The first call builds and freezes it.

    A new sentinel hides changes of the machine that happen at the same time.

    Examples:

        kexbench kits sentinel
        kexbench kits sentinel --freeze-again
    """
    installation = Installation(Settings())
    catalogue = installation.catalogue()
    if catalogue.sentinel is None:
        place = str(installation.settings.catalogue)
        raise DocumentError(place, [Fault(1, 1, "sentinel", "is missing: name one, such as sentinel: openssl@system")])
    kit_store = installation.kits()
    kit = kit_store.sentinel(SubjectRef.parse(catalogue.sentinel), say, freeze_again=freeze_again)
    frozen = kit_store.frozen()
    assert frozen is not None, "the sentinel was just read or written"
    if as_json:
        print_json(frozen.model_dump(mode="json"))
    else:
        out.print(f"{frozen.reference}  {kit.version}  {kit.kit_id}  frozen {frozen.frozen_at:%Y-%m-%d %H:%M} UTC")
