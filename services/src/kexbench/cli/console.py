"""Where the command line writes: results to standard output, everything else to standard error."""

import json
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

out = Console(highlight=False)
err = Console(stderr=True, highlight=False, soft_wrap=True)


def print_json(value: Any) -> None:
    """Machine-readable output, with nothing around it."""
    print(json.dumps(value, indent=2, default=str))


def say(text: str) -> None:
    """One short line on what is being done."""
    err.print(text, style="dim", markup=False)


class ProgressReporter:
    """Steps as lines, measuring and storing as bars with the time left; lines only where there is no terminal."""

    def __init__(self) -> None:
        self._bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.completed}/{task.total}"),
            TimeRemainingColumn(),
            console=err,
            transient=True,
            disable=not err.is_terminal,
        )
        self._measuring = self._bars.add_task("measuring", total=None, visible=False)
        self._storing = self._bars.add_task("storing", total=None, visible=False)
        self._tenth = 0

    def step(self, text: str) -> None:
        say(text)

    def measuring(self, case_id: str, done: int, total: int) -> None:
        self._bars.update(self._measuring, completed=done, total=total, visible=done < total, description=case_id)
        if not err.is_terminal and done * 10 // total > self._tenth:
            self._tenth = done * 10 // total
            self.step(f"measured {done} of {total} invocations")

    def storing(self, done: int, total: int) -> None:
        self._bars.update(self._storing, completed=done, total=total, visible=done < total)

    def __enter__(self) -> "ProgressReporter":
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()
