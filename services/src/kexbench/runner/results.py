"""Files of whole lines, such as a job's results with an invocation in each line. A torn last line is ignored."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from kexbench.domain.samples import Invocation
from kexbench.files import make_folder, sync

Form = TypeVar("Form", bound=BaseModel)


class DamagedFile(Exception):
    """A file is unreadable or invalid. The text has its path, the fault and the remedy."""

    def __init__(self, path: Path, fault: str, remedy: str) -> None:
        super().__init__(f"{path}: {fault}\n  remedy: {remedy}")


def read_json(form: type[Form], path: Path, remedy: str) -> Form:
    """Raises DamagedFile."""
    with _readable(path, remedy):
        content = path.read_bytes()
    return _parsed(form, content, path, "", remedy)


def read_lines(path: Path) -> list[bytes]:
    """The whole lines of a file. Empty if it does not exist."""
    return path.read_bytes().split(b"\n")[:-1] if path.exists() else []


def parsed_lines(form: type[Form], path: Path, remedy: str) -> list[Form]:
    """The parsed whole lines of a file. Empty if it does not exist. Raises DamagedFile."""
    with _readable(path, remedy):
        lines = read_lines(path)
    return [_parsed(form, line, path, f"line {number}: ", remedy) for number, line in enumerate(lines, start=1)]


@contextmanager
def _readable(path: Path, remedy: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DamagedFile(path, f"cannot be read: {error.strerror}", remedy) from None


def _parsed(form: type[Form], content: bytes, path: Path, prefix: str, remedy: str) -> Form:
    try:
        return form.model_validate_json(content)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        where = ".".join(map(str, fault["loc"]))
        raise DamagedFile(path, f"{prefix}{where + ': ' if where else ''}{fault['msg']}", remedy) from None


def append_line(path: Path, line: bytes) -> None:
    """Returns once the line is on disk. An unfinished last line, which a killed process may leave, is removed first.
    Otherwise the new line would become a part of it."""
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
    """All whole invocations of a results file, except those that were cut short. Raises DamagedFile."""
    remedy = "delete that line and resume the run, which measures its invocation again"
    invocations = parsed_lines(Invocation, path, remedy)
    return [invocation for invocation in invocations if not invocation.was_cut_short]


def append_result(path: Path, invocation: Invocation) -> None:
    append_line(path, invocation.model_dump_json().encode())


def _ends_a_line(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"
