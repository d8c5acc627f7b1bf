"""Text of other people's inside our Markdown: shown as it is, and nothing else.

It goes into code spans: there no forge reads mentions, references, links, HTML or commands. What would end a span or a
table's cell is shown by a look-alike; escapes for these differ between forges.
"""

from collections.abc import Iterable, Sequence

LONGEST = 200
_LOOK_ALIKES = str.maketrans({"`": "'", "|": "¦"})


def one_line(text: str) -> str:
    """Without control characters."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def counted(number: int, word: str) -> str:
    """`1 case`, `1,200 cases`."""
    return f"{number:,} {word}" + ("" if number == 1 else "s")


def code(text: str) -> str:
    """On one line and of some length."""
    line = one_line(text.translate(_LOOK_ALIKES))
    if not line:
        return "–"
    return f"`{line}`" if len(line) <= LONGEST else f"`{line[:LONGEST]}…`"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Columns whose head ends with a colon are of numbers."""
    titles = [title.rstrip(":") for title in head]
    rules = ["---:" if title.endswith(":") else "---" for title in head]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (titles, rules, *rows))
