"""`kexbench bisections`: the bisections of a cluster or of this machine; and following one."""

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
from kexbench.cli.options import AsJson
from kexbench.cli.reaching import follow, reach_api, reach_queue
from kexbench.client import ApiClient
from kexbench.domain.runs import RunState

app = typer.Typer(help="List, show, cancel and resume bisections.", no_args_is_help=True)
CANNOT_SAY = 4
_STATUS = {"found": 0, "cannot say": CANNOT_SAY}
_ENDED = ("found", "cannot say", "not measured", "cancelled", "waiting")
"""The states that only a person changes."""
Id = Annotated[str, typer.Argument(metavar="ID", help="As `kexbench bisections list` prints it.")]


@app.command("list")
def list_bisections(
    limit: Annotated[int, typer.Option(min=1, max=100, help="Maximum number of rows.")] = 20, as_json: AsJson = False
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
        for column in ("bisection", "requested", "state", "commit range"):
            table.add_column(column, no_wrap=column != "commit range")
        for bisection in page.bisections:
            commits = f"{bisection.library} {bisection.good} to {bisection.bad}\n{bisection.detail}".rstrip()
            requested = f"{bisection.asked_at:%Y-%m-%d %H:%M}"
            table.add_row(bisection.bisection_id, requested, bisection.state, commits)
        out.print(table)
    else:
        out.print("no bisections yet: kexbench bisect LIBRARY GOOD BAD")


@app.command("show")
def show(
    bisection_id: Id,
    wait: Annotated[bool, typer.Option("--wait", help="Report progress until it has ended.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show the result or the progress of a bisection.

    Examples:

        kexbench bisections show 0123456789abcdef0123 --wait
    """
    with reach_api() as api:
        detail = _followed(api, bisection_id) if wait else _detail(api, bisection_id)
    _print(detail, as_json=as_json)
    if wait:
        raise typer.Exit(_STATUS.get(detail.summary.state, 1))


@app.command("cancel")
def cancel(bisection_id: Id, as_json: AsJson = False) -> None:
    """Cancel a bisection. Its results are kept.

    Examples:

        kexbench bisections cancel 0123456789abcdef0123
    """
    _control("cancel", bisection_id, as_json=as_json)


@app.command("resume")
def resume(bisection_id: Id, as_json: AsJson = False) -> None:
    """Resume a waiting or cancelled bisection.

    Examples:

        kexbench bisections resume 0123456789abcdef0123
    """
    _control("resume", bisection_id, as_json=as_json)


def search(question: BisectionWanted, *, lasting: bool, as_json: bool) -> int:
    """Run a bisection and return its exit status. A service measures it, or this process if none runs and `lasting` is
    false."""
    with reach_queue(lasting=lasting) as queue:
        begun = queue.api.post(BisectionSummary, "/bisections", question)
        bisection_id = begun.bisection_id
        again = f", requested {begun.asked_at:%Y-%m-%d %H:%M} UTC; --anew starts a new one" if begun.runs else ""
        say(f"bisection {bisection_id}{again}")
        if not queue.here:
            say(f"to follow it again: kexbench bisections show {bisection_id} --wait")
        elif begun.state in ("waiting", "cancelled"):
            queue.api.send("POST", f"/bisections/{bisection_id}/resume")
        with queue.seen_to(bisection_id):
            detail = _followed(queue.api, bisection_id)
    if as_json and detail.answer:
        print_json(detail.answer.model_dump(mode="json"))
    else:
        _print(detail, as_json=as_json)
    return _STATUS.get(detail.summary.state, 1)


def _control(control: str, bisection_id: str, *, as_json: bool) -> None:
    with reach_api() as api:
        summary = api.post(BisectionSummary, f"/bisections/{quote(bisection_id, safe='')}/{control}")
    if as_json:
        print_json(summary.model_dump(mode="json"))
    else:
        out.print(f"{summary.bisection_id}  {summary.state}  {summary.detail}".rstrip(), markup=False)


def _detail(api: ApiClient, bisection_id: str) -> BisectionDetail:
    return api.get(BisectionDetail, f"/bisections/{quote(bisection_id, safe='')}")


def _followed(api: ApiClient, bisection_id: str) -> BisectionDetail:
    return follow(api, lambda: _detail(api, bisection_id), progress_lines, lambda now: now.summary.state in _ENDED)


def progress_lines(detail: BisectionDetail) -> list[str]:
    """The progress so far."""
    if not detail.searched:
        return ["listing the commits"]
    ends = f"{detail.summary.good} to {detail.summary.bad}"
    head = f"{detail.searched} commits from {ends}, at most {detail.most_builds} builds"
    return [head, *(_run_line(run, detail.searched - 1) for run in detail.runs), *_likely_lines(detail)]


def _likely_lines(detail: BisectionDetail) -> list[str]:
    """The most likely commit, once commits between the ends were measured."""
    candidates = [(commit.probability, commit.number) for commit in detail.commits if commit.probability]
    measurements = sum(commit.measurements for commit in detail.commits)
    if not candidates or not measurements:
        return []
    probability, number = max(candidates)
    counted = "1 measurement" if measurements == 1 else f"{measurements} measurements"
    return [f"most likely commit {number} ({probability:.1%}) after {counted} between the ends"]


def _run_line(run: BisectionRunView, last: int) -> str:
    what = "both ends" if run.commit is None else f"commit {run.commit} of {last}"
    detail = f": {run.detail}" if run.detail and run.state is RunState.FAILED else ""
    return f"{what}: run {run.run_id} is {run.state}{detail}"


def _print(detail: BisectionDetail, *, as_json: bool) -> None:
    summary = detail.summary
    if as_json:
        print_json(detail.model_dump(mode="json"))
    elif detail.answer and summary.state in _STATUS:
        print_answer(detail.answer)
    else:
        for line in progress_lines(detail):
            out.print(line, markup=False, soft_wrap=True)
        out.print(f"{summary.state}: {summary.detail}" if summary.detail else summary.state, markup=False)
    if summary.state in ("waiting", "cancelled"):
        err.print(f"  remedy: kexbench bisections resume {summary.bisection_id}", markup=False)
