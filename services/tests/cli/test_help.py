"""The help of every command: its texts in a golden file, and its examples line by line on the screen."""

from collections.abc import Iterator
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from kexbench.cli.main import VERBS, app_with
from tests.golden import GOLDEN, assert_texts

APP = app_with(VERBS)


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield path, command
    for name, part in getattr(command, "commands", {}).items():
        yield from commands(part, (*path, name))


def paragraphs(command: Any) -> str:
    options = (f"{'/'.join(each.opts)}: {each.help}" for each in command.params if getattr(each, "help", None))
    return "\n".join([command.help or "", "", *options])


ALL = dict(commands(get_command(APP)))


def test_the_texts_of_the_help() -> None:
    assert_texts(GOLDEN / "help.txt", {" ".join(["kexbench", *path]): paragraphs(each) for path, each in ALL.items()})


@pytest.mark.parametrize("path", [path for path, each in ALL.items() if "Example" in (each.help or "")], ids=" ".join)
def test_every_example_has_lines_of_its_own(path: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    shown = [line.strip() for line in CliRunner().invoke(APP, [*path, "--help"]).output.splitlines()]
    _, _, examples = ALL[path].help.rpartition("Example")
    lines = [line.strip() for line in examples.splitlines()[1:] if line.strip()]
    assert lines
    assert set(lines) <= set(shown)
