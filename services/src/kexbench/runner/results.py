"""Files of whole lines, and a job's results in one: an invocation a line. A line torn by a kill never counts."""

import os
from pathlib import Path

from kexbench.domain.samples import Invocation
from kexbench.files import make_folder, sync


def read_lines(path: Path) -> list[bytes]:
    """The whole lines of a file, which need not exist."""
    return path.read_bytes().split(b"\n")[:-1] if path.exists() else []


def append_line(path: Path, line: bytes) -> None:
    """Returns once the line is on the disk. What a kill left of an unfinished line is cut off first,
    else this line would be a part of it."""
    make_folder(path.parent)
    is_new = not path.exists()
    with path.open("ab") as file:
        if path.stat().st_size and not _ends_a_line(path):
            file.truncate(path.read_bytes().rfind(b"\n") + 1)
        file.write(line + b"\n")
        file.flush()
        os.fsync(file.fileno())
    if is_new:
        sync(path.parent)


def read_results(path: Path) -> list[Invocation]:
    """All whole invocations of a results file; those that were cut short do not count."""
    invocations = (Invocation.model_validate_json(line) for line in read_lines(path))
    return [invocation for invocation in invocations if not invocation.was_cut_short]


def append_result(path: Path, invocation: Invocation) -> None:
    append_line(path, invocation.model_dump_json().encode())


def _ends_a_line(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"
