"""`kexbench commits`: commits of watched repositories, and what became of their specs."""

from typing import Annotated
from urllib.parse import urlencode

import typer
from rich.table import Table
from rich.text import Text

from kexbench.api.commit_models import CheckView, CommitPage, CommitView
from kexbench.cli.console import out, print_json
from kexbench.cli.plan import AsJson
from kexbench.cli.reaching import reach_api
from kexbench.domain.commits import Reason
from kexbench.domain.runs import RunState
from kexbench.forges.words import time_words

SHORT_HASH = 7
WHEN_WIDTH = 24
"""Of a short hash and a time."""
REASONS = {Reason.SPEC: "the spec changed", Reason.LIBRARY: "new version of a library it tracks"}


def commits(
    repository: Annotated[str, typer.Option(metavar="NAME", help="Only commits of this repository.")] = "",
    limit: Annotated[int, typer.Option(min=1, max=200, help="How many, newest first.")] = 20,
    as_json: AsJson = False,
) -> None:
    """List the commits of watched repositories that had specs measured or planned, or should have had, newest first.

    Heads of planned branches and of pull requests are among them, with the time that measuring would take.

    Examples:

        kexbench commits --repository benchmarks --limit 5
        kexbench commits --json | jq -r '.commits[].checks[].faults[].text'
    """
    asked = urlencode({"limit": limit, **({"repository": repository} if repository else {})})
    with reach_api() as api:
        page = api.get(CommitPage, f"/commits?{asked}")
    if as_json:
        print_json(page.model_dump(mode="json"))
    elif page.commits:
        out.print(commits_table(page.commits))
        for line in fault_lines(page.commits):
            out.print(line, markup=False, soft_wrap=True)
    else:
        out.print(nothing_words(repository, page.repositories), markup=False)


def commits_table(listed: list[CommitView]) -> Table:
    """A row a spec; what is the same as in the row above is left out."""
    table = Table(box=None, header_style="bold")
    table.add_column("commit", min_width=WHEN_WIDTH, overflow="fold")
    table.add_column("title")
    table.add_column("spec", overflow="fold")
    table.add_column("run", no_wrap=True)  # so that its id can be copied
    for one in listed:
        commit = one.commit
        when = f"{commit.commit[:SHORT_HASH]} {commit.committed_at:%Y-%m-%d %H:%M}"
        first = (f"{when}\n{commit.repository}/{commit.branch}", commit.title)
        rows = [("", one.note)] if one.note else [check_texts(check) for check in one.checks]
        for row in rows:
            table.add_row(*map(Text, (*first, *row)))  # as it is: [skip bench] is no markup
            first = ("", "")
    return table


def check_texts(check: CheckView) -> tuple[str, str]:
    """The spec over why it is measured, and how far its run is over the run's id; or what that would be, or that there
    is none."""
    if dry := check.dry_run:
        would = f"planned, {dry.cases:,} case{'' if dry.cases == 1 else 's'}"
        return f"{check.path}\n{REASONS[check.reason]}", f"{would}\n{time_words(sum(dry.minutes.values()))}"
    if check.run_id is None:
        return check.path, f"none, {len(check.faults)} fault{'' if len(check.faults) == 1 else 's'}"
    far = f"{check.state or RunState.QUEUED}, {check.invocations_stored:,} invocations"
    return f"{check.path}\n{REASONS[check.reason]}", f"{far}\n{check.run_id}"


def fault_lines(listed: list[CommitView]) -> list[str]:
    """Every fault of every commit, behind its hash."""
    return [
        f"{one.commit.commit[:SHORT_HASH]} {fault}" for one in listed for check in one.checks for fault in check.faults
    ]


def nothing_words(repository: str, known: list[str]) -> str:
    if repository and known:
        return f"no commits of {repository}; there are some of {', '.join(known)}"
    return "no commits yet: name what is watched in repositories.yaml (KEXBENCH_REPOSITORIES), then push a spec"
