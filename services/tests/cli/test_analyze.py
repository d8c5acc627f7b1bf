"""`kexbench analyze`: lines in, lines out at once, and what is wrong with a line."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from kexbench.cli.analyze import app
from tests.cli.conftest import TIMEOUT_S, Cli, Result

STEP = [10.0, 10.1, 9.9, 10.0, 10.1, 9.9, 10.0, 12.0, 12.1, 11.9, 12.0, 12.1, 12.0]
SAME = [[10.0, 10.1], [10.1, 10.0], [9.9, 10.0], [10.0, 10.0]]
MORE = [[12.0, 12.1], [12.1, 12.0], [11.9, 12.0], [12.0, 12.0]]


def filtered(verb: str, text: str, *options: str) -> Result:
    """In this process: of each a new one would mostly be starting."""
    done = CliRunner().invoke(app, [verb, *options], input=text)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return Result(done.exit_code, done.stdout, done.stderr)


def test_a_line_of_numbers_is_answered_with_a_line_of_indices() -> None:
    done = filtered("changepoints", f"{json.dumps(STEP)}\n[]\n\n[5]\n[1, 1, 1, 1, 1]\n")
    assert (done.status, done.err) == (0, "")
    assert done.out == "[7]\n[]\n[]\n[]\n"
    assert filtered("changepoints", json.dumps(STEP), "--alert").out == "[7]\n"


def test_each_line_is_answered_before_the_next_is_read(tmp_path: Path) -> None:
    cli = Cli(tmp_path)
    with subprocess.Popen(
        cli.command("analyze", "changepoints"),
        env=cli.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for values, answer in ((STEP, "[7]\n"), (STEP[:5], "[]\n")):
            process.stdin.write(json.dumps(values) + "\n")
            process.stdin.flush()
            assert process.stdout.readline() == answer
        process.stdin.close()
        assert process.wait(TIMEOUT_S) == 0


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("[1, 0, 2]", "line 2: value 2 is 0"),
        ("[1, NaN]", "line 2: value 2 is nan"),
        ("[1, null]", "line 2: a history must be a list of numbers, but value 2 is null"),
        ("[1, true]", "line 2: a history must be a list of numbers, but value 2 is true"),
        ('{"a": 1}', "line 2: a history must be a list of numbers"),
        ("[1, 2", "line 2: Expecting"),
        ("[" * 100_000, "line 2: nested too deeply"),
        ("[" + "9" * 400 + "]", "line 2: a history contains a number that is too large"),
    ],
)
def test_a_line_that_cannot_be_answered_ends_it_with_its_number(line: str, fault: str) -> None:
    done = filtered("changepoints", f"[1, 1, 1, 1]\n{line}\n[1]\n")
    assert (done.status, done.out) == (2, "[]\n")
    assert done.err.startswith(fault), done.err


def compared(asked: Any, *options: str) -> Any:
    done = filtered("compare", json.dumps(asked), *options)
    assert done.status == 0, done.err
    return json.loads(done.out)


def test_two_lists_are_compared() -> None:
    found = compared({"a": SAME, "b": MORE, "paired": True})
    assert found.keys() == {"ratio", "ci_low", "ci_high", "regression"}
    assert found["ratio"] == pytest.approx(1.2, abs=0.02)
    assert found["ci_low"] < found["ratio"] < found["ci_high"]
    assert found["regression"] is True
    assert compared({"a": MORE, "b": SAME})["regression"] is False
    assert compared({"a": SAME, "b": SAME}, "--alert")["regression"] is False


@pytest.mark.parametrize(
    ("asked", "fault"),
    [
        ([1, 2], 'line 1: expected {"a"'),
        ({"a": SAME}, 'line 1: expected {"a"'),
        ({"a": 1, "b": SAME}, 'line 1: "a" must be a list of invocations'),
        ({"a": SAME, "b": [1]}, 'line 1: each invocation of "b" must be a list of numbers'),
        ({"a": SAME, "b": MORE, "paired": 1}, 'line 1: "paired" must be true or false'),
        ({"a": SAME, "b": []}, "line 1: "),
    ],
)
def test_a_comparison_that_cannot_be_made_says_why(asked: Any, fault: str) -> None:
    done = filtered("compare", json.dumps(asked))
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith(fault), done.err
