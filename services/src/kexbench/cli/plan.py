"""`kexbench plan`: what a spec would measure, without measuring it."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from kexbench.cli.console import out, print_json, say
from kexbench.cli.words import duration_words
from kexbench.domain.kits import SubjectRef
from kexbench.domain.library_commits import version_text
from kexbench.pipeline import read_plan
from kexbench.settings import Settings
from kexbench.wiring import Installation

SpecFile = Annotated[Path, typer.Argument(help="A spec, such as bench-specs/quickstart.yaml.", show_default=False)]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


def plan(spec: SpecFile, as_json: AsJson = False) -> None:
    """Show the cases, subjects and estimated time of a spec.

    Examples:

        kexbench plan bench-specs/quickstart.yaml
        kexbench plan bench-specs/quickstart.yaml --json | jq .cases
    """
    installation = Installation(Settings())
    found, _ = read_plan(installation, spec, say)
    if as_json:
        print_json(found.model_dump(mode="json"))
        return
    out.print(f"[bold]{found.spec_name}[/bold]  plan {found.plan_id}")
    if found.description:
        out.print(found.description, markup=False)
    shelf = installation.kits()
    subjects = Table(box=None, header_style="bold")
    for column in ("subject", "version", "kit"):
        subjects.add_column(column)
    for subject in found.subjects:
        kit = shelf.find(SubjectRef.parse(subject.reference))
        version = version_text(kit.version, kit.commit) if kit else subject.declared_version or "known once built"
        subjects.add_row(subject.reference, version, kit.kit_id if kit else "not built yet")
    out.print(subjects)
    out.print("\n[bold]cases[/bold]")
    for case in found.cases:
        out.print(f" {case.label}\n   [dim]{case.case_id}[/dim]")
    for skipped in found.skipped:
        out.print(f"skipped: {skipped.combination}: {skipped.reason}", markup=False)
    asked = f" to tell changes of {found.measure.resolve:.1%}" if found.measure.resolve else ""
    out.print(
        f"{len(found.cases)} cases x {len(found.subjects)} subjects x {found.measure.invocations} invocations{asked} "
        f"x {found.measure.batches} batches in {len(found.jobs)} jobs: about {duration_words(found.estimated_s)}"
    )
