"""`kexbench run`: measure a spec on this machine, store the results, print them."""

from pathlib import Path
from typing import Annotated

import typer

from kexbench.cli.compose import Done, measure
from kexbench.cli.console import ProgressReporter, print_json, say
from kexbench.cli.plan import AsJson
from kexbench.cli.queued import measure_queued
from kexbench.cli.reaching import on_this_machine, reach_api
from kexbench.cli.report import print_report, run_detail
from kexbench.cli.words import duration_words
from kexbench.execution.folder import RunFolder
from kexbench.pipeline import known_run, read_plan, start_run
from kexbench.settings import Settings
from kexbench.wiring import Installation


def run(
    spec: Annotated[
        Path | None, typer.Argument(help="A spec, such as bench-specs/quickstart.yaml.", show_default=False)
    ] = None,
    resume: Annotated[str | None, typer.Option(metavar="RUN", help="Go on with a run that was interrupted.")] = None,
    queued: Annotated[str | None, typer.Option(metavar="RUN", hidden=True)] = None,
    as_json: AsJson = False,
) -> None:
    """Measure a spec on this machine, store the results and print them.

    Ctrl-C ends it after the invocation under way and keeps what is complete.

    Examples:

        kexbench run bench-specs/quickstart.yaml
        kexbench run --resume 20260101-120000-0123abcd
    """
    if [spec, resume, queued].count(None) != 2:
        raise typer.BadParameter("give either a spec or --resume RUN")
    if queued:
        raise typer.Exit(measure_queued(Installation(Settings()), queued))
    instead = "kexbench runs resume RUN" if resume else "kexbench submit SPEC --wait"
    installation = Installation(on_this_machine("kexbench run measures on this machine", f"there it is {instead}"))
    done = _resumed(installation, resume) if resume else _started(installation, spec)
    if not done.end.undelivered:
        _tell(done.end.run.run_id, as_json)
    raise typer.Exit(done.exit_status or (1 if done.end.undelivered else 0))


def _started(installation: Installation, spec: Path | None) -> Done:
    assert spec is not None
    plan, text = read_plan(installation, spec, say)

    def begin(reporter: ProgressReporter) -> RunFolder:
        reporter.step(
            f"{plan.spec_name}: {len(plan.cases)} cases, {len(plan.subjects)} subjects, "
            f"about {duration_words(plan.estimated_s)} of measuring"
        )
        return start_run(installation, plan, text, reporter)

    return measure(installation, plan.spec_name, begin)


def _resumed(installation: Installation, run_id: str) -> Done:
    folder = known_run(installation, run_id)
    if folder is None:
        raise typer.BadParameter(f"this machine has no run {run_id}")
    return measure(installation, f"run {run_id}", lambda _: folder)


def _tell(run_id: str, as_json: bool) -> None:
    """The results as stored."""
    with reach_api() as api:
        if as_json:
            print_json(run_detail(api, run_id).model_dump(mode="json"))
        else:
            print_report(api, run_id)
