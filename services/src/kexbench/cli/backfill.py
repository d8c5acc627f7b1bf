"""`kexbench backfill`: measures the history of a library's commits, each chosen one beside the one chosen before it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from kexbench.api.commit_models import Neighbours, NeighboursView
from kexbench.cli.cluster import followed
from kexbench.cli.console import out, print_json, say
from kexbench.cli.plan import AsJson
from kexbench.cli.reaching import reach_queue
from kexbench.cli.references import typed_reference
from kexbench.cli.words import duration_words
from kexbench.domain.bisections import LineCommit
from kexbench.domain.following import LibraryBranch
from kexbench.domain.kits import SubjectRef
from kexbench.domain.runs import RunState
from kexbench.kits.git import GitOrigin
from kexbench.pipeline import read_spec
from kexbench.planning.follow import following_text
from kexbench.planning.neighbours import chosen, is_held_up, is_waiting, newest_built
from kexbench.planning.plan import read_matrices
from kexbench.planning.spec import MAX_EVERY
from kexbench.settings import Settings
from kexbench.wiring import Installation

_SHORT = 12


@dataclass(frozen=True)
class Step:
    """A commit, the one beside which it is measured, and their run. `breaks` says that it does not build."""

    commit: LineCommit
    base: str | None
    view: NeighboursView
    breaks: bool

    @property
    def failed(self) -> bool:
        """Whether its run ended without an answer, for another reason than that it does not build."""
        return self.view.state in (RunState.FAILED, RunState.CANCELLED) and not self.breaks


def backfill(
    library: Annotated[str, typer.Argument(help="Such as openssl.", show_default=False)],
    span: Annotated[
        str, typer.Argument(metavar="FROM..TO", help="Branches, tags or hashes; TO is behind FROM.", show_default=False)
    ],
    spec: Annotated[Path, typer.Option(metavar="FILE", help="What is measured; its subjects don't count.")],
    repository: Annotated[str, typer.Option(metavar="DIR|URL", help="The library's git repository.")] = ".",
    every: Annotated[int, typer.Option(min=1, max=MAX_EVERY, help="One of so many commits, and TO.")] = 1,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what it would take, and end.")] = False,
    as_json: AsJson = False,
) -> None:
    """Measure commits of the past: each beside the one chosen before it, behind everything else that is queued.

    Commits are those of the first parents: a merge counts as one. The runs are queued at the `kexbench serve` of this
    machine, or on a cluster where KEXBENCH_API_URL names one; where nobody serves, this command measures them. Asked
    again it queues what is missing: a commit that did not build is passed over, and the next one compared with the
    last that did. It stops at a run that failed before it began for another reason, such as a full disk or no network:
    resume that run, then ask again.

    Exit status: 0 everything is queued or measured; 1 runs failed for other reasons than a commit; 130 cancelled.

    Examples:

        cd ~/src/openssl && kexbench backfill openssl openssl-3.5.0..master --every 100 --spec ~/bench/master.yaml
        kexbench backfill openssl openssl-3.5.0..HEAD --repository ~/src/openssl --spec quick.yaml --dry-run
    """
    ends = ends_of(library, repository, span)
    installation = Installation(Settings())
    line = GitOrigin(installation.settings.cache).commits(*ends, say)
    if len(line) == 1:
        raise typer.BadParameter(f"{span} is one commit, {line[0].hash}")
    address, _, to = ends[1].source.removeprefix("git:").partition("#")
    branch = LibraryBranch(library=ends[1].library, address=address, branch=to)
    text = read_spec(spec)
    read_matrices(text, str(spec))  # so that its faults have their places in the file
    text = following_text(text, str(spec), branch, every)

    def ask(commits: list[str], *, queue: bool) -> NeighboursView:
        asked = Neighbours(spec_text=text, spec_file=str(spec), commits=commits, queue=queue)
        return there.api.post(NeighboursView, "/backfills", asked)

    def measured(commits: list[str]) -> NeighboursView:
        view = ask(commits, queue=True)
        if not (there.here and view.state and view.state.is_open):
            return view
        with there.seen_to(view.run_id):
            followed(there.api, view.run_id, seen_to=True)
        return ask(commits, queue=False)

    wanted = [line[number] for number in chosen(range(len(line)), every)]
    with reach_queue() as there:
        steps = list(steps_of(branch, wanted, partial(ask, queue=False)))
        say(_takes(line, steps, measures_itself=there.here))
        if not dry_run:
            steps = _told(steps_of(branch, wanted, measured), len(wanted) - 1)
    if as_json:
        print_json(_answer(branch, line, every, steps))
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


def _told(steps: Iterator[Step], count: int) -> list[Step]:
    """All of them, each told as it comes."""
    found: list[Step] = []
    for step in steps:
        found.append(step)
        say(f"[{len(found)}/{count}] {_step_words(step)}")
    return found


def steps_of(
    branch: LibraryBranch, commits: list[LineCommit], ask: Callable[[list[str]], NeighboursView]
) -> Iterator[Step]:
    """Each commit with the one before it that builds, as far as that is known: one that waits is expected to.
    Ends with one whose run is held up: until that is resumed, nobody knows what the next is to be compared with."""
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


def _takes(line: tuple[LineCommit, ...], steps: list[Step], *, measures_itself: bool) -> str:
    """What it will take, before it begins."""
    missing = [step for step in steps if step.view.state is None]
    commits = {step.commit.hash for step in missing} | {step.base for step in missing if step.base}
    where = "measured here, since no kexbench serve runs" if measures_itself else "queued behind everything else"
    return (
        f"{len(line)} commits, {len(steps)} pairs of neighbours, {len(steps) - len(missing)} of them asked for before; "
        f"{len(missing)} runs {where}: about {duration_words(sum(step.view.estimated_s for step in missing))} of "
        f"measuring, and up to {len(commits)} builds, minutes each"
    )


def _step_words(step: Step) -> str:
    state = "does not build, passed over" if step.breaks else str(step.view.state or "not asked for")
    return f"{step.commit.hash[:_SHORT]} {step.commit.subject}: {state}"


def _print(steps: list[Step], *, dry_run: bool) -> None:
    for step in steps:
        out.print(f"{step.view.run_id}  {_step_words(step)}", markup=False, soft_wrap=True)
        if step.failed:
            out.print(f"    {step.view.detail}\n    kexbench runs resume {step.view.run_id}", markup=False)
    if dry_run:
        out.print("nothing was queued")


def _answer(branch: LibraryBranch, line: tuple[LineCommit, ...], every: int, steps: list[Step]) -> dict[str, Any]:
    return {
        **branch.model_dump(include={"library", "address"}),
        "from": line[0].hash,
        "to": line[-1].hash,
        "commits": len(line),
        "every": every,
        "runs": [
            {"base": step.base, "commit": step.commit.hash, "subject": step.commit.subject, "date": step.commit.date}
            | step.view.model_dump(mode="json", include={"run_id", "state", "detail", "estimated_s"})
            for step in steps
        ],
        "passed_over": [step.commit.hash for step in steps if step.breaks],
    }
