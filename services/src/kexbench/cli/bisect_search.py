"""The search of `kexbench bisect`: builds and measures what the analysis asks for, until it has an answer."""

from functools import partial

import numpy as np
import typer

from kexbench.analysis.bisect import Next, Try, next_step, posterior
from kexbench.analysis.bisect_notes import METRIC
from kexbench.analysis.pairs import batches_of
from kexbench.cli.bisect_notes import NotesFile
from kexbench.cli.compose import Done, run_wish
from kexbench.cli.console import say
from kexbench.domain.cases import Case
from kexbench.domain.runs import RunState
from kexbench.kits import KitError, raise_all
from kexbench.planning.bisection import BisectionRun
from kexbench.wiring import Installation


def find(installation: Installation, file: NotesFile, cases: tuple[Case, ...], builds: int) -> Next | None:
    """What the search comes to, None where the ends do not differ. Notes are written behind each step.

    Raises KitError where an end cannot be built, or for want of network, disk or memory; NotMeasured where the ends
    give no number; Exit where a run was cancelled or failed.
    """
    if not file.notes.measured:
        made = installation.kits().add_all(file.notes.ends, say)
        raise_all([kit for kit in made.values() if isinstance(kit, KitError)])
        _measure(installation, file, cases, None)
    if not file.notes.changed():
        return None
    while isinstance(step := next_step(file.notes.search(builds)), Try):
        known = file.notes.commits[step.commit]
        say(f"commit {step.commit} of {file.notes.last}: {known.hash[:12]} {known.subject}")
        if step.commit in file.notes.readings or _build(installation, file, step.commit):
            _measure(installation, file, cases, step.commit)
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
        file.write(file.notes.with_failure(commit, error.reason, built=False))
        return False
    return True


def _measure(installation: Installation, file: NotesFile, cases: tuple[Case, ...], commit: int | None) -> None:
    """One that gives no number is remembered as one that does not build."""
    notes = file.notes
    wanted = notes.case_ids if commit is None else notes.changed()
    chosen = tuple(case for case in cases if case.case_id in wanted)
    run = BisectionRun(notes.ends, None if commit is None else notes.ref(commit), chosen, notes.invocations)
    done = run_wish(installation, run.wish)
    if done.end.state is not RunState.FINISHED:
        say("started again with the same arguments it goes on from here")
        raise typer.Exit(done.exit_status)
    batches = {
        (case.case_id, str(subject)): batches_of(done.invocations, case.case_id, str(subject), METRIC)
        for case in chosen
        for subject in run.subjects
    }
    file.write(notes.with_measurement(notes.measurement(done.end.run.run_id, commit, batches), partial(_reasons, done)))


def _reasons(done: Done) -> str:
    """Why subjects have no number."""
    return "; ".join(
        sorted({f"{found.subject}: {found.reason}" for each in done.invocations for found in each.outcomes})
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
