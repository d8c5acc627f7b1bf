"""`kexbench`: the verbs, and how errors end a command.

Exit status: 0 done, 1 it could not be done, 2 the command line was wrong, 130 cancelled. `catalogue check`: 3 there
is something new. `bisect`: 4 it cannot say.
"""

import sys
from typing import Annotated

import httpx
import typer

from kexbench import __version__
from kexbench.cli import (
    backfill,
    bisect,
    bisections,
    catalogue,
    cluster,
    commits,
    compare,
    dispatch,
    doctor,
    export,
    interop,
    kits,
    plan,
    qualify,
    queue,
    reproduce,
    run,
    runs,
    schedules,
    schema,
    serve,
)
from kexbench.cli.console import err
from kexbench.client import ApiError
from kexbench.kits import KitError, KitErrors
from kexbench.pipeline import RunGone, VersionMismatch
from kexbench.planning.documents import DocumentError
from kexbench.service import ServiceUnavailable
from kexbench.store.port import StoreError
from kexbench.uplink import Refused, Unreachable
from kexbench.watch.source import SourceError

EXPECTED = (
    KitError,
    RunGone,
    VersionMismatch,
    StoreError,
    ServiceUnavailable,
    ApiError,
    Refused,
    Unreachable,
    SourceError,
)
SHOWN_FAULTS = 15
"""So that the errors of any input fit one screen."""

app = typer.Typer(
    name="kexbench",
    help="Benchmarks TLS key exchange across libraries, versions and CPUs.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)
app.command("run")(run.run)
app.command("plan")(plan.plan)
app.command("compare")(compare.compare)
app.command("bisect")(bisect.bisect)
app.command("backfill")(backfill.backfill)
app.add_typer(bisections.app, name="bisections")
app.command("interop")(interop.interop)
app.command("reproduce")(reproduce.reproduce)
app.command("qualify")(qualify.qualify)
app.add_typer(kits.app, name="kits")
app.add_typer(catalogue.app, name="catalogue")
app.add_typer(runs.app, name="runs")
app.command("submit")(cluster.submit)
app.command("queue")(queue.queue)
app.add_typer(schedules.app, name="schedules")
app.command("commits")(commits.commits)
app.command("dispatch")(dispatch.dispatch)
app.command("token")(cluster.token)
app.command("migrate")(cluster.migrate)
app.command("doctor")(doctor.doctor)
app.command("export")(export.export)
app.command("serve")(serve.serve)
app.command("schema", hidden=True)(schema.schema)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"kexbench {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run a command; an expected error ends it with its text alone."""
    try:
        app()
    except DocumentError as error:
        _fail(*_faults(error))
    except KeyboardInterrupt:
        err.print("cancelled")
        sys.exit(130)
    except httpx.TransportError as error:
        _fail(f"the service does not answer: {error}")
    except KitErrors as errors:
        _fail(*map(str, errors.errors))
    except EXPECTED as error:
        _fail(str(error))
    except BrokenPipeError:
        sys.exit(1)


def _faults(error: DocumentError) -> list[str]:
    lines = [fault.render(error.file) for fault in error.faults[:SHOWN_FAULTS]]
    if more := len(error.faults) - len(lines):
        lines.append(f"and {more:,} more")
    return lines


def _fail(*lines: str) -> None:
    for line in lines:
        err.print(line if len(line) < 600 else line[:600] + " …", markup=False, soft_wrap=True)
    sys.exit(1)
