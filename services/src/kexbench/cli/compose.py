"""What `compare`, `interop` and `qualify` share: a spec of their own, run like any other."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

from kexbench.cli.console import ProgressReporter, err
from kexbench.cli.words import duration_words
from kexbench.domain.cases import Case
from kexbench.domain.kits import SubjectRef
from kexbench.domain.runs import RunState
from kexbench.domain.samples import Invocation
from kexbench.execution.folder import RunFolder
from kexbench.pipeline import RunEnd, deliver_leftovers, execute_run, start_run
from kexbench.planning.compose import Wish, chosen, spec_text
from kexbench.planning.plan import make_plan
from kexbench.planning.spec import Matrix
from kexbench.wiring import Installation

EXIT = {RunState.FINISHED: 0, RunState.CANCELLED: 130}


@dataclass(frozen=True)
class Done:
    """A run that a command made: how it ended, and all that it measured."""

    end: RunEnd
    invocations: list[Invocation]

    @property
    def exit_status(self) -> int:
        return EXIT.get(self.end.state, 1)


def run_wish(installation: Installation, wish: Wish) -> Done:
    """Measure, store, and return what there is. Raises what its stages raise."""
    for left in deliver_leftovers(installation):
        err.print(f"stored what run {left.run_id} had left on disk", markup=False)
    text = spec_text(wish)
    plan = make_plan(text, wish.name, installation.catalogue())
    with ProgressReporter() as reporter:
        reporter.step(
            f"{len(plan.cases)} cases, {len(plan.subjects)} subjects, {plan.measure.invocations} invocations: "
            f"about {duration_words(plan.estimated_s)} of measuring"
        )
        folder: RunFolder = start_run(installation, plan, text, reporter)
        with folder.locked():
            end = execute_run(installation, folder, reporter)
    if end.detail:
        err.print(f"{end.state}: {end.detail}", markup=False)
    if end.undelivered:
        err.print(f"not stored yet: {end.undelivered}", markup=False)
    return Done(end, folder.invocations(end.run))


def cases_for(matrices: Sequence[Matrix], patterns: Sequence[str]) -> tuple[Case, ...]:
    """Raises BadParameter where no case fits."""
    found = chosen(matrices, patterns)
    if not found:
        known = ", ".join(case.case_id for case in chosen(matrices, ())[:6])
        raise typer.BadParameter(f"no case is called {' or '.join(patterns)}; there are {known} and others")
    return found


