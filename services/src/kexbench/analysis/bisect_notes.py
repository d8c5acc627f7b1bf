"""The state of a bisection: which commits were measured, with which results, and which cannot be measured. It
follows from the stored runs."""

from collections.abc import Callable, Mapping, Sequence

from pydantic import Field

from kexbench.analysis.bisect import Evidence, Reading, Search, changes
from kexbench.analysis.bisect_readings import logs_of
from kexbench.analysis.estimates import MIN_COMPARED_INVOCATIONS
from kexbench.analysis.rounds import Batches
from kexbench.domain.bisections import LineCommit
from kexbench.domain.frozen import Frozen
from kexbench.domain.instruments import Instrument
from kexbench.domain.kits import Library, SubjectRef
from kexbench.domain.samples import Metric
from kexbench.domain.upgrades import SIDES_OF

COUNT_ERROR = 1e-5
"""The least standard error of a log of counted instructions. The difference of two counts is mostly larger."""
_COUNT_FREEDOM = 1e4
"""The error is known, so its distribution is normal."""


class CaseLogs(Frozen):
    """Log ratios of one case, one for each invocation (analysis/bisect_readings.py)."""

    steps: tuple[float, ...]
    places: tuple[float, ...]


class Measurement(Frozen):
    """One run of both ends and a commit between them; the first run has only the ends."""

    commit: int | None
    run_id: str
    logs: dict[str, CaseLogs]


class Failure(Frozen):
    """Why a commit cannot be measured, and whether it was built nevertheless."""

    reason: str
    built: bool


class Notes(Frozen):
    """A bisection: its question and its results. Commits are numbered from 0, the good one."""

    library: Library
    address: str
    commits: tuple[LineCommit, ...]
    case_ids: tuple[str, ...]
    invocations: int
    instrument: Instrument = Instrument.TIME
    failed: dict[int, Failure] = Field(default_factory=dict)
    measured: tuple[Measurement, ...] = ()

    @property
    def metric(self) -> Metric:
        """The metric whose step is searched."""
        return SIDES_OF[self.instrument]["both"]

    def reading(self, logs: Sequence[float]) -> Reading:
        if not self.instrument.counts:
            return Reading.of(logs)
        centre = sum(logs) / len(logs)
        error = max(COUNT_ERROR, *(abs(log - centre) for log in logs))
        return Reading(centre, error, _COUNT_FREEDOM)

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
        case_ids = [case_id for case_id in self.case_ids if self.measured[0].logs[case_id].steps]
        steps = [self.reading(self.measured[0].logs[case_id].steps) for case_id in case_ids]
        return tuple(case_id for case_id, differs in zip(case_ids, changes(steps), strict=True) if differs)

    def steps(self, case_id: str) -> tuple[float, ...]:
        """The log ratios of the ends over all runs."""
        return tuple(log for each in self.measured for log in each.logs[case_id].steps)

    def evidence(self, case_id: str) -> Evidence:
        places: dict[int, list[float]] = {}
        for each in self.measured:
            if each.commit is not None and (logs := each.logs[case_id].places):
                places.setdefault(each.commit, []).extend(logs)
        return Evidence(
            self.reading(self.steps(case_id)), {commit: self.reading(logs) for commit, logs in places.items()}
        )

    def search(self, builds: int) -> Search:
        """The input of the next step, with at most `builds` builds."""
        useless = sum(failure.built for failure in self.failed.values())
        return Search(
            commits=self.last,
            cases=tuple(self.evidence(case_id) for case_id in self.changed()),
            readings=self.readings,
            failed=frozenset(self.failed),
            builds=builds - useless,
        )

    def measurement(self, run_id: str, commit: int | None, batches: Mapping[tuple[str, str], Batches]) -> Measurement:
        """The results of a run. `batches` are those of `metric`, by case and reference."""
        good, bad = (str(end) for end in self.ends)
        logs_by_case = {}
        for case_id in self.case_ids:
            ends = batches.get((case_id, good), {}), batches.get((case_id, bad), {})
            placed = None if commit is None else batches.get((case_id, str(self.ref(commit))), {})
            logs = logs_of(ends, placed)
            enough = len(logs.steps) >= (MIN_COMPARED_INVOCATIONS if not self.instrument.counts else 1)
            logs_by_case[case_id] = CaseLogs(steps=logs.steps if enough else (), places=logs.places if enough else ())
        return Measurement(commit=commit, run_id=run_id, logs=logs_by_case)

    def with_failure(self, commit: int, reason: str, *, built: bool) -> "Notes":
        return self.model_copy(update={"failed": {**self.failed, commit: Failure(reason=reason, built=built)}})

    def with_measurement(self, measurement: Measurement, reasons: Callable[[], str]) -> "Notes":
        """With one more run. If its commit has no number, with the `reasons` as a failure. Raises NotMeasured if the
        ends have no number."""
        commit = measurement.commit
        if commit is None:
            if not any(logs.steps for logs in measurement.logs.values()):
                raise NotMeasured(f"the ends have no result in any case: {reasons()}")
        elif not any(measurement.logs[case_id].places for case_id in self.changed()):
            return self.with_failure(commit, f"it has no result: {reasons()}", built=commit not in self.readings)
        return self.model_copy(update={"measured": (*self.measured, measurement)})


class NotMeasured(Exception):
    """The ends could not be compared."""
