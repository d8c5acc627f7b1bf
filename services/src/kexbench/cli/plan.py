"""`kexbench plan`: what a spec would measure, without measuring it."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from kexbench.api.run_models import DryRunRequest, DryRunView
from kexbench.cli.console import err, out, print_json, say
from kexbench.cli.reaching import cluster_url, reach_api
from kexbench.cli.words import duration_words
from kexbench.domain.commits import DryRun
from kexbench.domain.kits import SubjectRef
from kexbench.domain.library_commits import version_text
from kexbench.domain.plans import Plan
from kexbench.kits import Shelf
from kexbench.pipeline import read_plan, read_spec
from kexbench.settings import Settings
from kexbench.wiring import Installation

SpecFile = Annotated[Path, typer.Argument(help="A spec, such as bench-specs/quickstart.yaml.", show_default=False)]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


def plan(spec: SpecFile, as_json: AsJson = False) -> None:
    """Show the cases, subjects and estimated time of a spec. Where KEXBENCH_API_URL names a cluster, it plans the spec
    with its pools and its catalogue, and tells what the run would wait for.

    Examples:

        kexbench plan bench-specs/quickstart.yaml
        kexbench plan bench-specs/quickstart.yaml --json | jq .cases
        KEXBENCH_API_URL=https://kexbench.example.com KEXBENCH_TOKEN_FILE=token kexbench plan nightly.yaml
    """
    settings = Settings()
    if cluster_url(settings) is not None:
        found, dry_run = _planned_there(spec)
        shelf = None
    else:
        installation = Installation(settings)
        (found, _), dry_run = read_plan(installation, spec, say), None
        shelf = installation.kits()
    if as_json:
        print_json(found.model_dump(mode="json"))
        return
    _print(found, shelf)
    if dry_run:
        _print_turn(dry_run)


def _planned_there(spec: Path) -> tuple[Plan, DryRun]:
    """Ends the command with the spec's faults."""
    asked = DryRunRequest(spec_text=read_spec(spec), spec_file=str(spec), with_plan=True)
    with reach_api() as api:
        view = api.post(DryRunView, "/dry-runs", asked)
    for fault in view.faults:
        err.print(str(fault), markup=False)
    if view.plan is None or view.dry_run is None:
        raise typer.Exit(1)
    return view.plan, view.dry_run


def _print(found: Plan, shelf: Shelf | None) -> None:
    """The kits of a cluster are not on this machine's shelf, so without one nothing is told of them."""
    out.print(f"[bold]{found.spec_name}[/bold]  plan {found.plan_id}")
    if found.description:
        out.print(found.description, markup=False)
    subjects = Table(box=None, header_style="bold")
    for column in ("subject", "version", *(["kit"] if shelf else [])):
        subjects.add_column(column)
    for subject in found.subjects:
        kit = shelf.find(SubjectRef.parse(subject.reference)) if shelf else None
        version = version_text(kit.version, kit.commit) if kit else subject.declared_version or "known once built"
        made = [kit.kit_id if kit else "not built yet"] if shelf else []
        subjects.add_row(subject.reference, version, *made)
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


def _print_turn(dry_run: DryRun) -> None:
    """What the run would take of each pool, and wait for."""
    for pool, minutes in dry_run.minutes.items():
        unlike = "; its nodes are not comparable" if pool in dry_run.mixed_pools else ""
        out.print(f"pool {pool}: about {duration_words(60 * minutes)} of machine time{unlike}", markup=False)
    ahead = f"{dry_run.runs_ahead} runs, about {duration_words(60 * dry_run.minutes_ahead)}"
    out.print(f"before it: {ahead if dry_run.runs_ahead else 'no run'}")
    if dry_run.detects is not None:
        out.print(f"it finds changes of {dry_run.detects:.1%} and more")
