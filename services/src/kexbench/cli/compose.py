"""What `run`, `compare`, `interop` and `qualify` share: measuring with everything that is told while it happens."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import typer

from kexbench.cli.console import ProgressReporter, err, say
from kexbench.cli.words import duration_words
from kexbench.domain.cases import Case
from kexbench.domain.runs import RunState
from kexbench.domain.samples import Invocation
from kexbench.execution.folder import RunFolder
from kexbench.execution.measuring import measuring
from kexbench.pipeline import RunEnd, deliver_leftovers, execute_run, start_run
from kexbench.planning.compose import Wish, chosen, spec_text
from kexbench.planning.plan import make_plan
from kexbench.planning.spec import Matrix
from kexbench.planning.subjects import with_sources
from kexbench.wiring import Installation

_EXIT = {RunState.FINISHED: 0, RunState.CANCELLED: 130}


@dataclass(frozen=True)
class Done:
    """A run that a command measured: how it ended, and all that it has."""

    end: RunEnd
    invocations: list[Invocation]

    @property
    def exit_status(self) -> int:
        return _EXIT.get(self.end.state, 1)


def measure(
    installation: Installation,
    what: str,
    begin: Callable[[ProgressReporter], RunFolder],
    *,
    queued: bool = False,
    on_wait: Callable[[str], None] = say,
) -> Done:
    """Store what earlier runs left, begin a run, measure and deliver it; while another process measures, wait. `what`
    tells others whom they wait for, `on_wait` is told whom this waits for, `queued` says that whoever sees to the queue
    is measuring. Raises what the stages raise."""
    for left in deliver_leftovers(installation, say):
        err.print(f"stored what run {left.run_id} had left on disk", markup=False)
    with measuring(installation.settings.home, what, on_wait) as lock, ProgressReporter() as reporter:
        folder = begin(reporter)
        with folder.locked() as ours:
            if not ours:
                raise typer.BadParameter(f"run {folder.path.name} is being measured by another process")
            end = execute_run(installation, folder, reporter, lock, queued=queued)
    if end.detail:
        err.print(f"{end.state}: {end.detail}", markup=False)
    if end.undelivered:
        err.print(f"not stored yet: {end.undelivered}", markup=False)
    return Done(end, folder.invocations(end.run))


def run_wish(installation: Installation, wish: Wish) -> Done:
    """Measure a spec of a command's own. Raises what the stages raise."""
    text = spec_text(wish)
    plan = make_plan(text, wish.name, with_sources(installation.catalogue(), wish.subjects))

    def begin(reporter: ProgressReporter) -> RunFolder:
        reporter.step(
            f"{len(plan.cases)} cases, {len(plan.subjects)} subjects, {plan.measure.invocations} invocations: "
            f"about {duration_words(plan.estimated_s)} of measuring"
        )
        return start_run(installation, plan, text, reporter, purpose=wish.purpose)

    return measure(installation, wish.name, begin)


def cases_for(matrices: Sequence[Matrix], patterns: Sequence[str]) -> tuple[Case, ...]:
    """Raises BadParameter where no case fits."""
    found = chosen(matrices, patterns)
    if not found:
        known = ", ".join(case.case_id for case in chosen(matrices, ())[:6])
        raise typer.BadParameter(f"no case is called {' or '.join(patterns)}; there are {known} and others")
    return found
