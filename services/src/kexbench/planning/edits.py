"""Edits the catalogue's text without changing any other line, and makes patches."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import unified_diff
from io import StringIO

import yaml
from yaml.nodes import MappingNode, Node, SequenceNode

from kexbench.domain.versions import version_key
from kexbench.planning.catalogue import read_catalogue
from kexbench.planning.documents import DocumentError, Fault
from kexbench.planning.newer import Newer


@dataclass(frozen=True)
class _Written:
    """An entry in the text: its first line, from 0, the line after its last, and the column of its dash."""

    source: str
    key: str | None
    first: int
    after: int
    indent: int


def edited(text: str, file: str, changes: Sequence[Newer]) -> str:
    """The catalogue's text with the changes. New entries follow the order of versions. A replaced entry is removed
    completely, since its dates and notes are of the older version. Raises DocumentError where a list is written in one
    line, since nothing can be added to it."""
    read_catalogue(text, file)
    lines = _lines(text)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    removed: set[int] = set()
    inserted: list[tuple[int, str, str]] = []
    for library in dict.fromkeys(change.library for change in changes):
        entries = _entries(text, file, library)
        own = [change for change in changes if change.library == library]
        replaced = {change.source for change in own if change.replaces}
        remaining = [entry for entry in entries if entry.source not in replaced]
        for entry in entries:
            if entry.source in replaced:
                removed |= set(range(entry.first, entry.after))
        for change in own:
            key = version_key(change.version)
            indent = " " * entries[0].indent
            block = f'{indent}- source: {change.source}\n{indent}  version: "{change.version}"\n'
            inserted.append((_line_for(key, remaining, entries), key, block))
    for number, line in enumerate(lines):
        inserted.append(
            (number, "~", "" if number in removed else line)
        )  # "~" sorts after every key, so new entries come first
    result = "".join(piece for _, _, piece in sorted(inserted, key=lambda piece: piece[:2]))
    read_catalogue(result, file)
    return result


def patch(old: str, new: str, path: str) -> str:
    """A unified diff for `git apply`; `path` is the file's, relative to the folder where that is run."""
    lines = unified_diff(_lines(old), _lines(new), fromfile=f"a/{path}", tofile=f"b/{path}")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _lines(text: str) -> list[str]:
    """Lines as git counts them, each with its line end."""
    return StringIO(text).readlines()


def _line_for(key: str, remaining: Sequence[_Written], entries: Sequence[_Written]) -> int:
    """The line to insert a version at: after the last older version, or before the first newer one."""
    older = [entry for entry in remaining if entry.key is not None and entry.key <= key]
    if older:
        return older[-1].after
    return next((entry.first for entry in entries if entry.key is not None), entries[-1].after)


def _entries(text: str, file: str, library: str) -> list[_Written]:
    """The entries of a library. Raises DocumentError."""
    root = yaml.compose(text, yaml.SafeLoader)
    libraries = _value(root, "libraries")
    listed = _value(libraries, library)
    assert isinstance(listed, SequenceNode), "the text was read as a catalogue"
    if listed.flow_style:
        place = f"libraries.{library}"
        message = "is written in one line, so nothing can be added: begin each entry with - on a line of its own"
        raise DocumentError(file, [Fault(listed.start_mark.line + 1, listed.start_mark.column + 1, place, message)])
    entries = []
    for node in listed.value:
        source, version = _value(node, "source"), _value(node, "version")
        assert source is not None, "the text was read as a catalogue"
        dash = text.rindex("-", 0, node.start_mark.index)
        entries.append(
            _Written(
                source=source.value,
                key=version_key(version.value) if version is not None else None,
                first=text.count("\n", 0, dash),
                after=text[: _end(node)].rstrip().count("\n") + 1,
                indent=listed.start_mark.column,
            )
        )
    return entries


def _value(node: Node | None, name: str) -> Node | None:
    assert isinstance(node, MappingNode), "the text was read as a catalogue"
    return next((value for key, value in node.value if key.value == name), None)


def _end(node: Node) -> int:
    """Where the last scalar of a value ends. A block's own end comes after the comments that follow it."""
    while isinstance(node, MappingNode | SequenceNode) and not node.flow_style and node.value:
        last = node.value[-1]
        node = last[1] if isinstance(last, tuple) else last
    return int(node.end_mark.index)
