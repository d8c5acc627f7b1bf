"""Changes of the catalogue's text that leave every other line as it is, and their patch."""

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
    """An entry as it stands in the text: its lines, from 0, the one behind it, and where its dash is."""

    source: str
    key: str | None
    first: int
    behind: int
    indent: int


def edited(text: str, file: str, changes: Sequence[Newer]) -> str:
    """The catalogue's text with the changes. Entries go where the order of versions wants them; of a replaced one
    nothing is kept, since dates and notes are the older version's. Raises DocumentError where a list is written in
    one line, which can't be added to."""
    read_catalogue(text, file)
    lines = _lines(text)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    removed: set[int] = set()
    inserted: list[tuple[int, str, str]] = []
    for library in dict.fromkeys(change.library for change in changes):
        entries = _entries(text, file, library)
        ours = [change for change in changes if change.library == library]
        gone = {change.source for change in ours if change.replaces}
        staying = [entry for entry in entries if entry.source not in gone]
        for entry in entries:
            if entry.source in gone:
                removed |= set(range(entry.first, entry.behind))
        for change in ours:
            key = version_key(change.version)
            indent = " " * entries[0].indent
            block = f'{indent}- source: {change.source}\n{indent}  version: "{change.version}"\n'
            inserted.append((_line_for(key, staying, entries), key, block))
    for at, line in enumerate(lines):
        inserted.append((at, "~", "" if at in removed else line))  # behind every key, so what is new comes before it
    result = "".join(piece for _, _, piece in sorted(inserted, key=lambda piece: piece[:2]))
    read_catalogue(result, file)
    return result


def patch(old: str, new: str, path: str) -> str:
    """A unified diff that `git apply` takes; `path` is the file's, relative to where that is done."""
    lines = unified_diff(_lines(old), _lines(new), fromfile=f"a/{path}", tofile=f"b/{path}")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _lines(text: str) -> list[str]:
    """As git counts them, each with its end."""
    return StringIO(text).readlines()


def _line_for(key: str, staying: Sequence[_Written], entries: Sequence[_Written]) -> int:
    """The line before which a version stands: behind the last that is older, else before the first that is not."""
    older = [entry for entry in staying if entry.key is not None and entry.key <= key]
    if older:
        return older[-1].behind
    return next((entry.first for entry in entries if entry.key is not None), entries[-1].behind)


def _entries(text: str, file: str, library: str) -> list[_Written]:
    """The entries of a library. Raises DocumentError."""
    root = yaml.compose(text, yaml.SafeLoader)
    libraries = _value(root, "libraries")
    listed = _value(libraries, library)
    assert isinstance(listed, SequenceNode), "the text was read as a catalogue"
    if listed.flow_style:
        place = f"libraries.{library}"
        message = "is written in one line, which can't be added to: begin each entry with - on a line of its own"
        raise DocumentError(file, [Fault(listed.start_mark.line + 1, listed.start_mark.column + 1, place, message)])
    found = []
    for node in listed.value:
        source, version = _value(node, "source"), _value(node, "version")
        assert source is not None, "the text was read as a catalogue"
        dash = text.rindex("-", 0, node.start_mark.index)
        found.append(
            _Written(
                source=source.value,
                key=version_key(version.value) if version is not None else None,
                first=text.count("\n", 0, dash),
                behind=text[: _end(node)].rstrip().count("\n") + 1,
                indent=listed.start_mark.column,
            )
        )
    return found


def _value(node: Node | None, name: str) -> Node | None:
    assert isinstance(node, MappingNode), "the text was read as a catalogue"
    return next((value for key, value in node.value if key.value == name), None)


def _end(node: Node) -> int:
    """Where the last thing that is written of a value ends. A block's own end is behind the comments that follow."""
    while isinstance(node, MappingNode | SequenceNode) and not node.flow_style and node.value:
        last = node.value[-1]
        node = last[1] if isinstance(last, tuple) else last
    return int(node.end_mark.index)
