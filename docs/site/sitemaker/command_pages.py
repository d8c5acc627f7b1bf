"""The reference of the command line: a page for each verb, and the exit statuses in one table."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.main import get_command

from kexbench.cli.main import VERBS, app_with
from kexbench.cli.statuses import EVERYWHERE, OWN
from sitemaker.tables import code, prose, table

FOLDER = "reference/command-line"
_KINDS: dict[Any, str] = {int: "NUMBER", float: "NUMBER", Path: "PATH"}


def command_pages() -> dict[str, str]:
    """The Markdown of each page, by its path on the site."""
    program: Any = get_command(app_with(VERBS))
    verbs = {name: program.commands[name] for name in VERBS if not program.commands[name].hidden}
    pages = {f"{FOLDER}/{name}.md": _page(name, verb) for name, verb in verbs.items()}
    commands = [each for name, verb in verbs.items() for each in _commands(verb, name)]
    summary = table(
        ("command", "purpose"),
        [
            (f"[`kexbench {path}`]({path.split()[0]}.md#kexbench-{path.replace(' ', '-')})", _summary(command))
            for path, command in commands
        ],
    )
    return {
        f"{FOLDER}/index.md": (
            "# Command line\n\n"
            "Every command has `--help`, which says the same. The [settings](../settings.md) are environment "
            "variables, and the [exit statuses](../exit-statuses.md) are in one table.\n\n"
            + summary
            + "Options of `kexbench` itself:\n\n"
            + table(("option", "meaning"), [(_option(each), _meaning(each)) for each in program.params])
        ),
        **pages,
        "reference/exit-statuses.md": _exit_statuses(),
    }


def _commands(verb: Any, path: str) -> Iterator[tuple[str, Any]]:
    """The verb itself, or the commands of a group."""
    if hasattr(verb, "commands"):
        for name, command in verb.commands.items():
            yield from _commands(command, f"{path} {name}")
    elif not verb.hidden:
        yield path, verb


def _summary(command: Any) -> str:
    return prose(command.help.partition("\n\n")[0])


def _page(name: str, verb: Any) -> str:
    commands = list(_commands(verb, name))
    lone = len(commands) == 1 and commands[0][0] == name
    top = f"# kexbench {name}\n\n" + ("" if lone else f"{prose(verb.help or '')}\n\n")
    return top + "\n".join(_command(path, command, heading=not lone) for path, command in commands)


def _command(path: str, command: Any, *, heading: bool) -> str:
    text, _, examples = command.help.partition("\n\nExample")
    text, _, _ = text.partition("\n\nExit status: ")
    paragraphs = "\n\n".join(prose(paragraph) for paragraph in text.split("\n\n"))
    lines = [line.removeprefix("    ") for line in examples.partition("\n")[2].strip("\n").splitlines()]
    inputs = [each for each in command.params if not getattr(each, "hidden", False)]
    places = [each for each in inputs if each.param_type_name == "argument"]
    options = [each for each in inputs if each.param_type_name == "option"]
    usage = " ".join([f"kexbench {path}", *(["[OPTIONS]"] if options else []), *map(_placeholder, places)])
    return "".join(
        [
            f"## kexbench {path}\n\n" if heading else "",
            f"{paragraphs}\n\n",
            f"```sh\n{chr(10).join(lines)}\n```\n\n",
            f"Usage: {code(usage)}\n\n",
            table(("argument", "meaning"), [(code(_placeholder(each)), _meaning(each)) for each in places]),
            table(("option", "meaning"), [(_option(each), _meaning(each)) for each in options]),
            table(
                ("exit status", "meaning"),
                [(str(status), prose(meaning)) for status, meaning in OWN.get(path, {}).items()],
            ),
        ]
    )


def _placeholder(argument: Any) -> str:
    name = str(argument.metavar or argument.name.upper()) + ("..." if argument.nargs == -1 else "")
    return name if argument.required else f"[{name}]"


def _option(option: Any) -> str:
    names = ", ".join(code(name) for name in [*option.opts, *option.secondary_opts])
    if option.is_flag:
        return names
    kind = option.metavar or _KINDS.get(option.type_descriptor.annotation, "TEXT")
    return f"{names} {code(kind)}"


def _meaning(each: Any) -> str:
    text = prose(each.help or "")
    default = each.default
    is_named = default not in (None, False, (), [], "") and not callable(default) and each.show_default is not False
    written = getattr(default, "value", default)
    choices = [getattr(each, "value", each) for each in each.type_descriptor.choices or ()]
    values = f" One of {', '.join(map(code, choices))}." if choices and not each.metavar else ""
    repeated = " May be repeated." if getattr(each, "multiple", False) else ""
    return text + values + repeated + (f" Default: {code(written)}." if is_named and "efault:" not in text else "")


def _exit_statuses() -> str:
    return (
        "# Exit statuses\n\n"
        + table(("exit status", "meaning"), [(str(status), prose(text)) for status, text in EVERYWHERE.items()])
        + "These commands say more. A status that a command does not list means what it means everywhere.\n\n"
        + table(
            ("command", "exit status", "meaning"),
            [
                (f"[`kexbench {path}`](command-line/{path.split()[0]}.md)", str(status), prose(meaning))
                for path, own in OWN.items()
                for status, meaning in own.items()
            ],
        )
    )
