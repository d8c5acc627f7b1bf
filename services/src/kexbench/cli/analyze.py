"""`kexbench analyze`: the detectors as filters. Each input line is a JSON value and is answered by one output line.

The first invalid line ends the command with exit status 2; the lines before it have been answered.
"""

import json
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

from kexbench.cli.console import err

app = typer.Typer(
    help="Find change points in, or compare, any numbers: JSON lines from standard input.",
    no_args_is_help=True,
)

Alert = Annotated[bool, typer.Option("--alert", help="Use the stricter level of alerts: fewer false alarms.")]


@app.command()
def changepoints(alert: Alert = False) -> None:
    """Find where the level of a history changes.

    Input: one list of numbers a line. Output: the indices of the first values after changes.

    Examples:

        echo '[10.0, 10.1, 9.9, 10.0, 10.1, 12.0, 12.1, 11.9, 12.0, 12.1]' | kexbench analyze changepoints

        kexbench analyze changepoints --alert < histories.jsonl
    """
    from kexbench.analysis.changepoints import change_points  # noqa: PLC0415 (a filter imports only what it needs)

    _each_line(lambda history: [change.index for change in change_points(_numbers(history, "a history"), strict=alert)])


@app.command()
def compare(alert: Alert = False) -> None:
    """Compare the cost of b with that of a. Each is a list of invocations, and an invocation is a list of batch values.

    `"paired": true` says that invocation i of a and invocation i of b ran interleaved.

    Example:

        echo '{"a": [[10, 11], [10, 10], [11, 10]], "b": [[12, 12], [12, 13], [12, 12]], "paired": false}' |
        kexbench analyze compare
    """
    from kexbench.analysis.lists import compare_lists  # noqa: PLC0415 (as above)

    def answer(lists: Any) -> dict[str, Any]:
        if not isinstance(lists, dict) or not {"a", "b"} <= lists.keys() <= {"a", "b", "paired"}:
            raise ValueError('expected {"a": [[…]], "b": [[…]]}, optionally with "paired": true or false')
        paired = lists.get("paired", False)
        if not isinstance(paired, bool):
            raise ValueError('"paired" must be true or false')
        pair = compare_lists(_invocations(lists["a"], "a"), _invocations(lists["b"], "b"), paired, alert)
        move = pair.move
        return {"ratio": move.ratio, "ci_low": move.low, "ci_high": move.high, "regression": pair.regression}

    _each_line(answer)


def _each_line(answer: Callable[[Any], Any]) -> None:
    """Skips blank lines."""
    for number, line in enumerate(sys.stdin, 1):
        if not line.strip():
            continue
        try:
            text = json.dumps(answer(json.loads(line)), allow_nan=False)
        except RecursionError:
            _stop(number, "nested too deeply")
        except ValueError as error:  # JSONDecodeError is one
            _stop(number, str(error))
        else:
            print(text, flush=True)


def _stop(number: int, fault: str) -> None:
    err.print(f"line {number}: {fault}", markup=False)
    raise typer.Exit(2)


def _invocations(value: Any, name: str) -> list[list[float]]:
    if not isinstance(value, list):
        raise ValueError(f'"{name}" must be a list of invocations, each a list of numbers')
    return [_numbers(invocation, f'each invocation of "{name}"') for invocation in value]


def _numbers(value: Any, what: str) -> list[float]:
    if not isinstance(value, list):
        raise ValueError(f"{what} must be a list of numbers")
    for position, item in enumerate(value, 1):
        if isinstance(item, bool) or not isinstance(item, int | float):
            raise ValueError(f"{what} must be a list of numbers, but value {position} is {json.dumps(item)[:40]}")
    try:
        return [float(item) for item in value]
    except OverflowError:
        raise ValueError(f"{what} contains a number that is too large") from None
