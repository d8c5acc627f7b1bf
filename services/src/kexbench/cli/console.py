"""Where the command line writes: results to standard output, everything else to standard error.

Titles of commits, names and notes come from untrusted people: control characters are replaced.
"""

import json
import logging
from collections.abc import Callable
from typing import Any, TextIO, cast

from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderHook, RenderResult
from rich.measure import Measurement
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.segment import Segment

from kexbench.domain.numbers import duration_words
from kexbench.logs import Lines, are_json

_ORDERS = {
    **dict.fromkeys((*range(0x20), *range(0x7F, 0xA0)), "�"),  # C0 and C1, ESC among them
    **dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A)), "�"),  # these change the direction of text
    ord("\n"): "\n",
    ord("\t"): "\t",
}
"""Invisible characters that a terminal obeys, with their replacements."""


def without_orders(text: str) -> str:
    return text.translate(_ORDERS)


class _Shown:
    """Content without control characters; its style stays."""

    def __init__(self, content: ConsoleRenderable) -> None:
        self._content = content

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for segment in console.render(self._content, options):
            yield segment if segment.control else Segment(without_orders(segment.text), segment.style)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement.get(console, options, self._content)


class _ShowOrders(RenderHook):
    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        return [_Shown(content) for content in renderables]


out = Console(highlight=False)
err = Console(stderr=True, highlight=False, soft_wrap=True)
if are_json():
    _lines = cast(TextIO, Lines(logging.getLogger("kexbench")))
    err = Console(file=_lines, highlight=False, soft_wrap=True, width=1 << 16)
for _console in (out, err):
    _console.push_render_hook(_ShowOrders())


class WithoutOrders(logging.Formatter):
    """Log lines quote others too, such as the output of git."""

    def format(self, record: logging.LogRecord) -> str:
        return without_orders(super().format(record))


def print_json(value: Any) -> None:
    """Prints JSON and nothing else."""
    print(json.dumps(value, indent=2, default=str))


def say(text: str) -> None:
    """Prints a short progress line."""
    err.print(text, style="dim", markup=False)


def shows_progress() -> bool:
    """Whether bars can be drawn."""
    return err.is_terminal and not err.is_dumb_terminal


PACE_S = 600.0
"""The time whose pace tells what is left: an invocation may take a minute."""


class ProgressReporter:
    """Prints steps as lines, measuring and storing as bars with the remaining time. Without a terminal: lines only."""

    def __init__(self, clock: Callable[[], float] | None = None) -> None:
        """`clock` gives seconds, by default those of the machine."""
        self._bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.completed}/{task.total}"),
            TimeRemainingColumn(),
            console=err,
            transient=True,
            disable=not shows_progress(),
            speed_estimate_period=PACE_S,
            get_time=clock,
        )
        self._measuring = self._bars.add_task("measuring", total=None, visible=False)
        self._storing = self._bars.add_task("storing", total=None, visible=False)
        self._tenth = 0

    def step(self, text: str) -> None:
        say(text)

    def measuring(self, case_id: str, done: int, total: int) -> None:
        self._bars.update(self._measuring, completed=done, total=total, visible=done < total, description=case_id)
        if not shows_progress() and done * 10 // total > self._tenth:
            self._tenth = done * 10 // total
            left_s = self._bars.tasks[self._measuring].time_remaining
            left = f", about {duration_words(left_s)} left" if left_s else ""
            self.step(f"measured {done} of {total} invocations{left}")

    def storing(self, done: int, total: int) -> None:
        self._bars.update(self._storing, completed=done, total=total, visible=done < total)

    def __enter__(self) -> "ProgressReporter":
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()
