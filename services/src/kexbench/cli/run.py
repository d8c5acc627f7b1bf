"""`kexbench run`: measure a spec on this machine, store the results, print them."""

from pathlib import Path
from typing import Annotated

import typer

from kexbench.cli.console import ProgressReporter, err, print_json
from kexbench.cli.plan import AsJson
from kexbench.cli.report import print_report
from kexbench.cli.words import duration_words
from kexbench.client import ApiClient
from kexbench.domain.runs import RunState
from kexbench.domain.samples import Metric
from kexbench.execution.folder import RunFolder
from kexbench.pipeline import RunEnd, deliver_leftovers, execute_run, known_run, read_plan, start_run
from kexbench.service import reach_service
from kexbench.settings import Settings
from kexbench.wiring import Installation

_EXIT = {RunState.FINISHED: 0, RunState.CANCELLED: 130}


def run(
    spec: Annotated[
        Path | None, typer.Argument(help="A spec, such as bench-specs/quickstart.yaml.", show_default=False)
    ] = None,
    resume: Annotated[str | None, typer.Option(metavar="RUN", help="Go on with a run that was interrupted.")] = None,
    as_json: AsJson = False,
) -> None:
    """Measure a spec on this machine, store the results and print them.

    Ctrl-C ends it after the invocation under way and keeps what is complete.

    Examples:

        kexbench run bench-specs/quickstart.yaml
        kexbench run --resume 20260101-120000-0123abcd
    """
    if (spec is None) == (resume is None):
        raise typer.BadParameter("give either a spec or --resume RUN")
    installation = Installation(Settings())
    for left in deliver_leftovers(installation):
        err.print(f"stored what run {left.run_id} had left on disk", markup=False)
    with ProgressReporter() as reporter:
        folder = _resumed(installation, resume) if resume else _started(installation, spec, reporter)
        with folder.locked() as ours:
            if not ours:
                raise typer.BadParameter(f"run {resume} is being measured by another process")
            end = execute_run(installation, folder, reporter)
    _tell(installation, end, as_json)
    raise typer.Exit(_EXIT.get(end.state, 1) or (1 if end.undelivered else 0))


def _started(installation: Installation, spec: Path | None, reporter: ProgressReporter) -> RunFolder:
    assert spec is not None
    plan, text = read_plan(installation, spec)
    reporter.step(
        f"{plan.spec_name}: {len(plan.cases)} cases, {len(plan.subjects)} subjects, "
        f"about {duration_words(plan.estimated_s)} of measuring"
    )
    return start_run(installation, plan, text, reporter)


def _resumed(installation: Installation, run_id: str) -> RunFolder:
    folder = known_run(installation, run_id)
    if folder is None:
        raise typer.BadParameter(f"this machine has no run {run_id}")
    return folder


def _tell(installation: Installation, end: RunEnd, as_json: bool) -> None:
    """The results as stored; where they could not be stored, what that means."""
    if end.detail:
        err.print(f"{end.state}: {end.detail}", markup=False)
    if end.undelivered:
        err.print(f"not stored yet: {end.undelivered}", markup=False)
        err.print("nothing is lost: the next kexbench run or serve stores it")
        return
    with reach_service(installation) as address:
        client = ApiClient(address)
        if as_json:
            print_json(client.run(end.run.run_id, Metric.CPU_NS).model_dump(mode="json"))
        else:
            print_report(client, end.run.run_id)
