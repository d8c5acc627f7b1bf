"""What a bisection has found out so far, in a file of its own: whole or absent, so that a kill loses at most what was
being measured."""

from pathlib import Path
from typing import Literal

import typer
from pydantic import BaseModel, ConfigDict, ValidationError

from kexbench.analysis.bisect import Evidence, Reading, Search, changes
from kexbench.domain.canonical import content_hash
from kexbench.domain.kits import Library, SubjectRef
from kexbench.domain.plans import HARNESS_VERSION
from kexbench.files import write_whole
from kexbench.kits.githistory import Commit


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class CaseLogs(_Frozen):
    """Log ratios of one case, one an invocation (analysis/bisect_readings.py)."""

    steps: tuple[float, ...]
    places: tuple[float, ...]


class Measurement(_Frozen):
    """One run: of both ends, and of a commit between them, or none in the first run."""

    commit: int | None
    run_id: str
    logs: dict[str, CaseLogs]


class Failure(_Frozen):
    """Why a commit cannot be measured, and whether it was built all the same."""

    reason: str
    built: bool


class Notes(_Frozen):
    """A bisection: what is asked, and what is known. Commits have numbers from 0, the good one."""

    format_version: Literal[1] = 1
    library: Library
    address: str
    commits: tuple[Commit, ...]
    case_ids: tuple[str, ...]
    invocations: int
    failed: dict[int, Failure] = {}
    measured: tuple[Measurement, ...] = ()

    @property
    def last(self) -> int:
        """The number of the bad commit."""
        return len(self.commits) - 1

    def ref(self, commit: int) -> SubjectRef:
        return SubjectRef(library=self.library, source=f"git:{self.address}#{self.commits[commit].hash}")

    @property
    def ends(self) -> tuple[SubjectRef, SubjectRef]:
        return self.ref(0), self.ref(self.last)

    @property
    def readings(self) -> dict[int, int]:
        """How often each commit between the ends was measured."""
        commits = [each.commit for each in self.measured if each.commit is not None]
        return {commit: commits.count(commit) for commit in commits}

    @property
    def builds(self) -> int:
        """How many commits were built, the ends included."""
        return 2 + len(self.readings) + sum(failure.built for failure in self.failed.values())

    def changed(self) -> tuple[str, ...]:
        """The cases whose ends differ. Only the first run counts, whose size was fixed before anything was seen."""
        known = [case_id for case_id in self.case_ids if self.measured[0].logs[case_id].steps]
        steps = [Reading.of(self.measured[0].logs[case_id].steps) for case_id in known]
        return tuple(case_id for case_id, differs in zip(known, changes(steps), strict=True) if differs)

    def steps(self, case_id: str) -> tuple[float, ...]:
        """The log ratios of the ends over all runs."""
        return tuple(log for each in self.measured for log in each.logs[case_id].steps)

    def evidence(self, case_id: str) -> Evidence:
        places: dict[int, list[float]] = {}
        for each in self.measured:
            if each.commit is not None and (logs := each.logs[case_id].places):
                places.setdefault(each.commit, []).extend(logs)
        return Evidence(Reading.of(self.steps(case_id)), {commit: Reading.of(logs) for commit, logs in places.items()})

    def search(self, builds: int) -> Search:
        """What the next step follows from, with so many builds allowed."""
        useless = sum(failure.built for failure in self.failed.values())
        return Search(
            commits=self.last,
            cases=tuple(self.evidence(case_id) for case_id in self.changed()),
            readings=self.readings,
            failed=frozenset(self.failed),
            builds=builds - useless,
        )


class NotesFile:
    """Where the notes of a bisection are kept: the same question has the same file."""

    def __init__(self, home: Path, asked: Notes) -> None:
        good, bad = asked.commits[0].hash, asked.commits[-1].hash
        key = content_hash(
            [HARNESS_VERSION, asked.library, asked.address, good, bad, asked.case_ids, asked.invocations]
        )
        self.path = home / "bisect" / f"{asked.library}-{good[:10]}-{bad[:10]}-{key}.json"
        self.notes = asked

    def read(self) -> None:
        """Go on with what is known already. Raises BadParameter where that is no longer understood."""
        if self.path.is_file():
            try:
                self.notes = Notes.model_validate_json(self.path.read_bytes())
            except ValidationError:
                raise typer.BadParameter(f"{self.path} is of another version; --anew begins without it") from None

    def failed(self, commit: int, reason: str, *, built: bool) -> None:
        failure = Failure(reason=reason, built=built)
        self._write(self.notes.model_copy(update={"failed": {**self.notes.failed, commit: failure}}))

    def measured(self, measurement: Measurement) -> None:
        self._write(self.notes.model_copy(update={"measured": (*self.notes.measured, measurement)}))

    def _write(self, notes: Notes) -> None:
        self.notes = notes
        write_whole(self.path, f"{notes.model_dump_json(indent=1)}\n".encode())
