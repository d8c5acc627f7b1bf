"""The manual page, kexbench(1), from the commands and from the page of settings."""

import re
from collections.abc import Mapping, Sequence

from docutils import nodes
from docutils.core import publish_from_doctree
from docutils.utils import new_document

from kexbench import __version__
from kexbench.cli.statuses import EVERYWHERE, status_sentence
from sitemaker.commands import Command, Option, program
from sitemaker.stage import FORGE, ROOT

FILES = {
    "KEXBENCH_HOME": (
        "Kits, keys, runs and the store. `repositories.yaml`, `channels.yaml` and `views.yaml` are read here unless "
        "their variables name other files. `KEXBENCH_HOME` names another folder."
    ),
    "KEXBENCH_CACHE": "Downloads, builds and tools; safe to delete. `KEXBENCH_CACHE` names another folder.",
}
"""By the variable whose default is the path."""
_LEFT = ".nr HY 0\n.nh\n.ad l"
"""No word is hyphenated and no space stretched: names and options stay as they are typed."""
_SETTING = re.compile(r"^\| `(\w+)` \| (.+?) \| (.+) \|$", re.MULTILINE)


def man_page() -> str:
    whole = program()
    commands = [command for verb in whole.verbs for command in verb.commands]
    settings = _settings()
    document = new_document("kexbench")
    document += [
        nodes.title("", "kexbench"),
        nodes.subtitle("", whole.meaning.rstrip(".")),
        nodes.docinfo(
            "",
            nodes.version("", f"kexbench {__version__}"),
            _field("manual section", "1"),
            _field("manual group", "User Commands"),
        ),
        nodes.raw("", _LEFT, format="manpage"),
        _section("Synopsis", _paragraph("`kexbench` COMMAND [OPTIONS] [ARGUMENTS]")),
        _section(
            "Description",
            _paragraph(
                "Measures TLS handshakes of OpenSSL, GnuTLS and other libraries, and reports whether a version is "
                "slower than another one. `kexbench run quickstart` measures a first spec, and `kexbench serve` shows "
                "the results in a browser."
            ),
        ),
        _section("Options", _definitions({**_rows(whole.options), "--help": "Show the options of a command."})),
        _section("Commands", *map(_command, commands)),
        _section(
            "Exit status",
            _definitions({str(status): meaning for status, meaning in EVERYWHERE.items()}),
            _paragraph("Commands with other exit statuses list them above."),
        ),
        _section("Environment", _definitions({name: _with_default(*row) for name, row in settings.items()})),
        _section("Files", _definitions({settings[name][0]: meaning for name, meaning in FILES.items()})),
        _section("See also", _paragraph(f"The documentation: {FORGE}/tree/main/docs")),
    ]
    # Without settings of whoever runs this: docutils would read files in the home folder.
    page = publish_from_doctree(
        document, writer="manpage", settings_overrides={"_disable_config": True, "output_encoding": "unicode"}
    )
    return str(page)


def _command(command: Command) -> nodes.section:
    ends = status_sentence(command.path)
    return _section(
        command.usage,
        *map(_paragraph, command.paragraphs),
        _definitions({**dict(command.arguments), **_rows(command.options)}),
        *([_paragraph(ends)] if ends else []),
        nodes.literal_block("", "\n".join(command.examples)),
    )


def _rows(options: Sequence[Option]) -> dict[str, str]:
    return {", ".join(each.names) + (f" {each.value}" if each.value else ""): each.meaning for each in options}


def _settings() -> dict[str, tuple[str, str]]:
    """Default and meaning of each variable, as the page of settings has them, without links and emphasis."""
    text = (ROOT / "docs/reference/settings.md").read_text("utf-8")
    plain = re.sub(r"\[([^]]+)\]\([^)]+\)|(?<!`)\*(\w+)\*", r"\1\2", text)
    return {name: (default.strip("`"), meaning) for name, default, meaning in _SETTING.findall(plain)}


def _with_default(default: str, meaning: str) -> str:
    return f"{meaning}." + ("" if default == "none" else f" Default: `{default}`.")


def _field(name: str, value: str) -> nodes.field:
    return nodes.field("", nodes.field_name("", name), nodes.field_body("", nodes.paragraph("", value)))


def _section(title: str, *content: nodes.Node) -> nodes.section:
    return nodes.section("", nodes.title("", title), *content)


def _paragraph(text: str) -> nodes.paragraph:
    """Text of the program, where backticks mark code."""
    parts = re.split(r"`([^`]*)`", text)
    return nodes.paragraph(
        "", "", *(nodes.literal("", part) if place % 2 else nodes.Text(part) for place, part in enumerate(parts))
    )


def _definitions(rows: Mapping[str, str]) -> nodes.definition_list:
    return nodes.definition_list(
        "",
        *(
            nodes.definition_list_item("", nodes.term("", name), nodes.definition("", _paragraph(meaning)))
            for name, meaning in rows.items()
        ),
    )
