"""What a bisection has found out so far, in a file of its own: whole or absent, so that a kill loses at most what was
being measured."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer
from pydantic import ValidationError

from kexbench.analysis.bisect_notes import Notes
from kexbench.domain.canonical import content_hash
from kexbench.domain.plans import HARNESS_VERSION
from kexbench.files import write_whole


class NotesFile:
    """Where the notes of a bisection are kept: the same question has the same file."""

    def __init__(self, home: Path, asked: Notes) -> None:
        good, bad = asked.commits[0].hash, asked.commits[-1].hash
        key = content_hash(
            [HARNESS_VERSION, asked.library, asked.address, good, bad, asked.case_ids, asked.invocations]
        )
        self.path = home / "bisect" / f"{asked.library}-{good[:10]}-{bad[:10]}-{key}.json"
        self.notes = asked

    @contextmanager
    def held(self) -> Iterator[None]:
        """One process at a time searches for the same. Raises BadParameter where another does."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.with_suffix(".lock").open("wb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise typer.BadParameter("another process searches for just this: wait until it has ended") from None
            yield

    def read(self) -> None:
        """Go on with what is known already. Raises BadParameter where that is no longer understood."""
        if self.path.is_file():
            try:
                self.notes = Notes.model_validate_json(self.path.read_bytes())
            except ValidationError:
                raise typer.BadParameter(f"{self.path} is of another version; --anew begins without it") from None

    def write(self, notes: Notes) -> None:
        self.notes = notes
        write_whole(self.path, f"{notes.model_dump_json(indent=1)}\n".encode())
