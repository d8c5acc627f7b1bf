"""`kexbench bisections`: those that a service sees to, of a cluster or of this machine; and following one."""

from typing import Annotated
from urllib.parse import quote

import typer
from rich.table import Table

from kexbench.bisection.models import (
    BisectionDetail,
    BisectionPage,
    BisectionRunView,
    BisectionSummary,
    BisectionWanted,
)
from kexbench.cli.bisect_words import print_answer
from kexbench.cli.console import err, out, print_json, say
from kexbench.cli.plan import AsJson
from kexbench.cli.reaching import follow, reach_api, reach_queue
from kexbench.client import ApiClient
from kexbench.domain.runs import RunState

app = typer.Typer(help="Bisections that a service sees to: list, show, cancel, resume.", no_args_is_help=True)
CANNOT_SAY = 4
_STATUS = {"found": 0, "cannot say": CANNOT_SAY}
_ENDED = ("found", "cannot say", "not measured", "cancelled", "waiting")
"""Nothing more happens by itself."""
Id = Annotated[str, typer.Argument(metavar="ID", help="As `kexbench bisections list` prints it.")]


@app.command("list")
def list_bisections(
    limit: Annotated[int, typer.Option(min=1, max=100, help="How many, newest first.")] = 20, as_json: AsJson = False
) -> None:
    """List bisections, newest first.

    Examples:

        kexbench bisections list --json | jq -r '.bisections[].detail'
    """
    with reach_api() as api:
        page = api.get(BisectionPage, f"/bisections?limit={limit}")
    if as_json:
        print_json(page.model_dump(mode="json"))
    elif page.bisections:
        table = Table(box=None, header_style="bold")
        for column in ("bisection", "asked for", "state", "of"):
            table.add_column(column, no_wrap=column != "of")
        for one in page.bisections:
            of = f"{one.library} {one.good} to {one.bad}\n{one.detail}".rstrip()
            table.add_row(one.bisection_id, f"{one.asked_at:%Y-%m-%d %H:%M}", one.state, of)
        out.print(table)
    else:
        out.print("no bisections yet: kexbench bisect LIBRARY GOOD BAD")


@app.command("show")
def show(
    bisection_id: Id,
    wait: Annotated[bool, typer.Option("--wait", help="Tell each change until it has ended.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show what a bisection came to, or how far it is.

    With --wait, exit status: 0 the commit is found, 4 it cannot say, 1 it ended otherwise, or waits for somebody.

    Examples:

        kexbench bisections show 0123456789abcdef0123 --wait
    """
    with reach_api() as api:
        found = _followed(api, bisection_id) if wait else _asked(api, bisection_id)
    _tell(found, as_json=as_json)
    if wait:
        raise typer.Exit(_STATUS.get(found.summary.state, 1))


@app.command("cancel")
def cancel(bisection_id: Id, as_json: AsJson = False) -> None:
    """Measure nothing more of a bisection; what is known is kept.

    Examples:

        kexbench bisections cancel 0123456789abcdef0123
    """
    _control("cancel", bisection_id, as_json=as_json)


@app.command("resume")
def resume(bisection_id: Id, as_json: AsJson = False) -> None:
    """Go on with a bisection that waits or was cancelled.

    Examples:

        kexbench bisections resume 0123456789abcdef0123
    """
    _control("resume", bisection_id, as_json=as_json)


def search(wanted: BisectionWanted, *, lasting: bool, as_json: bool) -> int:
    """The exit status of a bisection, seen to by a service, or by this process where none runs unless it is to be a
    `lasting` one."""
    with reach_queue(lasting=lasting) as queue:
        begun = queue.api.post(BisectionSummary, "/bisections", wanted)
        bisection_id = begun.bisection_id
        again = f" of {begun.asked_at:%Y-%m-%d %H:%M} UTC, --anew begins another" if begun.runs else ""
        say(f"bisection {bisection_id}{again}")
        if not queue.here:
            say(f"kexbench bisections show {bisection_id} --wait follows it again")
        elif begun.state in ("waiting", "cancelled"):
            queue.api.send("POST", f"/bisections/{bisection_id}/resume")  # that it is asked for again says so
        with queue.seen_to(bisection_id):
            found = _followed(queue.api, bisection_id)
    if as_json and found.answer:
        print_json(found.answer.model_dump(mode="json"))
    else:
        _tell(found, as_json=as_json)
    return _STATUS.get(found.summary.state, 1)


def _control(control: str, bisection_id: str, *, as_json: bool) -> None:
    with reach_api() as api:
        summary = api.post(BisectionSummary, f"/bisections/{quote(bisection_id, safe='')}/{control}")
    if as_json:
        print_json(summary.model_dump(mode="json"))
    else:
        out.print(f"{summary.bisection_id}  {summary.state}  {summary.detail}".rstrip(), markup=False)


def _asked(api: ApiClient, bisection_id: str) -> BisectionDetail:
    return api.get(BisectionDetail, f"/bisections/{quote(bisection_id, safe='')}")


def _followed(api: ApiClient, bisection_id: str) -> BisectionDetail:
    return follow(api, lambda: _asked(api, bisection_id), progress_lines, lambda found: found.summary.state in _ENDED)


def progress_lines(found: BisectionDetail) -> list[str]:
    """What happened so far, each line once."""
    if not found.searched:
        return ["looking for its commits"]
    head = (
        f"{found.searched} commits from {found.summary.good} to {found.summary.bad}, at most {found.most_builds} builds"
    )
    return [head, *(_run_line(run, found.searched - 1) for run in found.runs), *_likely_lines(found)]


def _likely_lines(found: BisectionDetail) -> list[str]:
    """Where the step most likely is, once commits between the ends were measured."""
    known = [(commit.probability, commit.number) for commit in found.commits if commit.probability]
    measurements = sum(commit.measurements for commit in found.commits)
    if not known or not measurements:
        return []
    probability, number = max(known)
    counted = "1 measurement" if measurements == 1 else f"{measurements} measurements"
    return [f"after {counted} between the ends it is most likely commit {number}, with {probability:.1%}"]


def _run_line(run: BisectionRunView, last: int) -> str:
    what = "both ends" if run.commit is None else f"commit {run.commit} of {last}"
    detail = f": {run.detail}" if run.detail and run.state is RunState.FAILED else ""
    return f"{what}: run {run.run_id} is {run.state}{detail}"


def _tell(found: BisectionDetail, *, as_json: bool) -> None:
    summary = found.summary
    if as_json:
        print_json(found.model_dump(mode="json"))
    elif found.answer and summary.state in _STATUS:
        print_answer(found.answer)
    else:
        for line in progress_lines(found):
            out.print(line, markup=False, soft_wrap=True)
        out.print(f"{summary.state}: {summary.detail}" if summary.detail else summary.state, markup=False)
    if summary.state in ("waiting", "cancelled"):
        err.print(f"  remedy: kexbench bisections resume {summary.bisection_id}", markup=False)
