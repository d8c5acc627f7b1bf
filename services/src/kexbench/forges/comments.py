"""How a comment of ours is found again: by a first line that nobody sees."""

from urllib.parse import quote


def marker(key: str) -> str:
    return f"<!-- kexbench:{quote(key, safe='/:')} -->"


def marked(key: str, body: str) -> str:
    return f"{marker(key)}\n{body}"


def is_marked(key: str, text: str) -> bool:
    """Only the first line counts: what a spec's author wrote may stand further down."""
    return text.startswith(marker(key))


def same_text(one: str, other: str) -> bool:
    """Whether people see the same. Forges keep line ends and what trails in their own way."""
    return _lines(one) == _lines(other)


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.rstrip().splitlines()]
