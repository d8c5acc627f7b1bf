"""`kexbench plan`: shows what a spec would measure."""

from pathlib import Path

import typer
from rich.table import Table

from kexbench.api.run_models import DryRunRequest, DryRunView
from kexbench.cli.console import err, out, print_json, say
from kexbench.cli.options import AsJson, SpecFile
from kexbench.cli.reaching import cluster_url, reach_api
from kexbench.domain.commits import DryRun
from kexbench.domain.kits import SubjectRef
from kexbench.domain.library_commits import version_text
from kexbench.domain.numbers import counted, duration_words
from kexbench.domain.plans import Plan, left_out
from kexbench.kits import KitStore
from kexbench.pipeline import read_plan
from kexbench.planning.documents import read_spec
from kexbench.settings import Settings
from kexbench.wiring import Installation


def plan(spec: SpecFile, as_json: AsJson = False) -> None:
    """Show the cases, subjects and estimated time of a spec.

    If KEXBENCH_API_URL names a cluster, uses its pools and catalogue, and shows which runs come first.

    Examples:

        kexbench plan quickstart
        kexbench plan quickstart --json | jq .cases
        KEXBENCH_API_URL=https://kexbench.example.com KEXBENCH_TOKEN_FILE=token kexbench plan nightly.yaml
    """
    settings = Settings()
    if cluster_url(settings) is not None:
        planned, dry_run = _planned_there(spec)
        kit_store = None
    else:
        installation = Installation(settings)
        (planned, _), dry_run = read_plan(installation, spec, say), None
        kit_store = installation.kits()
    if as_json:
        print_json(planned.model_dump(mode="json"))
        return
    _print(planned, kit_store)
    if dry_run:
        _print_dry_run(dry_run)


def _planned_there(spec: Path) -> tuple[Plan, DryRun]:
    """Ends the command if the spec has faults."""
    request = DryRunRequest(spec_text=read_spec(spec), spec_file=str(spec), with_plan=True)
    with reach_api() as api:
        view = api.post(DryRunView, "/dry-runs", request)
    for fault in view.faults:
        err.print(str(fault), markup=False)
    if view.plan is None or view.dry_run is None:
        raise typer.Exit(1)
    return view.plan, view.dry_run


def _print(planned: Plan, kit_store: KitStore | None) -> None:
    """Without a kit store (the cluster's is not here) omits the kits."""
    out.print(f"[bold]{planned.spec_name}[/bold]  plan {planned.plan_id}")
    if planned.description:
        out.print(planned.description, markup=False)
    subjects = Table(box=None, header_style="bold")
    for column in ("subject", "version", *(["kit"] if kit_store else [])):
        subjects.add_column(column)
    for subject in planned.subjects:
        kit = kit_store.find(SubjectRef.parse(subject.reference)) if kit_store else None
        version = version_text(kit.version, kit.commit) if kit else subject.declared_version or "known once built"
        kit_cell = [kit.kit_id if kit else "not built yet"] if kit_store else []
        subjects.add_row(subject.reference, version, *kit_cell)
    out.print(subjects)
    out.print("\n[bold]cases[/bold]")
    for case in planned.cases:
        out.print(f" {case.label}\n   [dim]{case.case_id}[/dim]", soft_wrap=True)
    for skipped in planned.skipped:
        out.print(f"skipped: {skipped.combination}: {skipped.reason}", markup=False)
    measure = planned.measure
    goal = f" to detect changes of {measure.resolve:.1%}" if measure.resolve else ""
    out.print(
        f"{counted(len(planned.cases), 'case')} x {counted(len(planned.subjects), 'subject')} x "
        f"{counted(measure.invocations, 'invocation')}{goal} x {measure.batches} batches in "
        f"{counted(len(planned.jobs), 'job')}: about {duration_words(planned.estimated_s)}"
    )
    for line in left_out(measure, planned.cases):
        out.print(line, markup=False, soft_wrap=True)


def _print_dry_run(dry_run: DryRun) -> None:
    """The machine time of each pool, and the runs that come first."""
    for pool, minutes in dry_run.minutes.items():
        unlike = "; its nodes are not comparable" if pool in dry_run.mixed_pools else ""
        out.print(f"pool {pool}: about {duration_words(60 * minutes)} of machine time{unlike}", markup=False)
    ahead = f"{counted(dry_run.runs_ahead, 'run')}, about {duration_words(60 * dry_run.minutes_ahead)}"
    out.print(f"ahead in the queue: {ahead if dry_run.runs_ahead else 'no run'}")
    if dry_run.detects is not None:
        out.print(f"resolution: {dry_run.detects:.1%}")
