"""`kexbench doctor`: checks how steadily this machine measures."""

import os
import platform
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from kexbench.cli.console import err, out, print_json
from kexbench.cli.options import AsJson
from kexbench.domain.dimensions import Protocol
from kexbench.domain.probes import full_handshakes
from kexbench.material.store import MaterialStore
from kexbench.runner.cpus import split_cpus
from kexbench.runner.doctor.check import Check
from kexbench.runner.doctor.examine import Examination, examine
from kexbench.runner.path_proof import PathProof, prove_path
from kexbench.settings import Settings
from kexbench.wiring import Installation

STYLES = {"good": "green", "warning": "yellow", "unknown": "dim"}


def doctor(
    strict: Annotated[bool, typer.Option("--strict", help="Exit with status 1 if there is a warning.")] = False,
    as_json: AsJson = False,
) -> None:
    """Check how steadily this machine measures, and suggest what to change.

    Takes two seconds, and five more to prove emulated paths with a kit. It changes nothing and needs no privileges. Run
    it in the state in which you will measure.

    Examples:

        kexbench doctor
        kexbench doctor --json | jq '.checks[] | select(.verdict == "warning")'
        kexbench doctor --strict && kexbench run quickstart
    """
    result = examine(prove=_prove)
    if as_json:
        print_json({"measuring_cpu": result.measuring_cpu, "checks": [asdict(check) for check in result.checks]})
    else:
        out.print(examination_table(result))
        err.print(summary(result))
    if strict and result.count("warning"):
        raise typer.Exit(1)


def _prove() -> PathProof | None:
    """With the kit that was made last. Keys are made in a folder that goes with them."""
    kits = Installation(Settings()).kits()
    newest = sorted(kits.list(), key=lambda kit: (kits.root / kit.folder_name).stat().st_mtime, reverse=True)
    for kit in newest:
        case = next((case for case in full_handshakes(kit.library) if case.protocol is Protocol.TLS_1_3), None)
        if case is None or kit.build_profile.architecture != platform.machine():
            continue
        with TemporaryDirectory() as folder:
            material, cpus = MaterialStore(Path(folder)), split_cpus(os.sched_getaffinity(0))
            launch = kit.launch(kits.root / kit.folder_name, material.folder, *cpus.pin(2))
            return prove_path(launch, case, material.provide(case), material.folder / "log")
    return None


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
