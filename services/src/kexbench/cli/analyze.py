"""`kexbench analyze`: the detectors as filters, one JSON value a line in, one a line out as soon as it is known.

Exit status 2 at the first line that cannot be answered; the lines before it have been.
"""

import json
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

from kexbench.cli.console import err

app = typer.Typer(
    help="Change points and comparisons of numbers from anywhere, line by line from standard input.",
    no_args_is_help=True,
)

Alert = Annotated[bool, typer.Option("--alert", help="The strict level, that of alerts: fewer false alarms.")]


@app.command()
def changepoints(alert: Alert = False) -> None:
    """Where the level of each history changed: a list of numbers in, the indices of the first values after changes out.

    Examples:

        echo '[10.0, 10.1, 9.9, 10.0, 10.1, 12.0, 12.1, 11.9, 12.0, 12.1]' | kexbench analyze changepoints

        kexbench analyze changepoints --alert < histories.jsonl
    """
    from kexbench.analysis.changepoints import change_points  # noqa: PLC0415 (a filter starts with what it needs)

    _each_line(lambda history: [change.index for change in change_points(_numbers(history, "a history"), strict=alert)])


@app.command()
def compare(alert: Alert = False) -> None:
    """What b costs relative to a, each a list of invocations, which are lists of batch values.

    With `"paired": true` invocation i of both ran interleaved.

    Example:

        echo '{"a": [[10, 11], [10, 10], [11, 10]], "b": [[12, 12], [12, 13], [12, 12]], "paired": false}' |
        kexbench analyze compare
    """
    from kexbench.analysis.lists import compare_lists  # noqa: PLC0415 (as above)

    def answer(asked: Any) -> dict[str, Any]:
        if not isinstance(asked, dict) or not {"a", "b"} <= asked.keys() <= {"a", "b", "paired"}:
            raise ValueError('expected {"a": [[…]], "b": [[…]]}, with "paired": true or false if you like')
        paired = asked.get("paired", False)
        if not isinstance(paired, bool):
            raise ValueError('"paired" is true or false')
        found = compare_lists(_invocations(asked["a"], "a"), _invocations(asked["b"], "b"), paired, alert)
        return {
            "ratio": found.ratio,
            "ci_low": found.ci_low,
            "ci_high": found.ci_high,
            "regression": found.regression,
        }

    _each_line(answer)


def _each_line(answer: Callable[[Any], Any]) -> None:
    """Blank lines are passed over."""
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
        raise ValueError(f'"{name}" is a list of invocations, which are lists of numbers')
    return [_numbers(each, f'each invocation of "{name}"') for each in value]


def _numbers(value: Any, what: str) -> list[float]:
    if not isinstance(value, list):
        raise ValueError(f"{what} is a list of numbers")
    for number, each in enumerate(value, 1):
        if isinstance(each, bool) or not isinstance(each, int | float):
            raise ValueError(f"{what} is a list of numbers, but value {number} is {json.dumps(each)[:40]}")
    try:
        return [float(each) for each in value]
    except OverflowError:
        raise ValueError(f"{what} has a number that is too large") from None
