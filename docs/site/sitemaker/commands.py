"""The commands as their own help has them, for the pages of the site and the manual page. Texts are those of the
program, where backticks mark code."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typer.main import get_command

from kexbench.cli.main import VERBS, app_with
from kexbench.cli.statuses import OWN

_KINDS: dict[Any, str] = {int: "NUMBER", float: "NUMBER", Path: "PATH"}


@dataclass(frozen=True)
class Option:
    names: tuple[str, ...]
    value: str
    """Empty for a flag."""
    meaning: str


@dataclass(frozen=True)
class Command:
    path: str
    paragraphs: tuple[str, ...]
    examples: tuple[str, ...]
    arguments: tuple[tuple[str, str], ...]
    options: tuple[Option, ...]

    @property
    def usage(self) -> str:
        options = ["[OPTIONS]"] if self.options else []
        return " ".join(["kexbench", self.path, *options, *(name for name, _ in self.arguments)])

    @property
    def statuses(self) -> dict[int, str]:
        return OWN.get(self.path, {})


@dataclass(frozen=True)
class Verb:
    name: str
    meaning: str
    commands: tuple[Command, ...]
    """Those of a group, or one with the name of the verb."""


@dataclass(frozen=True)
class Program:
    meaning: str
    options: tuple[Option, ...]
    verbs: tuple[Verb, ...]


def program() -> Program:
    app: Any = get_command(app_with(VERBS))
    verbs = {name: app.commands[name] for name in VERBS if not app.commands[name].hidden}
    return Program(
        app.help,
        _options(app),
        tuple(Verb(name, verb.help or "", tuple(_commands(verb, name))) for name, verb in verbs.items()),
    )


def _commands(verb: Any, path: str) -> Iterator[Command]:
    if hasattr(verb, "commands"):
        for name, command in verb.commands.items():
            yield from _commands(command, f"{path} {name}")
    elif not verb.hidden:
        yield _command(verb, path)


def _command(command: Any, path: str) -> Command:
    text, _, examples = command.help.partition("\n\nExample")
    text, _, _ = text.partition("\n\nExit status: ")
    lines = examples.partition("\n")[2].strip("\n").splitlines()
    return Command(
        path,
        tuple(" ".join(paragraph.split()) for paragraph in text.split("\n\n")),
        tuple(line.removeprefix("    ") for line in lines),
        tuple((_placeholder(each), _meaning(each)) for each in _inputs(command, "argument")),
        _options(command),
    )


def _options(command: Any) -> tuple[Option, ...]:
    return tuple(
        Option((*each.opts, *each.secondary_opts), _value(each), _meaning(each)) for each in _inputs(command, "option")
    )


def _inputs(command: Any, kind: str) -> list[Any]:
    return [each for each in command.params if each.param_type_name == kind and not getattr(each, "hidden", False)]


def _placeholder(argument: Any) -> str:
    name = str(argument.metavar or argument.name.upper())
    if name.startswith("["):
        return name
    name += "..." if argument.nargs == -1 else ""
    return name if argument.required else f"[{name}]"


def _value(option: Any) -> str:
    return "" if option.is_flag else option.metavar or _KINDS.get(option.type_descriptor.annotation, "TEXT")


def _meaning(each: Any) -> str:
    text = " ".join((each.help or "").split())
    default = each.default
    is_named = default not in (None, False, (), [], "") and not callable(default) and each.show_default is not False
    written = getattr(default, "value", default)
    choices = [getattr(each, "value", each) for each in each.type_descriptor.choices or ()]
    values = f" One of {', '.join(f'`{choice}`' for choice in choices)}." if choices and not each.metavar else ""
    repeated = " May be repeated." if getattr(each, "multiple", False) else ""
    return text + values + repeated + (f" Default: `{written}`." if is_named and "efault:" not in text else "")
