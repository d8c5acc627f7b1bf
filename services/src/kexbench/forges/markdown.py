"""Other people's text in our Markdown, displayed literally.

It goes into code spans, where no forge interprets mentions, references, links, HTML or commands. Characters that would
end a span or a table cell are replaced by look-alikes, because forges escape them differently.
"""

from collections.abc import Iterable, Sequence

LONGEST = 200
_LOOK_ALIKES = str.maketrans({"`": "'", "|": "¦"})


def one_line(text: str) -> str:
    """The text on one line, without control characters."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def code(text: str) -> str:
    """A code span on one line, cut to LONGEST characters."""
    line = one_line(text.translate(_LOOK_ALIKES))
    if not line:
        return "–"
    return f"`{line}`" if len(line) <= LONGEST else f"`{line[:LONGEST]}…`"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A head that ends with a colon makes a column of numbers, aligned right."""
    titles = [title.rstrip(":") for title in head]
    rules = ["---:" if title.endswith(":") else "---" for title in head]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (titles, rules, *rows))
