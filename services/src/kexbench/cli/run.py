"""`kexbench run`: measures a spec on this machine, stores the results and prints them."""

from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from kexbench.cli.compose import Done, follow_run, measure, run_plan
from kexbench.cli.console import print_json, say
from kexbench.cli.options import AsJson, completed_spec
from kexbench.cli.reaching import ask_api, on_this_machine, reach_api
from kexbench.cli.report import print_report, run_detail
from kexbench.client import Refused
from kexbench.domain.runs import Purpose
from kexbench.execution.measuring import INTERRUPTED, end_with_standard_input
from kexbench.pipeline import known_run, read_plan
from kexbench.settings import Settings
from kexbench.wiring import Installation


def run(
    specs: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[SPEC]...",
            help="Files, or names of specs that come with kexbench, such as quickstart; measured in this order.",
            autocompletion=completed_spec,
            show_default=False,
        ),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="A first look: three short invocations of each case, which stay out of the history."
        ),
    ] = False,
    resume: Annotated[str | None, typer.Option(metavar="RUN", help="Continue an interrupted run.")] = None,
    queued: Annotated[str | None, typer.Option(metavar="RUN", hidden=True)] = None,
    as_json: AsJson = False,
) -> None:
    """Measure specs on this machine, store the results and print them.

    Ctrl-C ends the run after the current invocation, and a second Ctrl-C at once. Complete invocations are kept. If
    `kexbench serve` runs, it measures the run in its queue, and Ctrl-C only stops following it.

    Examples:

        kexbench run quickstart
        kexbench run articles/equal-security connections --quick
        kexbench run --resume 20260101-120000-0123abcd
    """
    if [specs or None, resume, queued].count(None) != 2:
        raise typer.BadParameter("give either a spec or --resume RUN")
    if quick and not specs:
        raise typer.BadParameter("--quick goes with a spec: a run that has begun keeps its invocations")
    if queued:
        end_with_standard_input()
        raise typer.Exit(measure(Installation(Settings()), queued, queued=True).exit_status)
    instead = "kexbench runs resume RUN" if resume else "kexbench submit SPEC --wait"
    installation = Installation(
        on_this_machine("kexbench run measures on this machine", f"use {instead} for the cluster")
    )
    if resume:
        raise typer.Exit(_printed(_resumed(installation, resume), as_json))
    purpose = Purpose.FIRST_LOOK if quick else Purpose.HISTORY
    # All are planned first, so that a fault in the last one is known before the first one is measured.
    planned = [read_plan(installation, spec, say, quick=quick) for spec in specs or ()]
    statuses = []
    for plan, text in planned:
        statuses.append(_printed(run_plan(installation, plan, text, purpose), as_json))
        if statuses[-1] == INTERRUPTED:
            break
    raise typer.Exit(max(statuses))


def _printed(done: Done, as_json: bool) -> int:
    """Print the results of a run, if they are stored. Returns the exit status."""
    if not done.end.undelivered:
        _print_results(done.end.run.run_id, as_json)
    return done.exit_status or (1 if done.end.undelivered else 0)


def _resumed(installation: Installation, run_id: str) -> Done:
    with reach_api() as api:
        try:
            is_elsewhere = known_run(installation, run_id) is None and api.queued_run(run_id).is_started
        except Refused:
            is_elsewhere = True
        if is_elsewhere:
            raise typer.BadParameter(f"this machine has no run {run_id}")
        if api.page:
            with suppress(Refused):  # the run is open or complete
                api.send("POST", f"/runs/{run_id}/resume")
            return follow_run(installation, api, run_id)
    return measure(installation, run_id)


def _print_results(run_id: str, as_json: bool) -> None:
    if as_json:
        print_json(ask_api(lambda api: run_detail(api, run_id)).model_dump(mode="json"))
    else:
        ask_api(lambda api: print_report(api, run_id))
