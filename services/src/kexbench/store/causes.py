"""Why an embedded store does not open or does not answer, from what the engine says. What the machine lacks is named as
such: the store is whole. Only damage that the engine names may lead to a remedy that moves anything."""

import os
import re
import resource
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from kexbench.store.definitions import move_away
from kexbench.store.port import StoreError, StoreFull

_FILES, _MEMORY, _PERMISSION, _ROOM, _READ_ONLY = (
    re.compile(r"errno: ?(?:23|24)\b|Errno (?:23|24)\b|Too many open files"),
    re.compile(
        r"errno: ?12\b|Errno 12\b|Cannot allocate memory|failed to map segment|bad_alloc|MEMORY_LIMIT_EXCEEDED"
        r"|CANNOT_ALLOCATE_MEMORY|Resource temporarily unavailable|can't start new thread"
    ),
    re.compile(r"errno: ?(?:1|13)\b|Errno (?:1|13)\b|Permission denied|Operation not permitted"),
    re.compile(r"\bCode: 243\b|errno: ?(?:28|122)\b|Errno (?:28|122)\b"),
    re.compile(r"errno: ?30\b|Errno 30\b|Read-only file system"),
)
DOES_NOT_OPEN = "does not open"
RESERVED_BYTES = 1 << 20
"""The engine writes no rows with less free space, however few they are (ClickHouse, MergeTreeData.h,
RESERVATION_MIN_ESTIMATION_SIZE)."""
_DAMAGE = re.compile(r"decompress.*while reading from part|CHECKSUM_DOESNT_MATCH|CORRUPTED_DATA", re.DOTALL)
"""ClickHouse's messages about files that exist but are damaged."""
_DAMAGE_AT_OPENING = re.compile(
    r"METADATA_MISMATCH|SYNTAX_ERROR|CANNOT_READ_ALL_DATA|CANNOT_PARSE_\w+|UNKNOWN_FORMAT_VERSION"
    r"|ATTEMPT_TO_READ_AFTER_EOF"
)
"""These too while it reads nothing but the store's own files. Of a query, they may be about the query."""
_SHOWN = 300
"""Characters of the engine's words. Behind them it names its own functions."""
_ERROR = re.compile(r"Code: \d+\. DB::\w+: (?!Waited job|Load job|Error initializing)[^\n]*")


def store_error(folder: Path, what: str, text: str, writes_bytes: int | None = None) -> StoreError:
    """`what` the store did, such as `does not open`, and the `text` of the engine about it. `writes_bytes` is the size
    of a write that failed, if it was one."""
    place = f"the store in {folder} {what}"
    is_damaged = _DAMAGE.search(text) or (what == DOES_NOT_OPEN and _DAMAGE_AT_OPENING.search(text))
    if writes_bytes is not None and (is_full(text) or (not is_damaged and _free_bytes(folder) < RESERVED_BYTES)):
        remedy = f"free some space on the disk of {folder}; what waits is then stored without further action"
        return StoreFull(_free_bytes(folder), needed_bytes(writes_bytes), remedy)
    for lacking, cause, advice in _lacks(folder):
        if lacking.search(text):
            return StoreError(f"{place}: {cause}", f"{advice}, then start again. The store itself is whole")
    said = " ".join((match[0] if (match := _ERROR.search(text)) else text)[:_SHOWN].split())
    return StoreError(f"{place}: {said}", *([move_away(folder)] if is_damaged else []))


def is_full(text: str) -> bool:
    """Whether ClickHouse's or the system's numbers in an error mean a full disk: error 243, errno 28 or 122."""
    return bool(_ROOM.search(text))


def needed_bytes(writes_bytes: int) -> int:
    """The free space that the engine requires to write rows of this size, uncompressed."""
    return max(RESERVED_BYTES, writes_bytes)


def _free_bytes(folder: Path) -> int:
    return shutil.disk_usage(folder).free


def _lacks(folder: Path) -> Iterator[tuple[re.Pattern[str], str, str]]:
    """What the engine says, the cause and the remedy."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    files = f"too few files may be open at once, {most:,} here"
    yield _FILES, files, "allow more open files, such as with ulimit -n 4096"
    memory = "end other programs, or allow this one more memory and threads"
    yield _MEMORY, "there is not enough memory", memory
    yield _READ_ONLY, "its disk is read-only", "make its disk writable"
    yield _ROOM, "its disk is full", "free some space on its disk"
    owner = f"use the account of its owner{_owner(folder)}, or give all its files to this one"
    yield _PERMISSION, "this account may not use its files", owner


def _owner(folder: Path) -> str:
    try:
        return f", {folder.owner()}"
    except (OSError, KeyError):
        return ""


@contextmanager
def engines_words() -> Iterator[Callable[[], str]]:
    """What is written to standard error meanwhile. The engine explains only there why it does not start. Use it while
    the process has no other threads that write there."""
    with ExitStack() as files:
        try:
            words = os.memfd_create("engine")
            files.callback(os.close, words)
            own = os.dup(2)
            files.callback(os.close, own)
        except (OSError, AttributeError):  # there are too few files, or it is no Linux
            yield lambda: ""
            return
        os.dup2(words, 2)
        files.callback(os.dup2, own, 2)
        yield lambda: os.pread(words, 1 << 16, 0).decode(errors="replace")
