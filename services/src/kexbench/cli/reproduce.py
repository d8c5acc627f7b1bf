"""`kexbench reproduce`: one invocation of a run once more, exactly as it was."""

from statistics import median
from typing import Annotated, Any

import typer
from rich.table import Table

from kexbench.analysis.pairs import costs_of
from kexbench.cli.console import err, out, print_json, say
from kexbench.cli.plan import AsJson
from kexbench.domain.plans import Job
from kexbench.domain.runs import Run
from kexbench.domain.samples import Invocation, Metric
from kexbench.execution.folder import RunFolder
from kexbench.execution.local import ticket_of
from kexbench.execution.measuring import measuring
from kexbench.pipeline import known_run, places_of
from kexbench.runner.cpus import claim_cpus
from kexbench.runner.host import LoadMeter
from kexbench.runner.invocation import measure_invocation
from kexbench.runner.order import Turn, turns
from kexbench.runner.ticket import Ticket
from kexbench.runner.transcript import transcript
from kexbench.settings import Settings
from kexbench.wiring import Installation


def reproduce(
    run: Annotated[str, typer.Argument(help="A run of this machine.", show_default=False)],
    case: Annotated[str, typer.Argument(help="A case id of it.", show_default=False)],
    invocation: Annotated[int | None, typer.Option(min=0, help="Default: the first.", show_default=False)] = None,
    print_only: Annotated[bool, typer.Option("--print", help="Print the commands and run nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Print the exact worker commands of one invocation (kits, seeds, order, pinning), run it, and set the
    new values beside the recorded ones.

    Examples:

        kexbench reproduce 20260101-120000-0123abcd tlsv1.3_ecdhe-ecdsa_ecdsa-p-256_x25519_aes-128-gcm
        kexbench reproduce RUN CASE --invocation 7 --print
    """
    installation = Installation(Settings())
    folder = known_run(installation, run)
    if folder is None:
        raise typer.BadParameter(f"this machine has no run {run}; kexbench runs list shows what is stored")
    facts = folder.run()
    ticket, turn = _turn(installation, folder, facts, case, invocation)
    cpus = claim_cpus()
    commands = {reference: transcript(ticket, turn, reference, cpus) for reference in turn.block}
    recorded = [one for one in folder.invocations(facts) if (one.case_id, one.invocation) == (case, turn.invocation)]
    again = None
    if not print_only:
        with measuring(installation.settings.home, f"an invocation of run {run} again", say):
            again = measure_invocation(ticket, turn, cpus, folder.log, LoadMeter(cpus.siblings).read)
    if as_json:
        print_json(_document(facts, ticket, turn, commands, recorded, again))
        return
    out.print(f"# invocation {turn.invocation} of {case}, seed {ticket.seed}/{case}/{turn.invocation}", markup=False)
    for reference, text in commands.items():
        out.print(f"# {reference}: kit {facts.kits[reference].kit_id}", markup=False)
        out.print(text, markup=False, soft_wrap=True)
    if again:
        _beside(turn, recorded, again)


def _turn(
    installation: Installation, folder: RunFolder, run: Run, case_id: str, invocation: int | None
) -> tuple[Ticket, Turn]:
    """The ticket and the turn with the seed that the run had. Raises BadParameter."""
    known = [case.case_id for case in run.plan.cases]
    if case_id not in known:
        raise typer.BadParameter(f"the run has no case {case_id}; it has {', '.join(known[:5])}")
    for job in run.plan.jobs:
        ticket = ticket_of(folder, run, job, places_of(installation, run))
        for turn in turns(job, ticket.seed):
            if turn.case_id == case_id and invocation in (None, turn.invocation):
                return ticket, turn
    raise typer.BadParameter(f"{case_id} has no invocation {invocation}; it has {_numbers(run.plan.jobs)}")


def _numbers(jobs: tuple[Job, ...]) -> str:
    return f"{min(job.numbers.start for job in jobs)} to {max(job.numbers.stop for job in jobs) - 1}"


def _document(
    run: Run,
    ticket: Ticket,
    turn: Turn,
    commands: dict[str, str],
    recorded: list[Invocation],
    again: Invocation | None,
) -> dict[str, Any]:
    return {
        "run_id": run.run_id,
        "case_id": turn.case_id,
        "invocation": turn.invocation,
        "seed": f"{ticket.seed}/{turn.case_id}/{turn.invocation}",
        "order": turn.block,
        "kits": {reference: run.kits[reference].kit_id for reference in turn.block},
        "commands": commands,
        "recorded": [one.model_dump(mode="json") for one in recorded],
        "again": again.model_dump(mode="json") if again else None,
    }


def _beside(turn: Turn, recorded: list[Invocation], again: Invocation) -> None:
    """CPU time of a handshake, then and now: medians over invocations."""
    table = Table(box=None, header_style="bold")
    for column in ("subject", "recorded", "now", "difference"):
        table.add_column(column, justify="left" if column == "subject" else "right")
    for reference in turn.block:
        values = [costs_of(found, turn.case_id, reference, Metric.CPU_NS) for found in (recorded, [again])]
        before, now = (median(found) if found else None for found in values)
        cells = ["none" if value is None else f"{value / 1000:,.1f} µs" for value in (before, now)]
        change = f"{now / before - 1:+.1%}" if before and now else ""
        table.add_row(reference, *cells, change)
    out.print(table)
    for outcome in again.outcomes:
        err.print(f"{outcome.subject}: {outcome.kind}: {outcome.reason}", markup=False)
