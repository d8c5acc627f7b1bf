"""`kexbench`: the verbs, and how errors end a command.

Exit status: 0 done, 1 it could not be done, 2 the command line was wrong, 130 cancelled. `catalogue check`: 3 there
is something new. `compare`, and `upgrade --fail-on-regression`: 3 something costs more. `bisect`: 4 it cannot say.
`analyze`: 2 a line of the input was wrong.
"""

import logging
import sys
from collections.abc import Iterable
from importlib import import_module
from typing import Annotated

import typer

from kexbench import __version__
from kexbench.cli.console import WithoutOrders, err

VERBS = {
    "run": "run:run",
    "plan": "plan:plan",
    "compare": "compare:compare",
    "upgrade": "upgrade:upgrade",
    "analyze": "analyze:app",
    "bisect": "bisect:bisect",
    "bisections": "bisections:app",
    "backfill": "backfill:backfill",
    "interop": "interop:interop",
    "reproduce": "reproduce:reproduce",
    "qualify": "qualify:qualify",
    "kits": "kits:app",
    "catalogue": "catalogue:app",
    "runs": "runs:app",
    "submit": "cluster:submit",
    "queue": "queue:queue",
    "schedules": "schedules:app",
    "commits": "commits:commits",
    "alerts": "alerts:app",
    "notify": "notify:app",
    "dispatch": "dispatch:dispatch",
    "token": "cluster:token",
    "migrate": "cluster:migrate",
    "doctor": "doctor:doctor",
    "export": "export:export",
    "serve": "serve:serve",
    "schema": "schema:schema",
}
"""The file of each verb, and what it is called there. Only the one that is asked for is imported: all of them take two
seconds."""
HIDDEN = ("schema",)


def app_with(verbs: Iterable[str]) -> typer.Typer:
    app = typer.Typer(
        name="kexbench",
        help="Benchmarks TLS key exchange across libraries, versions and CPUs.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode="markdown",
    )
    app.callback()(_root)
    for verb in verbs:
        file, _, name = VERBS[verb].partition(":")
        found = getattr(import_module(f"kexbench.cli.{file}"), name)
        if isinstance(found, typer.Typer):
            app.add_typer(found, name=verb)
        else:
            app.command(verb, hidden=verb in HIDDEN)(found)
    return app


def _version(wanted: bool) -> None:
    if wanted:
        print(f"kexbench {__version__}")
        raise typer.Exit


def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run a command; an expected error ends it with its text alone."""
    first = next(iter(sys.argv[1:]), "")
    if logging.lastResort is not None:  # what writes to standard error where nobody set up logging
        logging.lastResort.setFormatter(WithoutOrders())
    verbs = [first] if first in VERBS else [] if first == "--version" else VERBS
    try:
        app_with(verbs)()
    except KeyboardInterrupt:
        err.print("cancelled")
        sys.exit(130)
    except BrokenPipeError:
        sys.exit(1)
    except Exception as error:
        from kexbench.cli.failing import words_of  # noqa: PLC0415 (what can fail is imported where it failed)

        lines = words_of(error)
        if lines is None:
            raise
        _fail(*lines)


def _fail(*lines: str) -> None:
    for line in lines:
        err.print(line if len(line) < 600 else line[:600] + " …", markup=False, soft_wrap=True)
    sys.exit(1)
