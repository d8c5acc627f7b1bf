"""From a plan to its results, for `run`, `compare`, `interop` and `qualify`. The run is queued. The executor measures
it; if no service runs, the command does."""

from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import typer

from kexbench.cli.cluster import followed
from kexbench.cli.console import ProgressReporter, err, say
from kexbench.cli.report import run_detail
from kexbench.client import ApiClient
from kexbench.domain.cases import Case
from kexbench.domain.numbers import counted, duration_words
from kexbench.domain.plans import Plan
from kexbench.domain.runs import Purpose, Run, RunEvent, RunState
from kexbench.domain.samples import Invocation
from kexbench.execution.measuring import INTERRUPTED, measuring
from kexbench.kits import KitError, KitErrors
from kexbench.kits.errors import why_run_fails
from kexbench.pipeline import (
    DELIVERY_ERRORS,
    RunEnd,
    RunGone,
    VersionMismatch,
    deliver_leftovers,
    execute_run,
    known_run,
    new_run,
    take_run,
)
from kexbench.planning.compose import Wish, chosen, spec_text, usual_cases
from kexbench.planning.documents import DocumentError, read_spec
from kexbench.planning.plan import make_plan, read_matrices
from kexbench.planning.spec import Matrix
from kexbench.planning.subjects import with_sources
from kexbench.queue.runs import run_event
from kexbench.runner.results import DamagedFile
from kexbench.service import lasting_service, reach_service
from kexbench.wiring import Installation

DETAIL_CHARACTERS = 600
_EXIT = {RunState.FINISHED: 0, RunState.CANCELLED: INTERRUPTED}


class NeverBegan(typer.Exit):
    """A run of this machine's service ended before anything was measured. The command has said so."""

    def __init__(self, event: RunEvent) -> None:
        super().__init__(_EXIT.get(event.state, 1))
        self.event = event


@dataclass(frozen=True)
class Done:
    """A run that a command started: its end and its invocations."""

    end: RunEnd
    invocations: list[Invocation]

    @property
    def exit_status(self) -> int:
        return _EXIT.get(self.end.state, 1)


def run_plan(installation: Installation, plan: Plan, text: str, purpose: Purpose = Purpose.HISTORY) -> Done:
    """Queue a run and wait for its end. Raises the errors of the stages."""
    say(
        f"{plan.spec_name}: {counted(len(plan.cases), 'case')}, {counted(len(plan.subjects), 'subject')}, "
        f"{counted(plan.measure.invocations, 'invocation')}: about {duration_words(plan.estimated_s)} of measuring"
    )
    run = new_run(plan, text, purpose)
    address = lasting_service(installation.settings)
    if address is None:
        return measure(installation, run.run_id, run)
    with closing(ApiClient.of_run(address, run.run_id)) as api:
        api.put_run(run)
    with closing(ApiClient.here(address)) as api:
        return follow_run(installation, api, run.run_id)


def run_wish(installation: Installation, wish: Wish) -> Done:
    """The same for a spec that a command generates. Its subjects need not be in the catalogue. Raises
    BadParameter."""
    text = spec_text(wish)
    try:
        plan = make_plan(text, wish.name, with_sources(installation.catalogue(), wish.subjects))
    except DocumentError as error:  # nobody wrote this text, so places in it say nothing
        raise typer.BadParameter("\n".join(fault.message for fault in error.faults)) from None
    return run_plan(installation, plan, text, wish.purpose)


def stored_run(done: Done, command: str) -> str:
    """The id of a run whose results are stored. Otherwise ends the command, and names the `command` that shows them
    later: a verdict needs all that is stored, such as the qualifications of this machine."""
    run_id = done.end.run.run_id
    if done.end.undelivered:
        err.print(f"  once it is stored, show it with {command} --run {run_id}", markup=False, soft_wrap=True)
        raise typer.Exit(done.exit_status or 1)
    return run_id


def follow_run(installation: Installation, api: ApiClient, run_id: str) -> Done:
    """Wait for the end of a run in this machine's service. Raises NeverBegan."""
    say(f"run {run_id}: {api.page}{run_id}")
    summary = followed(api, run_id, seen_to=True)
    folder = known_run(installation, run_id)
    if folder is None:
        err.print(f"run {run_id} {summary.state}: {summary.detail}", markup=False)
        raise NeverBegan(run_detail(api, run_id).events[-1])
    run = folder.run()
    return _reported(Done(RunEnd(run, summary.state, summary.detail, None), folder.invocations(run)))


def measure(installation: Installation, run_id: str, new: Run | None = None, *, queued: bool = False) -> Done:
    """Store leftovers of earlier runs, wait until no other process measures, then measure a run and store it. Queues
    a `new` run once it can begin. `queued`: the executor started this. Raises the errors of the stages."""
    for earlier in deliver_leftovers(installation, say, queued=queued):
        err.print(f"stored the results that run {earlier.run_id} had left on disk", markup=False)

    note = partial(_note, installation, run_id)
    on_wait = partial(note, RunState.BUILDING) if queued else say
    folder = installation.run_folder(run_id)
    folder.path.mkdir(parents=True, exist_ok=True)
    with (
        measuring(installation.settings.home, f"run {run_id}", on_wait) as lock,
        ProgressReporter() as reporter,
        folder.locked() as ours,
    ):
        if not ours:
            raise typer.BadParameter(f"run {run_id} is being measured by another process")
        try:
            folder = take_run(installation, run_id, reporter, new, queued=queued)
            end = execute_run(installation, folder, reporter, lock, queued=queued)
        except (KitError, KitErrors, RunGone, VersionMismatch, DamagedFile) as error:
            if queued or not folder.exists():  # otherwise the run existed before and may have finished
                note(RunState.FAILED, str(error), *why_run_fails(error))
            raise
        except KeyboardInterrupt:
            if not (queued or folder.exists()):
                reason = "cancelled before anything was measured"
                note(RunState.CANCELLED, reason)
                err.print(reason)
            raise
    return _reported(Done(end, folder.invocations(end.run)))


def _reported(done: Done) -> Done:
    if done.end.detail:
        err.print(f"{done.end.state}: {done.end.detail}", markup=False)
    if done.end.undelivered:
        err.print(f"not stored yet: {done.end.undelivered}", markup=False)
    return done


def _note(installation: Installation, run_id: str, state: RunState, words: str, *why: Any) -> None:
    with suppress(*DELIVERY_ERRORS), reach_service(installation) as address:
        ApiClient.of_run(address, run_id).add_event(run_event(run_id, state, words[:DETAIL_CHARACTERS], *why))


def cases_for(usual: Sequence[Matrix], patterns: Sequence[str], spec: Path | None = None) -> tuple[Case, ...]:
    """Those of a spec, whose subjects are ignored, or the usual ones. Raises BadParameter if no case matches, and
    DocumentError."""
    matrices = read_matrices(read_spec(spec), str(spec)) if spec else usual
    cases = chosen(matrices, patterns) if spec else usual_cases(usual, patterns)
    if not cases:
        examples = ", ".join(case.case_id for case in chosen(matrices, ())[:6])
        advice = "" if spec else "; --spec takes the cases of a spec"
        raise typer.BadParameter(f"no case matches {' or '.join(patterns)}; there are {examples} and others{advice}")
    return cases
