"""`kexbench reproduce`: repeats one invocation of a run exactly."""

from collections.abc import Callable
from statistics import median
from typing import Annotated, Any
from urllib.parse import quote

import typer
from rich.table import Table

from kexbench.agent.environment import WORK
from kexbench.analysis.pairs import costs_of
from kexbench.cli.console import err, out, print_json, say
from kexbench.cli.options import AsJson
from kexbench.cli.reaching import cluster_url, on_this_machine, reach_api
from kexbench.cli.step_tables import NO_RESULT
from kexbench.domain.numbers import percent
from kexbench.domain.plans import Job
from kexbench.domain.runs import Run
from kexbench.domain.samples import Invocation, Metric
from kexbench.execution.local import job_input_of
from kexbench.execution.measuring import measuring
from kexbench.pipeline import known_run, places_of
from kexbench.runner.cpus import Cpus, claim_cpus
from kexbench.runner.host import LoadMeter
from kexbench.runner.invocation import measure_invocation
from kexbench.runner.job_input import JobInput, JobOrder
from kexbench.runner.order import Turn, turns
from kexbench.runner.transcript import transcript
from kexbench.settings import Settings
from kexbench.wiring import Installation


def reproduce(
    run: Annotated[
        str, typer.Argument(help="A run of this machine; with --print also of a cluster.", show_default=False)
    ],
    case: Annotated[str, typer.Argument(help="The id of a case of the run.", show_default=False)],
    invocation: Annotated[int | None, typer.Option(min=0, help="Default: the first.", show_default=False)] = None,
    print_only: Annotated[bool, typer.Option("--print", help="Print the commands without running them.")] = False,
    as_json: AsJson = False,
) -> None:
    """Run one invocation of a run again and compare the new values with the recorded ones.

    Prints the exact worker commands with kits, seeds, order and pinning. If KEXBENCH_API_URL names a cluster, --print
    shows the commands of a pod, except the CPUs, which each pod chooses.

    Examples:

        kexbench reproduce 20260101-120000-0123abcd tlsv1.3_ecdhe-ecdsa_ecdsa-p-256_x25519_aes-128-gcm
        kexbench reproduce RUN CASE --invocation 7 --print
        KEXBENCH_API_URL=https://kexbench.example.com KEXBENCH_TOKEN_FILE=token kexbench reproduce RUN CASE --print
    """
    settings = Settings()
    if print_only and cluster_url(settings) is not None:
        _print_of_cluster(run, case, invocation, as_json=as_json)
        return
    on_this_machine("kexbench reproduce measures on this machine", "print the commands of a cluster's run with --print")
    installation = Installation(settings)
    folder = known_run(installation, run)
    if folder is None:
        raise typer.BadParameter(f"this machine has no run {run}; kexbench runs list shows all runs")
    facts = folder.run()
    places = places_of(installation, facts)
    job_input, turn = _turn(facts, case, invocation, lambda job: job_input_of(folder, facts, job, places))
    cpus = claim_cpus()
    commands = {reference: transcript(job_input, turn, reference, cpus) for reference in turn.block}
    key = (case, turn.invocation)
    recorded = [each for each in folder.invocations(facts) if (each.case_id, each.invocation) == key]
    again = None
    if not print_only:
        with measuring(installation.settings.home, f"an invocation of run {run} again", say):
            again = measure_invocation(
                job_input, turn, cpus, folder.log, LoadMeter(cpus.siblings, measuring=cpus.measuring).read
            )
    if as_json:
        print_json(_document(facts, job_input, turn, commands, recorded, again))
        return
    _print_commands(facts, job_input, turn, commands)
    if again:
        _print_comparison(turn, recorded, again)


