"""`kexbench comment`: tells a pull request what a job of continuous integration found."""

import os
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from pydantic import ValidationError

from kexbench.cli.console import err, out, say
from kexbench.domain.pairs import REPORT_FILE, ChangeReport
from kexbench.forges import ForgeError, forge_of
from kexbench.forges.ci_jobs import NoJob, pull_request_job
from kexbench.forges.comparison import change_comment, is_news

WRONG_USAGE = 2


def comment(
    folder: Annotated[Path, typer.Argument(help="What kexbench compare --output wrote.", show_default=False)],
    key: Annotated[
        str,
        typer.Option(help="Which comment to edit. Default: that of the job for the library.", show_default=False),
    ] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the comment, and send nothing.")] = False,
) -> None:
    """Comment a comparison on the pull request of this CI job. A later comment of the job replaces it in place.

    Says nothing where nothing changed and there is no earlier comment to correct. GitHub, Gitea, Forgejo and GitLab are
    found by the variables of their jobs. The token is that of KEXBENCH_FORGE_TOKEN, or of GITHUB_TOKEN.

    Examples:

        kexbench comment report
        kexbench comment report --key openssl-fips
        kexbench comment report --dry-run
    """
    report = _read(folder)
    body = change_comment(report)
    if dry_run:
        out.print(body, markup=False, soft_wrap=True)
        return
    try:
        job = pull_request_job(os.environ)
    except NoJob as error:
        _end(WRONG_USAGE, str(error), error.remedy)
    marked = f"change/{key or f'{job.name}/{report.library}'}"
    forge = forge_of(job.forge)
    try:
        if not is_news(report) and not forge.has_comment(job.pull_request, marked):
            say("nothing changed, so there is no comment")
            return
        forge.put_comment(job.pull_request, marked, body)
    except ForgeError as error:
        _end(1, str(error))
    say(f"commented on pull request {job.pull_request} of {job.forge.repository}")


def _read(folder: Path) -> ChangeReport:
    path = folder / REPORT_FILE
    try:
        return ChangeReport.model_validate_json(path.read_bytes())
    except OSError as error:
        _end(WRONG_USAGE, f"{path}: {error.strerror}", "write it with kexbench compare --output")
    except ValidationError:
        _end(WRONG_USAGE, f"{path} is no report of this release", "write it with kexbench compare --output")


def _end(status: int, wrong: str, remedy: str = "") -> NoReturn:
    err.print(wrong, markup=False)
    if remedy:
        err.print(f"  remedy: {remedy}", markup=False)
    raise typer.Exit(status)
