"""Reads static archives (`ar` in GNU's format) without a tool: all members, even of the same name."""

from collections.abc import Iterator
from pathlib import Path

from kexbench.kits.errors import StepFailed

_MAGIC, _THIN_MAGIC = b"!<arch>\n", b"!<thin>\n"
_HEADER_BYTES = 60
_INDEXES = (b"/", b"/SYM64/", b"//")
"""Special members of the format: symbols, symbols with wide offsets, and long names."""


def archive_members(path: Path) -> Iterator[bytes]:
    """The contents of each member in order, without headers and indexes. Raises StepFailed."""
    content = path.read_bytes()
    if content.startswith(_THIN_MAGIC):
        raise StepFailed("fetch", f"{path} is a thin archive, which contains no objects", "build it with ar rcs")
    if not content.startswith(_MAGIC):
        raise StepFailed("fetch", f"{path} is not a static archive")
    position = len(_MAGIC)
    while position < len(content):
        header = content[position : position + _HEADER_BYTES]
        position += _HEADER_BYTES
        size = header[48:58].strip()
        if header[58:] != b"`\n" or not size.isdigit() or position + int(size) > len(content):
            raise StepFailed("fetch", f"{path} is damaged at byte {position - _HEADER_BYTES}", "build it again")
        if header[:16].rstrip() not in _INDEXES:
            yield content[position : position + int(size)]
        position += int(size) + int(size) % 2
