"""`kexbench doctor`: is this machine fit to measure on?"""

from dataclasses import asdict
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from kexbench.cli.console import err, out, print_json
from kexbench.cli.plan import AsJson
from kexbench.runner.doctor.check import Check
from kexbench.runner.doctor.examine import Examination, examine

STYLES = {"good": "green", "warning": "yellow", "unknown": "dim"}


def doctor(
    strict: Annotated[bool, typer.Option("--strict", help="End with status 1 if there is a warning.")] = False,
    as_json: AsJson = False,
) -> None:
    """Judge how steadily this machine measures, and say what to change.

    Takes two seconds, changes nothing and needs no rights. Run it in the state in which you will measure.

    Examples:

        kexbench doctor
        kexbench doctor --json | jq '.checks[] | select(.verdict == "warning")'
        kexbench doctor --strict && kexbench run bench-specs/quickstart.yaml
    """
    found = examine()
    if as_json:
        print_json({"measuring_cpu": found.measuring_cpu, "checks": [asdict(check) for check in found.checks]})
    else:
        out.print(examination_table(found))
        err.print(summary(found))
    if strict and found.count("warning"):
        raise typer.Exit(1)


def examination_table(found: Examination) -> Table:
    """A verdict, what was found, and below it what to do."""
    table = Table(box=None, show_header=False, padding=(0, 1, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for check in found.checks:
        table.add_row(Text(check.verdict, style=STYLES[check.verdict]), _text(check))
    return table


def _text(check: Check) -> Text:
    advice = "" if check.verdict == "warning" else "dim"
    return Text.assemble((check.name, "bold"), f": {check.found}\n", (check.advice, advice))


def summary(found: Examination) -> str:
    return f"{found.count('good')} good, {found.count('warning')} to mend, {found.count('unknown')} unknown"
