"""The results file of a job: one invocation a line, appended whole. A line torn by a kill is dropped."""

import os
from pathlib import Path

from kexbench.domain.samples import Invocation


def read_results(path: Path) -> list[Invocation]:
    """All whole invocations of a results file, which need not exist."""
    if not path.exists():
        return []
    lines = path.read_bytes().split(b"\n")
    return [Invocation.model_validate_json(line) for line in lines[:-1]]


class ResultsFile:
    """Appends invocations so that a kill at any moment leaves only whole ones."""

    def __init__(self, path: Path) -> None:
        """Open for appending and cut off what a kill may have left of an unfinished line."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("ab")
        content = path.read_bytes()
        self._file.truncate(content.rfind(b"\n") + 1)

    def append(self, invocation: Invocation) -> None:
        """Returns once the line is on the disk."""
        self._file.write(invocation.model_dump_json().encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        self._file.close()
