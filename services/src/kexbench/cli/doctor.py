"""`kexbench doctor`: checks how steadily this machine measures."""

from dataclasses import asdict
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from kexbench.cli.console import err, out, print_json
from kexbench.cli.options import AsJson
from kexbench.runner.doctor.check import Check
from kexbench.runner.doctor.examine import Examination, examine

STYLES = {"good": "green", "warning": "yellow", "unknown": "dim"}


def doctor(
    strict: Annotated[bool, typer.Option("--strict", help="Exit with status 1 if there is a warning.")] = False,
    as_json: AsJson = False,
) -> None:
    """Check how steadily this machine measures, and suggest what to change.

    Takes two seconds, changes nothing and needs no privileges. Run it in the state in which you will measure.

    Examples:

        kexbench doctor
        kexbench doctor --json | jq '.checks[] | select(.verdict == "warning")'
        kexbench doctor --strict && kexbench run quickstart
    """
    result = examine()
    if as_json:
        print_json({"measuring_cpu": result.measuring_cpu, "checks": [asdict(check) for check in result.checks]})
    else:
        out.print(examination_table(result))
        err.print(summary(result))
    if strict and result.count("warning"):
        raise typer.Exit(1)


def examination_table(result: Examination) -> Table:
    """The verdict, the finding and below it the advice of each check."""
    table = Table(box=None, show_header=False, padding=(0, 1, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for check in result.checks:
        table.add_row(Text(check.verdict, style=STYLES[check.verdict]), _text(check))
    return table


def _text(check: Check) -> Text:
    advice = "" if check.verdict == "warning" else "dim"
    return Text.assemble((check.name, "bold"), f": {check.found}\n", (check.advice, advice))


def summary(result: Examination) -> str:
    return f"{result.count('good')} good, {result.count('warning')} to fix, {result.count('unknown')} unknown"
