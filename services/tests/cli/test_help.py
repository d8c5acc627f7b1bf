"""The help of every command: its texts in a golden file, and its examples line by line on the screen."""

import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import typer
from typer.main import get_command
from typer.testing import CliRunner

from kexbench.cli.main import VERBS, app_with, list_of_verbs
from kexbench.cli.statuses import EVERYWHERE, OWN, status_sentence
from tests.cli.conftest import Cli
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


COMMANDS = [path for path, each in ALL.items() if not hasattr(each, "commands")]


def test_every_group_of_commands_is_found() -> None:
    assert {path[0] for path in COMMANDS} == set(VERBS)


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_command_has_an_example_of_itself(path: tuple[str, ...]) -> None:
    _, _, examples = ALL[path].help.rpartition("\n\nExample")
    bare = path[:-1] if path[-1] == "list" else path  # `kexbench alerts` lists them
    assert re.search(rf"kexbench {' '.join(bare)}\b", examples)


def test_exit_statuses_are_those_of_the_one_table() -> None:
    assert set(OWN) <= {" ".join(path) for path in COMMANDS}
    for path in COMMANDS:
        before, _, after = ALL[path].help.partition("Exit status: ")
        own = status_sentence(" ".join(path)).removeprefix("Exit status: ")
        assert after.startswith(own) if own else not after
        assert "xit status" not in before, "say it in cli/statuses.py"
        assert ";" not in "".join(OWN.get(" ".join(path), {}).values()), "a semicolon separates statuses"
    for meanings in OWN.values():
        assert 0 in meanings
        assert meanings.items().isdisjoint(EVERYWHERE.items())


@pytest.mark.parametrize("path", [path for path, each in ALL.items() if "Example" in (each.help or "")], ids=" ".join)
def test_every_example_has_lines_of_its_own(path: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    shown = [line.strip() for line in CliRunner().invoke(APP, [*path, "--help"]).output.splitlines()]
    _, _, examples = ALL[path].help.rpartition("Example")
    lines = [line.strip() for line in examples.splitlines()[1:] if line.strip()]
    assert lines
    assert set(lines) <= set(shown)


def test_the_list_of_commands_is_read_from_files_and_imports_none() -> None:
    def listed(app: typer.Typer) -> dict[str, str]:
        return {path[0]: each.get_short_help_str(200) for path, each in commands(get_command(app)) if len(path) == 1}

    assert listed(list_of_verbs()) == listed(APP)
    assert list(listed(list_of_verbs())) == list(VERBS)


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("kexbench ru", ["run", "runs"]),
        ("kexbench runs sh", ["show"]),
        ("kexbench run articles/eq", ["articles/equal-security"]),
        ("kexbench compare a b --spec quick", ["quickstart"]),
    ],
)
def test_a_shell_completes_commands_and_specs(words: str, completed: list[str], cli: Cli) -> None:
    order = {"_KEXBENCH_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
    done = subprocess.run(cli.command(), env={**cli.environment, **order}, capture_output=True, text=True, check=True)
    assert done.stdout.split() == completed


PATHS = [
    (" ".join(path), each)
    for path in COMMANDS
    for each in ALL[path].params
    if "Path" in str(each.type_descriptor.annotation)
]
NO_DOCUMENTS = {
    *(("why", "save"), ("publish", "folder"), ("specs copy", "to"), ("schema", "folder")),
    *(("compare", "output"), ("comment", "folder"), ("backup", "target"), ("restore", "source"), ("runs add", "paths")),
}


def test_every_command_that_reads_a_spec_or_mix_takes_its_name_and_completes_it() -> None:
    """Whatever is a path is a document, or one of the few that commands write and read back."""
    documents = [(path, each) for path, each in PATHS if (path, each.name) not in NO_DOCUMENTS]
    assert len(PATHS) - len(documents) == len(NO_DOCUMENTS)
    assert {"run", "plan", "submit", "schedules add", "alerts dry-run", "backfill"} <= {path for path, _ in documents}
    for path, each in documents:
        typed, name = ("mixes/w", "mixes/web") if each.name == "mix" else ("quick", "quickstart")
        assert [item.value for item in each.shell_complete(None, typed)] == [name], path
        assert "name" in each.help, path


LIGHT = ("runs", "queue", "submit", "commits", "schedules", "notify", "export", "specs", "token")


@pytest.mark.parametrize("verb", LIGHT)
def test_a_command_that_asks_an_api_imports_no_vectors_and_no_database(verb: str) -> None:
    """They take longer to import than the rest of the command takes."""
    code = f"import sys; from kexbench.cli.main import app_with; app_with([{verb!r}]); print(*sys.modules)"
    modules = set(
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    )
    assert not modules & {"numpy", "scipy", "pyarrow", "clickhouse_connect", "fastapi", "kexbench.kits.recipe"}
