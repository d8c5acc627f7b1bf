"""`kexbench backfill`: measures the commit history of a library, each chosen commit against the previous one."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from kexbench.api.commit_models import Neighbours, NeighboursView
from kexbench.cli.cluster import followed
from kexbench.cli.console import out, print_json, say
from kexbench.cli.options import AsJson, completed_spec
from kexbench.cli.reaching import reach_queue
from kexbench.cli.references import typed_reference
from kexbench.domain.bisections import LineCommit
from kexbench.domain.following import LibraryBranch
from kexbench.domain.kits import SubjectRef
from kexbench.domain.numbers import counted, duration_words
from kexbench.domain.runs import RunState
from kexbench.kits.git import GitOrigin
from kexbench.planning.documents import read_spec
from kexbench.planning.follow import following_text
from kexbench.planning.neighbours import chosen, is_held_up, is_waiting, newest_built
from kexbench.planning.plan import read_matrices
from kexbench.planning.spec import MAX_EVERY
from kexbench.settings import Settings
from kexbench.wiring import Installation

_SHORT = 12


@dataclass(frozen=True)
class Step:
    """A commit, the commit that it is compared with, and their run. `breaks`: the commit does not build."""

    commit: LineCommit
    base: str | None
    view: NeighboursView
    breaks: bool

    @property
    def failed(self) -> bool:
        """Whether its run ended without a result for another reason than a commit that does not build."""
        return self.view.state in (RunState.FAILED, RunState.CANCELLED) and not self.breaks


def backfill(
    library: Annotated[str, typer.Argument(help="Such as openssl.", show_default=False)],
    span: Annotated[
        str,
        typer.Argument(metavar="FROM..TO", help="Branches, tags or hashes; TO descends from FROM.", show_default=False),
    ],
    spec: Annotated[
        Path,
        typer.Option(
            metavar="SPEC",
            help="The spec to measure, a file or a name. Its subjects are ignored.",
            autocompletion=completed_spec,
        ),
    ],
    repository: Annotated[str, typer.Option(metavar="DIR|URL", help="The library's git repository.")] = ".",
    every: Annotated[int, typer.Option(min=1, max=MAX_EVERY, help="Measure every Nth commit, and TO.")] = 1,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the commits and the estimated time only.")] = False,
    as_json: AsJson = False,
) -> None:
    """Measure the commit history of a library, each chosen commit against the previous one.

    Only first parents count: a merge is one commit. The runs get the lowest priority in the queue of the cluster that
    KEXBENCH_API_URL names, or of this machine's `kexbench serve`. Without either, this command measures them.

    The same command again queues missing runs. A commit that does not build is skipped. The command stops at a run
    that could not start for another reason, such as a full disk: resume that run, then repeat the command.

    Examples:

        cd ~/src/openssl && kexbench backfill openssl openssl-3.5.0..master --every 100 --spec ~/bench/master.yaml
        kexbench backfill openssl openssl-3.5.0..HEAD --repository ~/src/openssl --spec quick.yaml --dry-run
    """
    ends = ends_of(library, repository, span)
    installation = Installation(Settings())
    history = GitOrigin(installation.settings.cache).commits(*ends, say)
    if len(history) == 1:
        raise typer.BadParameter(f"{span} is a single commit, {history[0].hash}")
    address, to = ends[1].repository_and_name
    branch = LibraryBranch(library=ends[1].library, address=address, branch=to)
    text = read_spec(spec)
    read_matrices(text, str(spec))  # reports faults with their positions in the file
    text = following_text(text, str(spec), branch, every)

    def ask(commits: list[str], *, queue: bool) -> NeighboursView:
        pair = Neighbours(spec_text=text, spec_file=str(spec), commits=commits, queue=queue)
        return there.api.post(NeighboursView, "/backfills", pair)

    def measured(commits: list[str]) -> NeighboursView:
        view = ask(commits, queue=True)
        if not (there.here and view.state and view.state.is_open):
            return view
        with there.seen_to(view.run_id):
            followed(there.api, view.run_id, seen_to=True)
        return ask(commits, queue=False)

    commits = [history[number] for number in chosen(range(len(history)), every)]
    with reach_queue() as there:
        steps = list(steps_of(branch, commits, partial(ask, queue=False)))
        say(_estimate_words(history, steps, measures_itself=there.here))
        if not dry_run:
            steps = _reported(steps_of(branch, commits, measured), len(commits) - 1)
    if as_json:
        print_json(_answer(branch, history, every, steps))
    else:
        _print(steps, dry_run=dry_run)
    raise typer.Exit(1 if any(step.failed for step in steps) else 0)


def ends_of(library: str, repository: str, span: str) -> tuple[SubjectRef, SubjectRef]:
    """Raises BadParameter."""
    first, dots, last = span.partition("..")
    if not (first and dots and last):
        raise typer.BadParameter(f"{span!r} is not FROM..TO, such as openssl-3.5.0..master")
    older, newer = (typed_reference(f"{library}@git:{repository}#{name}") for name in (first, last))
    for ref in (older, newer):
        if ref.origin != ref.source:
            raise typer.BadParameter(f"{ref.source.partition('#')[2]!r} is not a branch, tag or hash")
    return older, newer


def _reported(steps: Iterator[Step], count: int) -> list[Step]:
    """Collects the steps and prints each as it arrives."""
    collected: list[Step] = []
    for step in steps:
        collected.append(step)
        say(f"[{len(collected)}/{count}] {_step_words(step)}")
    return collected


def steps_of(
    branch: LibraryBranch, commits: list[LineCommit], ask: Callable[[list[str]], NeighboursView]
) -> Iterator[Step]:
    """Each commit with the last one before it that builds. Commits of waiting runs are expected to build.
    Ends at a run that is held up: what the next commit is compared with is unknown until that run is resumed."""
    base: str | None = commits[0].hash
    for commit in commits[1:]:
        view = ask([*([base] if base else []), commit.hash])
        newer = branch.reference(commit.hash)
        if view.state is None or is_waiting(view.state, started=view.started):
            yield Step(commit, base, view, breaks=False)
            base = commit.hash
            continue
        yield Step(commit, base, view, breaks=not view.started and newer in view.unbuilt)
        if is_held_up(view.state, started=view.started, unbuilt=view.unbuilt):
            return
        built = newest_built(
            branch.reference(base) if base else None, newer, started=view.started, unbuilt=view.unbuilt
        )
        base = built.partition("#")[2] if built else None


def _estimate_words(history: tuple[LineCommit, ...], steps: list[Step], *, measures_itself: bool) -> str:
    missing = [step for step in steps if step.view.state is None]
    commits = {step.commit.hash for step in missing} | {step.base for step in missing if step.base}
    where = "to measure here, as no kexbench serve runs" if measures_itself else "to queue with the lowest priority"
    left_s = sum(step.view.estimated_s for step in missing)
    return (
        f"{counted(len(history), 'commit')}, {counted(len(steps), 'pair')} to compare, "
        f"{len(steps) - len(missing)} of them queued before; "
        f"{counted(len(missing), 'run')} {where}: about {duration_words(left_s)} of "
        f"measuring and up to {len(commits)} builds of some minutes each"
    )


def _step_words(step: Step) -> str:
    state = "does not build, skipped" if step.breaks else str(step.view.state or "not queued")
    return f"{step.commit.hash[:_SHORT]} {step.commit.subject}: {state}"


def _print(steps: list[Step], *, dry_run: bool) -> None:
    for step in steps:
        out.print(f"{step.view.run_id}  {_step_words(step)}", markup=False, soft_wrap=True)
        if step.failed:
            out.print(f"    {step.view.detail}\n    kexbench runs resume {step.view.run_id}", markup=False)
    if dry_run:
        out.print("nothing was queued")


def _answer(branch: LibraryBranch, history: tuple[LineCommit, ...], every: int, steps: list[Step]) -> dict[str, Any]:
    return {
        **branch.model_dump(include={"library", "address"}),
        "from": history[0].hash,
        "to": history[-1].hash,
        "commits": len(history),
        "every": every,
        "runs": [
            {"base": step.base, "commit": step.commit.hash, "subject": step.commit.subject, "date": step.commit.date}
            | step.view.model_dump(mode="json", include={"run_id", "state", "detail", "estimated_s"})
            for step in steps
        ],
        "passed_over": [step.commit.hash for step in steps if step.breaks],
    }
