"""`kexbench kits diff` and `kexbench kits verify`: compares two kits, and checks kits for changes."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated

import typer
from rich.progress import track
from rich.table import Table
from rich.text import Text

from kexbench.cli.console import err, out, print_json, shows_progress
from kexbench.cli.options import AsJson
from kexbench.cli.references import typed_reference
from kexbench.domain.differences import Difference
from kexbench.domain.kit_changes import KitChanges, compare_kits
from kexbench.domain.kits import KitManifest
from kexbench.domain.numbers import percent
from kexbench.domain.probes import DEFAULTS, Feature, KitProbe
from kexbench.kits import KitStore, WorkerSource, kit_ids, read_probe, verify_kit
from kexbench.settings import Settings
from kexbench.wiring import Installation

KIT_HELP = "A kit id, or a reference such as openssl@system."
NS_PER_MS = 1e6


def found_kit(kit_store: KitStore, text: str) -> KitManifest:
    """The kit of an id or a reference. Raises BadParameter."""
    kit = kit_store.find(typed_reference(text)) if "@" in text else kit_store.get(text)
    if kit is None:
        raise typer.BadParameter(f"there is no kit {text}; kexbench kits list shows all kits")
    return kit


def kept_probe(kit_store: KitStore, kit: KitManifest) -> KitProbe | None:
    """The stored probe of a kit. Prints why if there is none."""
    try:
        probe = read_probe(kit_store.folder(kit.kit_id))
    except ValueError as error:
        err.print(f"{kit.folder_name}: {error}", markup=False)
        return None
    if probe is None:
        err.print(f"{kit.folder_name} was never probed: kexbench kits verify {kit.kit_id}", markup=False)
    return probe


def diff(
    before: Annotated[str, typer.Argument(help=KIT_HELP, show_default=False)],
    after: Annotated[str, typer.Argument(help=KIT_HELP, show_default=False)],
    as_json: AsJson = False,
) -> None:
    """Show how two kits differ: build, packages, features and the library's defaults.

    Examples:

        kexbench kits diff openssl@debian/bookworm openssl@debian/trixie
        kexbench kits diff gnutls@system gnutls@prefix:/opt/gnutls --json
    """
    kit_store = Installation(Settings()).kits()
    kits = [found_kit(kit_store, text) for text in (before, after)]
    changes = compare_kits(*((kit, kept_probe(kit_store, kit)) for kit in kits))
    if as_json:
        print_json(changes.model_dump(mode="json"))
    else:
        _print(changes, kits)
    if changes.probe is None:
        raise typer.Exit(1)
    raise typer.Exit(3 if changes.probe else 0)


def _print(changes: KitChanges, kits: list[KitManifest]) -> None:
    for kit, word in zip(kits, ("before", "after"), strict=True):
        out.print(f"{word:<8}{kit.ref}  {kit.version}  {kit.kit_id}", markup=False)
    _print_changes("build", [(change.what, change) for change in changes.build])
    _print_changes("packages", [(change.what, change) for change in changes.packages])
    if changes.probe:
        _print_features("features gained", changes.probe.gained)
        _print_features("features lost", changes.probe.lost)
        _print_changes("defaults", [(change.label, change) for change in changes.probe.defaults])
    names = {case.case_id: case.label for case in DEFAULTS}
    rows = [
        (
            names.get(cost.case_id, cost.case_id),
            f"{cost.before_cpu_ns / NS_PER_MS:.2f} ms",
            f"{cost.after_cpu_ns / NS_PER_MS:.2f} ms  {percent(cost.ratio)}",
        )
        for cost in changes.setup
    ]
    _print_rows("set-up: CPU time of a single probe, not a benchmark", rows)


def _print_features(title: str, features: tuple[Feature, ...]) -> None:
    _print_rows(title, [(feature.label, "" if feature.supported else feature.why) for feature in features])


def _print_changes(title: str, changes: list[tuple[str, Difference]]) -> None:
    _print_rows(title, [(label, change.before or "none", change.after or "none") for label, change in changes])


def _print_rows(title: str, rows: Sequence[tuple[str, ...]]) -> None:
    if not rows:
        return
    out.print(f"\n[bold]{title}[/bold]")
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 2))
    for number in range(len(rows[0])):
        table.add_column(overflow="fold", no_wrap=number == 0)
    for row in rows:
        table.add_row(*map(Text, row))
    out.print(table)


def verify(
    kits: Annotated[list[str] | None, typer.Argument(help=f"{KIT_HELP} Default: all.", show_default=False)] = None,
    as_json: AsJson = False,
) -> None:
    """Check the files of kits against their manifests, and probe their workers again.

    Examples:

        kexbench kits verify
        kexbench kits verify openssl@debian/trixie 43bcf1c969f7deb6 --json
    """
    installation = Installation(Settings())
    kit_store, prober = installation.kits(), installation.prober()
    worker = WorkerSource(installation.settings.workers).sha256()
    ids = [found_kit(kit_store, text).kit_id for text in kits] if kits else kit_ids(kit_store)
    tracked = track(ids, "verifying", console=err, transient=True, disable=not shows_progress())
    checks = [verify_kit(kit_store, kit_id, prober, worker) for kit_id in tracked]
    if as_json:
        print_json([asdict(check) for check in checks])
    for check in () if as_json else checks:
        out.print(f"{check.folder}  {check.verdict}", markup=False, soft_wrap=True)
        for line in check.lines:
            out.print(f"  {line}", markup=False, soft_wrap=True)
    if any(check.failed for check in checks):
        raise typer.Exit(1)