def _print_of_cluster(run_id: str, case: str, invocation: int | None, *, as_json: bool) -> None:
    with reach_api() as api:
        run = api.get(Run, f"/open-runs/{quote(run_id, safe='')}")
    if not run.is_started:
        raise typer.BadParameter(f"run {run_id} has not started, so its kits are not known yet")
    kits = {reference: WORK / "kits" / kit.folder_name for reference, kit in run.kits.items()}
    job_input, turn = _turn(
        run,
        case,
        invocation,
        lambda job: JobOrder.of(run, job).job_input(kits, WORK / "material", WORK / "results", attempt=1, host_id=""),
    )
    commands = {reference: transcript(job_input, turn, reference, Cpus(None)) for reference in turn.block}
    if as_json:
        print_json(_document(run, job_input, turn, commands, None, None))
        return
    out.print(f"# in a pod of pool {job_input.job.pool} with the order of job {job_input.job.job_id}", markup=False)
    _print_commands(run, job_input, turn, commands)


def _print_commands(run: Run, job_input: JobInput, turn: Turn, commands: dict[str, str]) -> None:
    seed = f"{job_input.seed}/{turn.case_id}/{turn.invocation}"
    out.print(f"# invocation {turn.invocation} of {turn.case_id}, seed {seed}", markup=False, soft_wrap=True)
    for reference, text in commands.items():
        out.print(f"# {reference}: kit {run.kits[reference].kit_id}", markup=False)
        out.print(text, markup=False, soft_wrap=True)


def _turn(
    run: Run, case_id: str, invocation: int | None, job_input_for: Callable[[Job], JobInput]
) -> tuple[JobInput, Turn]:
    """The job input, and the turn with the seed of the run. Raises BadParameter."""
    case_ids = [case.case_id for case in run.plan.cases]
    if case_id not in case_ids:
        raise typer.BadParameter(f"the run has no case {case_id}; it has {', '.join(case_ids[:5])}")
    for job in run.plan.jobs:
        job_input = job_input_for(job)
        for turn in turns(job, job_input.seed):
            if turn.case_id == case_id and invocation in (None, turn.invocation):
                return job_input, turn
    raise typer.BadParameter(f"{case_id} has no invocation {invocation}; it has {_numbers(run.plan.jobs)}")


def _numbers(jobs: tuple[Job, ...]) -> str:
    return f"{min(job.numbers.start for job in jobs)} to {max(job.numbers.stop for job in jobs) - 1}"


def _document(
    run: Run,
    job_input: JobInput,
    turn: Turn,
    commands: dict[str, str],
    recorded: list[Invocation] | None,
    again: Invocation | None,
) -> dict[str, Any]:
    """`recorded` is None for a run of a cluster: `kexbench export` has its values."""
    return {
        "run_id": run.run_id,
        "case_id": turn.case_id,
        "invocation": turn.invocation,
        "seed": f"{job_input.seed}/{turn.case_id}/{turn.invocation}",
        "order": turn.block,
        "kits": {reference: run.kits[reference].kit_id for reference in turn.block},
        "commands": commands,
        "recorded": None if recorded is None else [each.model_dump(mode="json") for each in recorded],
        "again": again.model_dump(mode="json") if again else None,
    }


def _print_comparison(turn: Turn, recorded: list[Invocation], again: Invocation) -> None:
    """CPU time of a handshake, recorded and now: medians over invocations."""
    table = Table(box=None, header_style="bold")
    for column in ("subject", "recorded", "now", "difference"):
        table.add_column(column, justify="left" if column == "subject" else "right")
    for reference in turn.block:
        values = [costs_of(each, turn.case_id, reference, Metric.CPU_NS) for each in (recorded, [again])]
        before, now = (median(costs) if costs else None for costs in values)
        cells = [NO_RESULT if value is None else f"{value / 1000:,.1f} µs" for value in (before, now)]
        change = percent(now / before) if before and now else ""
        table.add_row(reference, *cells, change)
    out.print(table)
    for outcome in again.outcomes:
        err.print(f"{outcome.subject}: {outcome.kind}: {outcome.reason}", markup=False)
