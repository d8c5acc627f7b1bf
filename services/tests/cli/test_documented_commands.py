"""The commands that documents name exist: goals of make, and commands of kexbench with their options."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.test_help import ALL
from tests.test_documents import DOCUMENTS, ROOT

HISTORY = (ROOT / "CHANGELOG.md", ROOT / "docs/adr")
"""They may name what is gone."""
TODAY = [path for path in DOCUMENTS if not any(path.is_relative_to(past) for past in HISTORY)]
GOALS = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE))


def code_lines(text: str) -> Iterator[str]:
    """What a person would type: lines of shell blocks, typed lines of consoles, and inline code."""
    for kind, block in re.findall(r"^ *```(\w*)\n(.*?)^ *```$", text, flags=re.MULTILINE | re.DOTALL):
        for line in block.replace("\\\n", " ").splitlines():
            typed = line.strip()
            if kind == "sh":
                yield typed
            elif kind == "console" and typed.startswith("$ "):
                yield typed.removeprefix("$ ")
    without_blocks = re.sub(r"^ *```.*?^ *```$", "", text, flags=re.MULTILINE | re.DOTALL)
    yield from re.findall(r"`([^`\n]+)`", without_blocks)


def fault(line: str) -> str | None:
    """Of the first command of kexbench in a line."""
    words = line.split("kexbench ", 1)[1].split()
    path: tuple[str, ...] = ()
    while words and (*path, words[0]) in ALL:
        path = (*path, words.pop(0))
    if hasattr(ALL[path], "commands") and words and re.fullmatch("[a-z][a-z-]*", words[0]):
        return f"kexbench {' '.join((*path, words[0]))} is no command"
    command = ALL.get((*path, "list"), ALL[path])  # `kexbench alerts` lists them
    known = {option for parameter in command.params for option in parameter.opts} | {"--help"}
    own = " ".join(words).partition(" | ")[0].partition(" && ")[0]
    unknown = [option for option in re.findall(r"(?:^|\s)(--[a-z][a-z-]*)", own) if option not in known]
    return f"kexbench {' '.join(path)} has no option {unknown[0]}" if unknown else None


@pytest.mark.parametrize("document", TODAY, ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_in_documents_exist(document: Path) -> None:
    lines = list(code_lines(document.read_text(encoding="utf-8")))
    for line in lines:
        if goal := re.match(r"(?:sudo )?make ([a-z][a-z-]*)", line):
            assert goal[1] in GOALS, line
    commands = [line for line in lines if re.match(r"(?:\S+/|[A-Z_]+=\S+ )*kexbench [a-z-]", line)]
    assert [found for line in commands if (found := fault(line))] == []


def test_the_readme_names_the_two_commands_of_a_checkout() -> None:
    lines = list(code_lines((ROOT / "README.md").read_text(encoding="utf-8")))
    assert {"make run", "make test"} <= set(lines)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("kexbench run spec.yaml --quick", None),
        ("kexbench runs show RUN --json | jq .", None),
        ("kexbench runs forget RUN", "kexbench runs forget is no command"),
        ("kexbench rnu spec.yaml", "kexbench rnu is no command"),
        ("kexbench run spec.yaml --quickly", "kexbench run has no option --quickly"),
    ],
)
def test_a_command_that_does_not_exist_is_found(line: str, text: str | None) -> None:
    assert fault(line) == text
