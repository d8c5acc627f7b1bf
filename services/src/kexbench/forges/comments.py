"""Marks our comments with a first line that is not displayed, to find them again."""

from urllib.parse import quote


def marker(key: str) -> str:
    return f"<!-- kexbench:{quote(key, safe='/:')} -->"


def marked(key: str, body: str) -> str:
    return f"{marker(key)}\n{body}"


def is_marked(key: str, text: str) -> bool:
    """Only the first line counts, since text of a spec's author may follow."""
    return text.startswith(marker(key))


def same_text(first: str, second: str) -> bool:
    """Whether both look the same. Forges change line ends and trailing blanks."""
    return _lines(first) == _lines(second)


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.rstrip().splitlines()]
