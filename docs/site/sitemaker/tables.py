"""Markdown tables, and text in them."""

import re
from collections.abc import Iterable, Sequence


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Nothing if there are no rows."""
    lines = [_row(row) for row in rows]
    return "\n".join([_row(header), "|" + "---|" * len(header), *lines, "", ""]) if lines else ""


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def prose(text: str) -> str:
    """Text of the program as Markdown: what stands in backticks stays code, and nothing is HTML or a link."""
    parts = re.split(r"(`[^`]*`)", " ".join(text.split()))
    return "".join(part if part.startswith("`") else re.sub(r"([<\[*_\\])", r"\\\1", part) for part in parts)


def code(text: object) -> str:
    return f"`{text}`"
