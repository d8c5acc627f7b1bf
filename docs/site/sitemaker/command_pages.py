"""The reference of the command line: a page for each verb, and the exit statuses in one table."""

from collections.abc import Sequence

from kexbench.cli.statuses import EVERYWHERE, OWN
from sitemaker.commands import Command, Option, Verb, program
from sitemaker.tables import code, prose, table

FOLDER = "reference/command-line"


def command_pages() -> dict[str, str]:
    """The Markdown of each page, by its path on the site."""
    whole = program()
    summary = table(
        ("command", "purpose"),
        [
            (
                f"[`kexbench {command.path}`]({verb.name}.md#kexbench-{command.path.replace(' ', '-')})",
                prose(command.paragraphs[0]),
            )
            for verb in whole.verbs
            for command in verb.commands
        ],
    )
    return {
        f"{FOLDER}/index.md": (
            "# Command line\n\n"
            "Every command has `--help`, which says the same. The [settings](../settings.md) are environment "
            "variables, and the [exit statuses](../exit-statuses.md) are in one table.\n\n"
            + summary
            + "Options of `kexbench` itself:\n\n"
            + _options(whole.options)
        ),
        **{f"{FOLDER}/{verb.name}.md": _page(verb) for verb in whole.verbs},
        "reference/exit-statuses.md": _exit_statuses(),
    }


def _page(verb: Verb) -> str:
    lone = [command.path for command in verb.commands] == [verb.name]
    top = f"# kexbench {verb.name}\n\n" + ("" if lone else f"{prose(verb.meaning)}\n\n")
    return top + "\n".join(_command(command, heading=not lone) for command in verb.commands)


def _command(command: Command, *, heading: bool) -> str:
    return "".join(
        [
            f"## kexbench {command.path}\n\n" if heading else "",
            *(f"{prose(paragraph)}\n\n" for paragraph in command.paragraphs),
            f"```sh\n{chr(10).join(command.examples)}\n```\n\n",
            f"Usage: {code(command.usage)}\n\n",
            table(("argument", "meaning"), [(code(name), prose(meaning)) for name, meaning in command.arguments]),
            _options(command.options),
            table(
                ("exit status", "meaning"),
                [(str(status), prose(meaning)) for status, meaning in command.statuses.items()],
            ),
        ]
    )


def _options(options: Sequence[Option]) -> str:
    rows = [
        (", ".join(map(code, each.names)) + (f" {code(each.value)}" if each.value else ""), prose(each.meaning))
        for each in options
    ]
    return table(("option", "meaning"), rows)


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
