"""The search of `kexbench bisect`: builds and measures what the analysis asks for, until it has an answer."""

import numpy as np
import typer

from kexbench.analysis.bisect import Next, Try, next_step, posterior
from kexbench.analysis.bisect_readings import logs_of
from kexbench.analysis.estimates import MIN_COMPARED_INVOCATIONS
from kexbench.cli.bisect_notes import CaseLogs, Measurement, NotesFile
from kexbench.cli.compose import Done, run_wish
from kexbench.cli.console import say
from kexbench.domain.cases import Case
from kexbench.domain.runs import RunState
from kexbench.domain.samples import Metric
from kexbench.kits import KitError, raise_all
from kexbench.planning.compose import Wish
from kexbench.wiring import Installation

ENDS = 2
"""How many times as many invocations the ends alone have: all that follows rests on their difference."""
METRIC = Metric.CPU_NS


class NotMeasured(Exception):
    """The ends could not be compared."""


def find(installation: Installation, file: NotesFile, cases: tuple[Case, ...], builds: int) -> Next | None:
    """What the search comes to, None where the ends do not differ. Notes are written behind each step.

    Raises KitError where an end cannot be built, or for want of network, disk or memory; NotMeasured where the ends
    give no number; Exit where a run was cancelled or failed.
    """
    if not file.notes.measured:
        made = installation.kits().add_all(file.notes.ends, say)
        raise_all([kit for kit in made.values() if isinstance(kit, KitError)])
        _measure_ends(installation, file, cases)
    if not file.notes.changed():
        return None
    while isinstance(step := next_step(file.notes.search(builds)), Try):
        known = file.notes.commits[step.commit]
        say(f"commit {step.commit} of {file.notes.last}: {known.hash[:12]} {known.subject}")
        if step.commit in file.notes.readings or _build(installation, file, step.commit):
            _measure_commit(installation, file, cases, step.commit)
            _tell(file, step.commit, builds)
    return step


def _build(installation: Installation, file: NotesFile, commit: int) -> bool:
    """Whether it could be built; if not, that is remembered."""
    try:
        installation.kits().add(file.notes.ref(commit), say)
    except KitError as error:
        if not error.is_of_the_sources:
            raise
        say(f"commit {commit} of {file.notes.last} does not build: {error.reason}")
        file.failed(commit, error.reason, built=False)
        return False
    return True


def _measure_ends(installation: Installation, file: NotesFile, cases: tuple[Case, ...]) -> None:
    done = _run(installation, file, cases, None)
    measurement = _measurement(file, done, None)
    if not any(logs.steps for logs in measurement.logs.values()):
        reasons = {f"{found.subject}: {found.reason}" for each in done.invocations for found in each.outcomes}
        raise NotMeasured(f"the ends have no number in any case: {'; '.join(sorted(reasons))}")
    file.measured(measurement)


def _measure_commit(installation: Installation, file: NotesFile, cases: tuple[Case, ...], commit: int) -> None:
    """One that gives no number is remembered as one that does not build."""
    changed = file.notes.changed()
    done = _run(installation, file, tuple(case for case in cases if case.case_id in changed), commit)
    measurement = _measurement(file, done, commit)
    if any(measurement.logs[case_id].places for case_id in changed):
        file.measured(measurement)
        return
    reasons = sorted({found.reason for each in done.invocations for found in each.outcomes})
    file.failed(commit, f"it has no number: {'; '.join(reasons)}", built=commit not in file.notes.readings)


def _run(installation: Installation, file: NotesFile, cases: tuple[Case, ...], commit: int | None) -> Done:
    notes = file.notes
    good, bad = notes.ends
    between = () if commit is None else (notes.ref(commit),)
    wish = Wish(
        name="bisect",
        description=f"{' '.join(map(str, between)) or 'both ends'}: does it cost what {good} or what {bad} does?",
        subjects=(good, bad, *between),
        cases=cases,
        invocations=notes.invocations if between else ENDS * notes.invocations,
    )
    done = run_wish(installation, wish)
    if done.end.state is not RunState.FINISHED:
        say("started again with the same arguments it goes on from here")
        raise typer.Exit(done.exit_status)
    return done


def _measurement(file: NotesFile, done: Done, commit: int | None) -> Measurement:
    notes = file.notes
    ends = (str(notes.ends[0]), str(notes.ends[1]))
    between = None if commit is None else str(notes.ref(commit))
    found = {case_id: logs_of(done.invocations, case_id, ends, between, METRIC) for case_id in notes.case_ids}
    return Measurement(
        commit=commit,
        run_id=done.end.run.run_id,
        logs={
            case_id: CaseLogs(steps=logs.steps, places=logs.places)
            if len(logs.steps) >= MIN_COMPARED_INVOCATIONS
            else CaseLogs(steps=(), places=())
            for case_id, logs in found.items()
        },
    )


def _tell(file: NotesFile, commit: int, builds: int) -> None:
    notes = file.notes
    if commit in notes.failed:
        say(f"commit {commit} of {notes.last}: {notes.failed[commit].reason}")
        return
    chances = posterior(notes.search(builds))
    best = int(np.argmax(chances)) + 1
    say(
        f"commit {commit} of {notes.last} has the step with {chances[:commit].sum():.1%}; the first one is most likely "
        f"commit {best} with {chances[best - 1]:.1%} ({notes.builds} builds, {len(notes.measured)} measurements)"
    )
