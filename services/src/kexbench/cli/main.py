"""`kexbench`: the verbs, and how errors end a command.

What a command ends with is in `statuses.py`, which the help quotes.
"""

import ast
import logging
import os
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from inspect import getdoc
from pathlib import Path
from typing import Annotated

import typer

from kexbench import __version__, traces
from kexbench.cli.console import WithoutOrders, err
from kexbench.cli.statuses import status_sentence
from kexbench.garbage import collect_seldom
from kexbench.logs import are_json, log_json

VERBS = {
    "run": "run:run",
    "plan": "plan:plan",
    "specs": "specs:app",
    "compare": "compare:compare",
    "comment": "comment:comment",
    "upgrade": "upgrade:upgrade",
    "why": "why:why",
    "stacks": "stacks:stacks",
    "paths": "paths:paths",
    "life": "life:life",
    "capacity": "capacity:capacity",
    "analyze": "analyze:app",
    "bisect": "bisect:bisect",
    "bisections": "bisections:app",
    "backfill": "backfill:backfill",
    "security": "security:security",
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
    "tokens": "tokens:app",
    "audit": "tokens:audit",
    "migrate": "cluster:migrate",
    "backup": "backup:backup",
    "restore": "backup:restore",
    "prune": "prune:prune",
    "doctor": "doctor:doctor",
    "fleet": "fleet:app",
    "export": "export:export",
    "publish": "publish:publish_site",
    "serve": "serve:serve",
    "schema": "schema:schema",
}
"""The module and the attribute of each verb. A command imports only its own, and their list imports none: importing all
of them takes two seconds."""
HIDDEN = ("schema",)
LASTING = ("serve", "dispatch")
"""Commands that send their traces while they run; others may measure, and send them at their end."""


def app_with(verbs: Iterable[str]) -> typer.Typer:
    app = _without_verbs()
    for verb in verbs:
        file, _, name = VERBS[verb].partition(":")
        command = getattr(import_module(f"kexbench.cli.{file}"), name)
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=verb)
        else:
            app.command(verb, hidden=verb in HIDDEN)(command)
    _set_help((), app)
    for group in app.registered_groups:
        if group.typer_instance:
            _set_help((group.name or "",), group.typer_instance)
    return app


def _set_help(path: tuple[str, ...], part: typer.Typer) -> None:
    """The docstring, with the exit statuses before its examples."""
    for info in part.registered_commands:
        name = info.name or getattr(info.callback, "__name__", "").replace("_", "-")
        text, example, examples = (getdoc(info.callback) or "").partition("\n\nExample")
        ends = status_sentence(" ".join((*path, str(name))))
        # The third line break is for typer, which would join the lines of a first code block.
        info.help = "".join([text, ends and f"\n\n{ends}", example.replace("\n\n", "\n\n\n"), examples])


def _without_verbs() -> typer.Typer:
    app = typer.Typer(
        name="kexbench",
        help="Benchmark TLS key exchange across libraries, versions and CPUs.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode="markdown",
    )
    app.callback()(_root)
    return app


def list_of_verbs() -> typer.Typer:
    """Has the verbs with their first lines, for help and for words that are no verb. It runs none of them."""
    app = _without_verbs()
    for verb, place in VERBS.items():
        file, _, name = place.partition(":")
        app.command(verb, help=_help_in(file, name), hidden=verb in HIDDEN)(lambda: None)
    return app


def _help_in(file: str, name: str) -> str:
    """The docstring of a command, or the help of a group, read without importing the module."""
    module = ast.parse(Path(__file__).with_name(f"{file}.py").read_bytes())
    for node in module.body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return ast.get_docstring(node) or ""
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name and isinstance(node.value, ast.Call):
            return next(str(ast.literal_eval(word.value)) for word in node.value.keywords if word.arg == "help")
    raise LookupError(f"kexbench.cli.{file} has no {name}")


def app_for(arguments: Sequence[str]) -> typer.Typer:
    """What a command line needs, or the words before the cursor of a shell that completes one."""
    if "_KEXBENCH_COMPLETE" in os.environ:
        arguments = (os.environ.get("_TYPER_COMPLETE_ARGS") or os.environ.get("COMP_WORDS", "")).split()[1:]
    first = next(iter(arguments), "")
    if first in VERBS:
        return app_with([first])
    return app_with(VERBS) if VERBS.keys() & set(arguments) else list_of_verbs()


def _version(requested: bool) -> None:
    if requested:
        print(f"kexbench {__version__}")
        raise typer.Exit


def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run a command. An expected error ends it and prints only its text."""
    collect_seldom()
    _use_utf8()
    _open_streams()
    verb = next(iter(sys.argv[1:]), "")
    traces.begin(f"kexbench {verb}".strip(), sends_at_end=verb not in LASTING)
    if are_json():
        log_json(verb or "kexbench")
    elif logging.lastResort is not None:  # writes to standard error if logging is not set up
        logging.lastResort.setFormatter(WithoutOrders())
    try:
        try:
            app_for(sys.argv[1:])()
        finally:
            traces.end()
    except KeyboardInterrupt:
        err.print("cancelled")
        sys.exit(130)
    except BrokenPipeError:
        sys.exit(1)
    except Exception as error:
        from kexbench.cli.failing import words_of  # noqa: PLC0415 (only a failing command needs it)

        lines = words_of(error)
        if lines is None:
            raise
        _fail(*lines)


def _use_utf8() -> None:
    """Begin again in Python's UTF-8 mode where the locale has another encoding: Python and the embedded ClickHouse
    would name two folders by one path that is not ASCII."""
    if sys.getfilesystemencoding() != "utf-8" and not sys.flags.ignore_environment:
        os.environ["PYTHONUTF8"] = "1"
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606 (this program, with its own arguments)


def _open_streams() -> None:
    """Send what nobody reads to nowhere. Otherwise, a file that is opened next would take the number of a closed
    stream, and what is printed would go into that file."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number
    sys.stdin = sys.stdin or open(0, closefd=False, encoding="utf-8")  # noqa: SIM115 (open until the end)
    sys.stdout = sys.stdout or open(1, "w", closefd=False, encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", closefd=False, encoding="utf-8")  # noqa: SIM115


def _fail(*lines: str) -> None:
    for line in lines:
        err.print(line if len(line) < 600 else line[:600] + " …", markup=False, soft_wrap=True)
    sys.exit(1)
