"""`kexbench commits`: the commits of watched repositories with their specs and runs."""

from collections.abc import Iterable
from typing import Annotated
from urllib.parse import urlencode

import typer
from rich.table import Table
from rich.text import Text

from kexbench.api.commit_models import CheckView, CommitPage, CommitView
from kexbench.cli.console import out, print_json
from kexbench.cli.options import AsJson
from kexbench.cli.reaching import cluster_url, reach_api
from kexbench.domain.commits import NO_COMMIT, Reason
from kexbench.domain.runs import RunState
from kexbench.forges.words import time_words
from kexbench.settings import Settings

SHORT_HASH = 7
MOST_WIDTH = 28
"""Characters of a column of which a hash with its time, or the id of a run, stays on one line."""
REASONS = {Reason.SPEC: "the spec changed", Reason.LIBRARY: "new version of a library it tracks"}


def commits(
    repository: Annotated[str, typer.Option(metavar="NAME", help="Only commits of this repository.")] = "",
    limit: Annotated[int, typer.Option(min=1, max=200, help="Maximum number of commits.")] = 20,
    as_json: AsJson = False,
) -> None:
    """List the commits of watched repositories with their specs and runs, newest first.

    Includes the heads of planned branches and of pull requests with the estimated time of measuring.

    Examples:

        kexbench commits --repository benchmarks --limit 5
        kexbench commits --json | jq -r '.commits[].checks[].faults[].text'
    """
    query = urlencode({"limit": limit, **({"repository": repository} if repository else {})})
    with reach_api() as api:
        page = api.get(CommitPage, f"/commits?{query}")
    if as_json:
        print_json(page.model_dump(mode="json"))
    elif page.commits:
        out.print(commits_table(page.commits))
        for line in fault_lines(page.commits):
            out.print(line, markup=False, soft_wrap=True)
    else:
        out.print(nothing_words(repository, page.repositories), markup=False)


def commits_table(listed: list[CommitView]) -> Table:
    """One row a spec. A commit is printed in its first row only."""
    rows = [row for view in listed for row in _rows(view)]
    table = Table(box=None, header_style="bold")
    # A least width would not do: Rich shrinks the column below it first, and then cuts the table.
    table.add_column("commit", width=_width(row[0] for row in rows), overflow="fold")
    table.add_column("title")
    table.add_column("spec", overflow="fold")
    table.add_column("run", width=_width(row[3] for row in rows), overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))  # literal: [skip bench] is not markup
    return table


def _rows(view: CommitView) -> list[tuple[str, str, str, str]]:
    commit = view.commit
    short = "" if commit.commit == NO_COMMIT else f"{commit.commit[:SHORT_HASH]} "
    when = f"{short}{commit.committed_at:%Y-%m-%d %H:%M}\n{commit.repository}/{commit.branch}"
    specs = [("", view.note)] if view.note else [check_texts(check) for check in view.checks]
    return [(*(("", "") if position else (when, commit.title)), *spec) for position, spec in enumerate(specs)]


def _width(cells: Iterable[str]) -> int:
    return min(MOST_WIDTH, max((len(line) for cell in cells for line in cell.splitlines()), default=1))


def check_texts(check: CheckView) -> tuple[str, str]:
    """The spec and why it is measured; the progress and the id of its run, or the estimate of a plan."""
    if dry := check.dry_run:
        planned = f"planned, {dry.cases:,} case{'' if dry.cases == 1 else 's'}"
        return f"{check.path}\n{REASONS[check.reason]}", f"{planned}\n{time_words(sum(dry.minutes.values()))}"
    if check.run_id is None:
        return check.path, f"no run, {len(check.faults)} fault{'' if len(check.faults) == 1 else 's'}"
    progress = f"{check.state or RunState.QUEUED}, {check.invocations_stored:,} invocations"
    return f"{check.path}\n{REASONS[check.reason]}", f"{progress}\n{check.run_id}"


def fault_lines(listed: list[CommitView]) -> list[str]:
    """Each fault after the hash of its commit."""
    faults = ((view.commit.commit, fault) for view in listed for check in view.checks for fault in check.faults)
    return [f"{commit[:SHORT_HASH]} {fault}" for commit, fault in faults]


def nothing_words(repository: str, repositories: list[str]) -> str:
    if repository and repositories:
        return f"no commits of {repository}; there are some of {', '.join(repositories)}"
    where = "the chart's value repositories" if cluster_url(Settings()) else "repositories.yaml (KEXBENCH_REPOSITORIES)"
    return f"no commits since the service began to watch: list repositories in {where}, then push a spec"
