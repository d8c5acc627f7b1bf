"""What people print through the command line cannot tell their terminal to do anything."""

import io
import logging

import pytest
from rich.console import Console
from rich.table import Table

from kexbench.cli import console

TITLE = "\x1b]0;owned\x07fix \x1b[2Jall\x9b31m \u202edezitilps\u2066"


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """Standard output as a terminal of 100 columns would get it."""
    written = io.StringIO()
    monkeypatch.setattr(console.out, "_file", written)
    monkeypatch.setattr(console.out, "_width", 100)
    monkeypatch.setattr(console.out, "_force_terminal", True)
    return written


def orders_in(text: str) -> set[str]:
    return {sign for sign in text if sign != "\n" and console.without_orders(sign) != sign}


@pytest.mark.parametrize("where", ["line", "cell", "heading", "label"])
def test_a_title_that_gives_the_terminal_orders_is_shown_without_them(printed: io.StringIO, where: str) -> None:
    table = Table(TITLE if where == "heading" else "commit", title=TITLE if where == "label" else None, box=None)
    table.add_row(TITLE if where == "cell" else "0123456")
    console.out.print(TITLE if where == "line" else table, markup=False)
    text = printed.getvalue()
    assert orders_in(text) == set()
    assert "fix" in "".join(text.split())
    assert "owned" in text


def test_styles_of_our_own_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.StringIO()
    own = Console(file=written, force_terminal=True, color_system="standard")
    own.push_render_hook(console._ShowOrders())
    own.print("slower", style="red")
    assert written.getvalue() == "\x1b[31mslower\x1b[0m\n"


def test_lines_and_letters_of_all_scripts_stay() -> None:
    text = "größer\n\t→ 速い 🙂 שלום"
    assert console.without_orders(text) == text


def test_what_is_logged_of_others_gives_no_orders_either() -> None:
    record = logging.LogRecord("any", logging.WARNING, "file", 1, "git says: %s", (TITLE,), None)
    text = console.WithoutOrders().format(record)
    assert orders_in(text) == set()
    assert "owned" in text
