"""The files of `kexbench compare --output`: what a job of continuous integration keeps, shows and comments with."""

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from tempfile import TemporaryFile

import typer
from markdown_it import MarkdownIt

from kexbench.cli.console import err
from kexbench.domain.kits import SubjectRef
from kexbench.domain.pairs import COMMENT_FILE, PAGE_FILE, REPORT_FILE, ChangeReport, Unbuilt, Which
from kexbench.domain.runs import RunEvent, RunReason
from kexbench.files import make_folder, write_whole
from kexbench.forges.comparison import change_comment
from kexbench.kits import KitError, KitErrors
from kexbench.kits.attempts import FAILED
from kexbench.kits.process import COMMAND

LOG_LINES = 30
_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark }}
body {{ font: 1rem/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem }}
table {{ border-collapse: collapse; display: block; overflow-x: auto }}
code {{ overflow-wrap: anywhere }}
td:first-child {{ min-width: 12rem }}
th, td {{ border-bottom: 1px solid #8886; padding: .3rem .7rem; text-align: left }}
pre {{ overflow-x: auto }}
</style>
<main>
{body}</main>
"""


def prepare(folder: Path) -> None:
    """Make the folder before minutes of measuring, and remove the report of an earlier command, which nobody should
    take for that of this one. Raises BadParameter."""
    try:
        make_folder(folder.absolute())
        for name in (REPORT_FILE, COMMENT_FILE, PAGE_FILE):
            (folder / name).unlink(missing_ok=True)
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise typer.BadParameter(f"--output: the folder {folder} cannot be written: {error.strerror}") from None


def write_report(folder: Path, report: ChangeReport) -> None:
    """A report that cannot be written hides no verdict: the command has printed it, and ends with its status."""
    comment = change_comment(report)
    try:
        write_whole(folder / PAGE_FILE, page_of(comment).encode())
        write_whole(folder / COMMENT_FILE, f"{comment}\n".encode())
        write_whole(folder / REPORT_FILE, report.model_dump_json(indent=2).encode())
    except OSError as error:
        err.print(f"--output: the report in {folder} cannot be written: {error.strerror}", markup=False)
        raise typer.Exit(report.exit_status or 1) from None


def page_of(markdown: str) -> str:
    """One page without other files. HTML in the text stays text."""
    title = markdown.partition("\n")[0].lstrip("# ")
    body = MarkdownIt("commonmark", {"html": False}).enable("table").render(markdown)
    return _PAGE.format(title=escape(title), body=body)


def unbuilt_ends(error: KitError | KitErrors, ends: Sequence[SubjectRef]) -> tuple[Unbuilt, ...]:
    """The ends that cannot be built. Empty where the attempt says nothing about them: this machine lacks something, or
    somebody ended it."""
    errors = error.errors if isinstance(error, KitErrors) else (error,)
    if any(each.lack or each.cut_short for each in errors):
        return ()
    by_reference = {each.ref: each for each in errors}
    return tuple(
        Unbuilt(
            which=which,
            reference=str(end),
            reason=f"{failed.stage} failed: {failed.reason}",
            remedy=failed.remedy,
            log=_last_lines(failed.log_path),
        )
        for which, end in _named(ends)
        if (failed := by_reference.get(str(end)))
    )


def unbuilt_of_run(event: RunEvent, ends: Sequence[SubjectRef]) -> tuple[Unbuilt, ...]:
    """The same of the end of a run in this machine's service, which has no logs."""
    if event.reason is not RunReason.UNBUILDABLE:
        return ()
    return tuple(
        Unbuilt(which=which, reference=str(end), reason=event.detail, remedy="", log=())
        for which, end in _named(ends)
        if str(end) in event.about
    )


def _named(ends: Sequence[SubjectRef]) -> Iterator[tuple[Which, SubjectRef]]:
    base, change = ends
    yield "base", base
    yield "change", change


def _last_lines(log: Path | None) -> tuple[str, ...]:
    """Those of the command that failed, without the last one, which repeats the reason."""
    if log is None:
        return ()
    try:
        text = log.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ()
    lines = text.rpartition(f"\n{COMMAND}")[2].splitlines()
    return tuple([line for line in lines if line and not line.startswith(FAILED)][-LOG_LINES:])
